"""Findings as people want them: one for all instances of a template."""

from __future__ import annotations

from typing import NamedTuple

from ..model import FileReport, Finding


class Shown(NamedTuple):
    """A finding, and in how many kernels more the same defect at the same CUDA line came out."""

    finding: Finding
    more: int


def shown(report: FileReport) -> list[Shown]:
    """The findings of a report that people see: none that is suppressed, repetitions folded.

    A CUDA line is the same one where the calls that it was inlined through are the same. The
    n-th finding of a rule there in one kernel goes with the n-th in the others, so that no
    finding of a single kernel is folded away.
    """
    first: dict[tuple[object, ...], int] = {}
    nth: dict[tuple[object, ...], int] = {}
    result: list[Shown] = []
    for finding in report.findings:
        if finding.suppressed is not None:
            continue
        if not finding.source or finding.kernel is None:
            result.append(Shown(finding, 0))
            continue
        place = (finding.code, finding.severity, finding.source)
        here = (*place, finding.kernel)
        nth[here] = nth.get(here, 0) + 1
        key = (*place, nth[here])
        index = first.setdefault(key, len(result))
        if index == len(result):
            result.append(Shown(finding, 0))
        else:
            result[index] = Shown(result[index].finding, result[index].more + 1)
    return result
