"""Workflow commands of GitHub Actions: findings as annotations on the changed lines."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import FileReport, Finding, Severity
from . import Context
from .merge import shown

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(reports: Sequence[FileReport], context: Context) -> str:
    """One command a finding."""
    return "".join(
        _command(report, item.finding) + "\n" for report in reports for item in shown(report)
    )


def _command(report: FileReport, finding: Finding) -> str:
    start, end = finding.span
    fields = {
        "file": report.path.replace("\\", "/"),
        "line": str(start.line),
        "endLine": str(end.line),
        "col": str(start.column),
        "endColumn": str(end.column),
        "title": f"{finding.code} {finding.name}",
    }
    listed = ",".join(f"{name}={_escaped(text, ':,')}" for name, text in fields.items())
    where = f" (in {report.member})" if report.member is not None else ""
    return f"::{_COMMANDS[finding.severity]} {listed}::{_escaped(finding.message + where)}"


def _escaped(text: str, more: str = "") -> str:
    """The text with what would end a command, or a property of it, percent-encoded."""
    for char in "%\r\n" + more:
        text = text.replace(char, f"%{ord(char):02X}")
    return text
