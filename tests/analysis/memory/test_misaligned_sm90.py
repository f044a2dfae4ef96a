"""PTX301 against a GPU: it reports the kernels that faulted there with 716, and no other."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from bench.gpu.misaligned import Case, cases
from ptxlint import Severity, check_text

MEASURED = Path(__file__).parent / "misaligned_sm90.json"
CASES = cases()


@cache
def rows() -> dict[str, str]:
    """What each kernel did, by name."""
    kernels = json.loads(MEASURED.read_text(encoding="utf-8"))["kernels"]
    return {row["name"]: row["result"] for row in kernels}


def reported(case: Case) -> list[Severity]:
    """The levels of what PTX301 says of a kernel."""
    return [f.severity for f in check_text(case.ptx) if f.code == "PTX301"]


def test_there_are_enough_and_each_misaligned_one_has_an_aligned_twin() -> None:
    assert len(CASES) > 200
    ways: dict[str, set[bool]] = {}
    for name, case in CASES.items():
        ways.setdefault(name.removesuffix(".moved").rstrip("0123456789"), set()).add(case.twin)
    assert all(found == {True, False} for found in ways.values())


@pytest.mark.parametrize("name", CASES)
def test_what_is_reported_is_what_is_misaligned(name: str) -> None:
    levels = reported(CASES[name])
    assert bool(levels) is not CASES[name].twin
    if name.split(".")[-2] in ("constant", "lane", "loop") and not name.endswith(".moved"):
        assert set(levels) <= {Severity.ERROR}  # .reqntid, and no base to assume anything of


@pytest.mark.parametrize("name", CASES)
def test_what_is_reported_is_what_faulted(name: str) -> None:
    result = rows()[name]
    assert result in ("ok", "716")
    assert bool(reported(CASES[name])) is (result == "716")
