"""The JSON report: one object, described by schema.json beside this file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .. import __version__
from ..engine.serial import finding_value, span_value
from ..model import FileReport, Severity
from . import Context
from .summary import counts

SCHEMA_VERSION = 1


def render(reports: Sequence[FileReport], context: Context) -> str:
    """The object, with each file and each diagnostic on a line of its own."""
    parts = []
    for name, part in value(reports).items():
        if isinstance(part, list) and part:
            text = "[\n" + ",\n".join(json.dumps(item) for item in part) + "\n]"
        else:
            text = json.dumps(part)
        parts.append(f"{json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def value(reports: Sequence[FileReport]) -> dict[str, Any]:
    """The report as a JSON value. Suppressed findings are in it, marked, and not counted."""
    totals = counts(reports)
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "ptxlint", "version": __version__},
        "files": [_file(report) for report in reports],
        "diagnostics": diagnostics(reports),
        "summary": {
            "error": totals[Severity.ERROR],
            "warning": totals[Severity.WARNING],
            "info": totals[Severity.INFO],
            "files": len(reports),
            "kernels": sum(len(report.kernels) for report in reports),
        },
    }


def diagnostics(reports: Sequence[FileReport]) -> list[dict[str, Any]]:
    """The findings of all reports."""
    return [
        finding_value(finding, report.path, report.member)
        for report in reports
        for finding in report.findings
    ]


def _file(report: FileReport) -> dict[str, Any]:
    return {
        "path": report.path,
        "member": report.member,
        "parsed": report.parsed,
        "unanalysed": [span_value(span) for span in report.unanalysed],
        "kernels": report.kernels,
    }
