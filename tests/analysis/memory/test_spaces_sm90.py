"""PTX320 to PTX322 against a GPU: what they pass read what it should there, the rest did not."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from bench.gpu.spaces import cases
from ptxlint import Severity, check_text

MEASURED = Path(__file__).parent / "spaces_sm90.json"
CASES = cases()
RULES = ("PTX320", "PTX321", "PTX322")
# Undefined in the PTX ISA, and right on that GPU: the generic address of a constant leads there by
# ld.global too; of a local symbol ptxas 13.5 makes a local load, whatever the opcode says.
BY_CHANCE = {"const.generic.global", "local.offset.shared"}


@cache
def results() -> dict[str, str]:
    """What each kernel did, by name."""
    kernels = json.loads(MEASURED.read_text(encoding="utf-8"))["kernels"]
    return {row["name"]: row["result"] for row in kernels}


def test_there_are_enough_of_each() -> None:
    assert set(results()) == set(CASES)
    for code in RULES:
        assert sum(code in case.codes for case in CASES.values()) >= 14
    assert sum(not case.codes for case in CASES.values()) >= 20


@pytest.mark.parametrize("name", CASES)
def test_what_is_reported_is_what_went_wrong(name: str) -> None:
    case = CASES[name]
    findings = [f for f in check_text(case.ptx) if f.code in RULES]
    assert tuple(f.code for f in findings) == case.codes
    result = results()[name]
    if not findings:
        assert result == "right"
    elif any(f.severity is Severity.ERROR for f in findings) and name not in BY_CHANCE:
        # Of accesses by lane the result is lane 0's, which is inside.
        assert result != "right" or ".lanes." in name
    elif name not in BY_CHANCE:  # harmless on sm_90, the finding says
        assert result == "right"
        assert all(f.severity is Severity.WARNING for f in findings)
