"""Counts: how many findings of which level, and how to say it."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import FileReport, Severity


def counts(reports: Sequence[FileReport]) -> dict[Severity, int]:
    """Findings by level, without the suppressed ones."""
    totals = dict.fromkeys(Severity, 0)
    for report in reports:
        for finding in report.findings:
            if finding.suppressed is None:
                totals[finding.severity] += 1
    return totals


def line(reports: Sequence[FileReport]) -> str:
    """``3 errors, 1 warning in 2 files``, with what was not analysed."""
    parts = []
    for severity, count in counts(reports).items():
        if count:
            word = severity.value if severity is Severity.INFO else plural(count, severity.value)
            parts.append(f"{count} {word}")
    found = ", ".join(parts) or "nothing found"
    files = len({report.path for report in reports})
    text = f"{found} in {files} {plural(files, 'file')}"
    images = sum(report.member is not None and report.member.endswith(".ptx") for report in reports)
    if images:
        text += f" ({images} PTX {plural(images, 'image')})"
    partial = sum(report.parsed != "full" for report in reports)
    if partial:
        text += f"; {partial} {plural(partial, 'file')} not analysed in full"
    return text


def statistics(reports: Sequence[FileReport]) -> list[str]:
    """One line a rule: count, code, level, name; the commonest first."""
    rows: dict[tuple[str, str, str], int] = {}
    for report in reports:
        for f in report.findings:
            if f.suppressed is None:
                row = (f.code, f.severity.value, f.name)
                rows[row] = rows.get(row, 0) + 1
    ordered = sorted(rows.items(), key=lambda item: (-item[1], item[0]))
    return [f"{count:6}  {code}  {level:7}  {name}" for (code, level, name), count in ordered]


def plural(count: int, word: str) -> str:
    """The word, with an s unless there is one of it."""
    return word if count == 1 else word + "s"
