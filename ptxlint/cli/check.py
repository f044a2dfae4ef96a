"""``ptxlint check PATH…``: lint files and say what was found."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext

from ..engine.batch import lint_files
from ..engine.collector import held_back_to_the_end
from ..engine.options import Options, UsageError, did_you_mean
from ..engine.selection import selected
from ..inputs import InputError, NothingInside, Patterns, find, is_container_file, write
from ..model import FileReport
from ..report import FORMATS, Context, render
from ..report.summary import counts, line, plural, statistics
from .check_flags import parser
from .color import wanted
from .main import FOUND, TROUBLE, complain


def run(words: Sequence[str]) -> int:
    """The exit status of ``check`` with these arguments."""
    flags = parser().parse(words)
    options = _options(flags)
    outputs = [_output(text) for text in flags.output]
    _known_format(flags.output_format)
    rules = selected(options)
    patterns = Patterns(
        tuple(flags.include) or Patterns().include, tuple(flags.exclude), flags.force_exclude
    )
    files, problems = find(flags.paths, patterns)
    with held_back_to_the_end() if _is_one_text(files) else nullcontext():
        reports, unread = lint_files(
            files,
            options,
            jobs=flags.jobs,
            cached=not flags.no_cache,
            stdin_name=flags.stdin_filename,
            extract_with=flags.extract_with,
        )
    context = Context(rules, wanted(flags.color, sys.stdout))
    sys.stdout.write(render(flags.output_format, reports, context))
    written = [_write(format, path, reports, Context(rules)) for format, path in outputs]
    # Not every file of a directory has to be one of ours.
    named = set(flags.paths)
    problems += [p for p in unread if p.path in named or not isinstance(p, NothingInside)]
    _report(flags, reports, problems)
    if problems or not all(written):
        return TROUBLE
    return FOUND if _fails(reports, options) else 0


def _is_one_text(files: list[str]) -> bool:
    """Whether there is one file, and it is no binary, which may hold many."""
    return len(files) == 1 and os.path.isfile(files[0]) and not is_container_file(files[0])


def _options(flags: Namespace) -> Options:
    levels = {}
    for text in flags.severity:
        code, sign, value = text.partition("=")
        if not sign:
            raise UsageError(f"--severity takes CODE=LEVEL, not {text!r}")
        levels[code] = value
    return Options.of(
        select=flags.select,
        extend_select=flags.extend_select,
        ignore=flags.ignore,
        extend_ignore=flags.extend_ignore,
        preview=flags.preview,
        target=flags.target,
        driver=flags.driver,
        block=flags.block,
        severity=levels,
        fail_on=flags.fail_on,
        verbose=flags.verbose,
    )


def _output(text: str) -> tuple[str, str]:
    format, sign, path = text.partition("=")
    if not sign or not path:
        raise UsageError(f"--output takes FORMAT=PATH, not {text!r}")
    _known_format(format)
    return format, path


def _known_format(name: str) -> None:
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS) or f" (there are: {', '.join(FORMATS)})"
        raise UsageError(f"unknown format {name!r}{hint}")


def _write(format: str, path: str, reports: list[FileReport], context: Context) -> bool:
    """Write a report to a file; whether that worked."""
    try:
        write(path, render(format, reports, context), errors="backslashreplace")
    except InputError as error:
        complain(str(error))
        return False
    return True


def _report(flags: Namespace, reports: list[FileReport], problems: list[InputError]) -> None:
    """What goes to stderr: statistics, what could not be read, the summary."""
    if flags.statistics:
        for row in statistics(reports):
            print(row, file=sys.stderr)
    if flags.verbose:
        for report in reports:
            count = len(report.kernels)
            kernels = f"{count} {plural(count, 'kernel')}"
            complain(f"{report.name}: parsed {report.parsed}, {kernels}")
    for problem in problems:
        complain(str(problem))
    if not flags.quiet and reports:
        print(line(reports), file=sys.stderr)


def _fails(reports: list[FileReport], options: Options) -> bool:
    if options.fail_on is None:
        return False
    lowest = options.fail_on.rank
    return any(count and severity.rank >= lowest for severity, count in counts(reports).items())
