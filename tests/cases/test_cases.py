"""Every case gives exactly the findings that it says, and ptxas agrees with it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ptxlint import Severity, check_text
from ptxlint.engine.registry import entries

from .assembler import assemble
from .expectations import BAD, GOOD, codes, expected, options

CASES = [*BAD, *GOOD]
# Categories whose errors the assembler makes too, and on the same line.
REJECTED = {"validity"}


def name(path: Path) -> str:
    return path.name.removesuffix(".ptx")


@pytest.mark.parametrize("path", CASES, ids=name)
def test_the_findings_are_exactly_those_that_the_case_names(path: Path) -> None:
    findings = check_text(path.read_text(encoding="utf-8"), path.name, **options(path))
    found = Counter((f.span.start.line, f.code) for f in findings)
    wanted = expected(path)
    missed, extra = wanted - found, found - wanted
    assert not missed and not extra, f"missed {sorted(missed)}, not expected {sorted(extra)}"


def test_bad_cases_expect_something_and_good_ones_nothing() -> None:
    assert [name(p) for p in BAD if not expected(p)] == []
    assert [name(p) for p in GOOD if expected(p)] == []


def test_every_case_has_its_twin() -> None:
    bad = {p.name.removesuffix(".bad.ptx") for p in BAD}
    good = {p.name.removesuffix(".good.ptx") for p in GOOD}
    assert bad == good
    assert len(bad) >= 10


@pytest.mark.parametrize("path", GOOD, ids=name)
def test_ptxas_accepts_the_good_cases(path: Path) -> None:
    verdict = assemble(path)
    assert verdict.accepted, verdict.text


def _at_the_line() -> list[Path]:
    errors = [e for e in entries() if e.severity is Severity.ERROR]
    rejected = {e.code for e in errors if e.category in REJECTED} | {
        "PTX201",
        "PTX206",
        "PTX701",
        "PTX702",
        "PTX703",
    }
    return [p for p in BAD if codes(p) & rejected and not options(p)]


@pytest.mark.parametrize("path", _at_the_line(), ids=name)
def test_ptxas_rejects_what_category_1_reports_and_at_the_same_line(path: Path) -> None:
    verdict = assemble(path)
    assert not verdict.accepted
    ours = {line for line, _ in expected(path)}
    assert ours <= verdict.lines, f"ptxas names {sorted(verdict.lines)}: {verdict.text}"


@pytest.mark.parametrize("path", [p for p in BAD if codes(p) & {"PTX301"}], ids=name)
def test_ptxas_says_nothing_of_misaligned_accesses(path: Path) -> None:
    """Their pages say so: the day that it does, they have to say something else."""
    assert assemble(path).text == ""


def test_errors_are_errors_by_default() -> None:
    for path in BAD:
        for finding in check_text(path.read_text(encoding="utf-8"), path.name):
            if finding.assumptions:
                assert finding.severity is not Severity.ERROR, (path.name, finding.message)
