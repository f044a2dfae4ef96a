"""One line a finding: ``file:line:column: PTX301 error message [misaligned-access]``."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import FileReport
from . import Context
from .merge import shown
from .summary import plural


def render(reports: Sequence[FileReport], context: Context) -> str:
    """The lines of all findings."""
    return "".join(line + "\n" for report in reports for line in _lines(report))


def _lines(report: FileReport) -> list[str]:
    lines = []
    for finding, more in shown(report):
        line, column = finding.span.start
        text = f"{report.name}:{line}:{column}: {finding.code} {finding.severity.value} "
        text += f"{finding.message} [{finding.name}]"
        lines.append(text + (f" + {more} {plural(more, 'kernel')}" if more else ""))
    return lines
