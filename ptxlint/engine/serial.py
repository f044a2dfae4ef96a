"""Findings as JSON values and back: the form of the JSON report and of the cache."""

from __future__ import annotations

from typing import Any

from ..model import (
    Confidence,
    Edit,
    FileReport,
    Finding,
    Fix,
    Label,
    Position,
    Severity,
    SourceLine,
    Span,
)


def span_value(span: Span) -> dict[str, Any]:
    """A span as the report has it."""
    return {
        "start": {"line": span.start.line, "column": span.start.column},
        "end": {"line": span.end.line, "column": span.end.column},
    }


def finding_value(finding: Finding, path: str, member: str | None) -> dict[str, Any]:
    """One finding as the report has it; ``data.inlined_at`` holds the callers of ``source``."""
    chain = [_line_value(line) for line in finding.source]
    inlined = {"inlined_at": chain[1:]} if len(chain) > 1 else {}
    return {
        "code": finding.code,
        "name": finding.name,
        "severity": finding.severity.value,
        "confidence": finding.confidence.value,
        "message": finding.message,
        "path": path,
        "member": member,
        "kernel": finding.kernel,
        "kernel_demangled": finding.kernel_demangled,
        "span": span_value(finding.span),
        "source": chain[0] if chain else None,
        "labels": [{"span": span_value(x.span), "message": x.message} for x in finding.labels],
        "notes": list(finding.notes),
        "help": finding.help,
        "fix": _fix_value(finding.fix),
        "fingerprint": finding.fingerprint,
        "assumptions": list(finding.assumptions),
        "witness": finding.witness,
        "suppressed": finding.suppressed,
        "data": {**finding.data, **inlined},
    }


def _line_value(line: SourceLine) -> dict[str, Any]:
    return {"file": line.file, "line": line.line, "column": line.column}


def _fix_value(fix: Fix | None) -> dict[str, Any] | None:
    if fix is None:
        return None
    edits = [{"span": span_value(edit.span), "text": edit.text} for edit in fix.edits]
    return {"message": fix.message, "safe": fix.safe, "edits": edits}


def report_value(report: FileReport) -> dict[str, Any]:
    """A report without its lines, for the cache."""
    return {
        "parsed": report.parsed,
        "kernels": report.kernels,
        "unanalysed": [span_value(span) for span in report.unanalysed],
        "findings": [finding_value(f, report.path, report.member) for f in report.findings],
    }


def report_of(value: dict[str, Any], path: str, lines: list[str]) -> FileReport:
    """The report that report_value made a value of, for a file at ``path`` with these lines."""
    return FileReport(
        path,
        value["parsed"],
        [finding_of(row) for row in value["findings"]],
        value["kernels"],
        unanalysed=[_span(row) for row in value["unanalysed"]],
        lines=lines,
    )


def finding_of(value: dict[str, Any]) -> Finding:
    """The finding that finding_value made a value of."""
    data = dict(value["data"])
    chain = [] if value["source"] is None else [value["source"], *data.pop("inlined_at", ())]
    return Finding(
        code=value["code"],
        name=value["name"],
        severity=Severity(value["severity"]),
        confidence=Confidence(value["confidence"]),
        message=value["message"],
        span=_span(value["span"]),
        kernel=value["kernel"],
        kernel_demangled=value["kernel_demangled"],
        labels=tuple(Label(_span(x["span"]), x["message"]) for x in value["labels"]),
        notes=tuple(value["notes"]),
        help=value["help"],
        fix=_fix(value["fix"]),
        assumptions=tuple(value["assumptions"]),
        witness=value["witness"],
        data=data,
        source=tuple(SourceLine(s["file"], s["line"], s["column"]) for s in chain),
        fingerprint=value["fingerprint"],
        suppressed=value["suppressed"],
    )


def _fix(value: dict[str, Any] | None) -> Fix | None:
    if value is None:
        return None
    edits = tuple(Edit(_span(edit["span"]), edit["text"]) for edit in value["edits"])
    return Fix(value["message"], edits, value["safe"])


def _span(value: dict[str, Any]) -> Span:
    start, end = value["start"], value["end"]
    return Span(Position(start["line"], start["column"]), Position(end["line"], end["column"]))
