"""The linter as functions."""

from __future__ import annotations

import os
from typing import Any

from ..analysis import Facts
from ..analysis.compatibility import Compatibility, compatibility
from ..inputs import InputError, Patterns, find
from ..model import Finding
from ..ptx import parse
from .batch import lint_files
from .options import Options
from .runner import lint


def check_text(text: str, name: str = "<text>", **options: Any) -> list[Finding]:
    """The findings in a PTX text, by place; suppressed ones are left out.

    ``options`` are those of the command line: ``select``, ``extend_select``, ``ignore``,
    ``extend_ignore`` (a comma-separated string or an iterable of codes, prefixes and names),
    ``preview``, ``target`` ("sm_80"), ``driver`` ("535"), ``block`` ((x, y, z) in threads),
    ``severity`` ({code: level}). Raises ValueError for an option or a rule that does not exist.
    """
    report = lint(text, name, Options.of(**options))
    return [finding for finding in report.findings if finding.suppressed is None]


def check_path(path: str | os.PathLike[str], **options: Any) -> list[Finding]:
    """The findings in a file, or in all ``.ptx`` files below a directory, file by file.

    Of a binary (library, fatbin, cubin, archive, wheel) it is the PTX in it that is read.
    One process does the work; ``options`` as for check_text. Raises ValueError as there, and
    OSError for a path that does not exist, can't be read, or holds no GPU code.
    """
    files, problems = find([os.fspath(path)], Patterns())
    reports, unread = lint_files(files, Options.of(**options), jobs=1)
    if problems or unread:
        raise (problems + unread)[0]
    return [f for report in reports for f in report.findings if f.suppressed is None]


def compat(text: str) -> Compatibility:
    """The lowest PTX version, target and Linux driver that a PTX text needs, with the reasons."""
    module = parse(text)
    return compatibility(module, Facts(module, Options()))


__all__ = ["InputError", "check_path", "check_text", "compat"]
