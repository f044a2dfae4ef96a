"""What ptxas 13.5 says of a case."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from ptxlint.isa.versions import never_made
from tests import ptxas

RELEASE = "13.5"  # that the verdicts in the rules' pages are from
OLDEST = 75  # the GPU that it compiles lower targets for

_LINE = re.compile(r"line (\d+); (?:error|fatal)\s*: |32-bit address on line '(\d+)'")


class Verdict(NamedTuple):
    """Whether ptxas took the file, the lines that it named, and all that it said."""

    accepted: bool
    lines: set[int]
    text: str


def assemble(path: Path, *flags: str) -> Verdict:
    """The verdict on a file for the target that it names; skips the test without ptxas 13.5."""
    text = path.read_text(encoding="utf-8")
    target = re.search(r"^\.target (\w+)", text, re.M)
    assert target is not None, f"{path.name} names no target"
    old = int(re.sub(r"\D", "", target[1])) < OLDEST or never_made(target[1])
    arch = f"sm_{OLDEST}" if old else target[1]
    command = [_ptxas(), *flags, f"-arch={arch}", "-o", "/dev/null", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    said = run.stdout + run.stderr
    return Verdict(run.returncode == 0, {int(m[1] or m[2]) for m in _LINE.finditer(said)}, said)


@cache
def _find() -> tuple[str | None, str]:
    """The path of ptxas 13.5, or None and why."""
    path = ptxas.find()
    if path is None:
        return None, f"needs ptxas {RELEASE}, found none"
    run = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"release (\d+\.\d+)", run.stdout)
    found = version[1] if version else "unknown"
    return (path, "") if found == RELEASE else (None, f"needs ptxas {RELEASE}, found {found}")


def _ptxas() -> str:
    path, why = _find()
    if path is None:
        pytest.skip(why)
    return path
