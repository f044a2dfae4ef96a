"""SARIF 2.1.0, as GitHub code scanning reads it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from .. import __version__
from ..engine.registry import Entry, entries
from ..model import Confidence, FileReport, Finding, Severity, Span
from . import Context

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PROBLEMS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "recommendation",
}
_PRECISIONS = {
    Confidence.HIGH: "very-high",
    Confidence.MEDIUM: "high",
    Confidence.LOW: "medium",
}


def render(reports: Sequence[FileReport], context: Context) -> str:
    """One run. Its rules are those that ran, and those of the findings in any case."""
    codes = {finding.code for report in reports for finding in report.findings}
    codes.update(rule.code for rule in context.rules)
    rules = [rule for rule in entries() if rule.code in codes]
    index = {rule.code: at for at, rule in enumerate(rules)}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "ptxlint",
                        "version": __version__,
                        "semanticVersion": __version__,
                        "rules": [_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    _result(report, finding, index)
                    for report in reports
                    for finding in report.findings
                ],
            }
        ],
    }
    return json.dumps(log, indent=1) + "\n"


def _rule(rule: Entry) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": f"ptxlint rule {rule.code} prints the page of this rule."},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {
            "tags": [rule.category],
            "precision": _PRECISIONS[rule.confidence],
            "problem.severity": _PROBLEMS[rule.severity],
        },
    }


def _result(report: FileReport, finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    text = finding.message
    text += "".join(f"\n{note}" for note in finding.notes)
    text += "".join(f"\nassumes: {assumption}" for assumption in finding.assumptions)
    if finding.help:
        text += f"\nhelp: {finding.help}"
    if report.member is not None:
        text += f"\nin {report.member}"
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": index[finding.code],
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [_location(report, finding.span)],
        "partialFingerprints": {"ptxlint/v1": finding.fingerprint},
    }
    if finding.kernel is not None:
        name = {"fullyQualifiedName": finding.kernel, "kind": "function"}
        result["locations"][0]["logicalLocations"] = [name]
    if finding.labels:
        result["relatedLocations"] = [
            {"id": at, **_location(report, label.span), "message": {"text": label.message}}
            for at, label in enumerate(finding.labels)
        ]
    if finding.suppressed is not None:
        kind = "inSource" if finding.suppressed == "inline" else "external"
        result["suppressions"] = [{"kind": kind}]
    return result


def _location(report: FileReport, span: Span) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(report.path),
            "region": {
                "startLine": span.start.line,
                "startColumn": span.start.column,
                "endLine": span.end.line,
                "endColumn": span.end.column,
            },
        }
    }


def _artifact(path: str) -> dict[str, str]:
    """A URI relative to the working directory where the file is below it, else absolute."""
    from pathlib import Path
    from urllib.parse import quote

    whole = os.path.abspath(path)
    here = os.path.join(os.getcwd(), "")
    if whole.startswith(here):
        uri = quote(whole[len(here) :].replace(os.sep, "/"), errors="replace")
        return {"uri": uri, "uriBaseId": "%SRCROOT%"}
    return {"uri": Path(whole).as_uri()}
