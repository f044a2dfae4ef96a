"""The formats for programs: their form, and that nothing is lost."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from ptxlint.engine.runner import lint
from ptxlint.model import Edit, FileReport, Fix
from ptxlint.report import render

from .conftest import finding, span


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json.loads(files("ptxlint.report").joinpath("schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def test_json_is_as_its_schema_says(
    reports: list[FileReport], validator: Draft202012Validator
) -> None:
    fix = Fix("align it", (Edit(span(5, 17, 18), "16"),))
    reports[0].findings.append(finding(fix=fix, witness={"block": [1, 1, 1]}))
    reports.append(
        lint(".version 8.0 .target sm_80\n.entry k() { ret; } // ptxlint: ignore\n", "c.ptx")
    )
    value = json.loads(render("json", reports))
    validator.validate(value)
    assert [d["code"] for d in value["diagnostics"]] == [
        "PTX301",
        "PTX310",
        "PTX804",
        "PTX301",
        "PTX903",
    ]


def test_the_schema_refuses_other_forms(
    reports: list[FileReport], validator: Draft202012Validator
) -> None:
    value = json.loads(render("json", reports))
    for change in ({"severity": "fatal"}, {"fingerprint": ""}, {"more": 1}, {"span": None}):
        broken = json.loads(json.dumps(value))
        broken["diagnostics"][0].update(change)
        with pytest.raises(ValidationError):
            validator.validate(broken)


def test_every_field_is_described(validator: Draft202012Validator) -> None:
    def check(node: Any, path: str) -> None:
        if not isinstance(node, dict):
            return
        for name, field in node.get("properties", {}).items():
            assert field.get("description"), f"{path}.{name} is not described"
            check(field, f"{path}.{name}")
            check(field.get("items"), f"{path}.{name}[]")

    check(validator.schema, "report")
    for name, node in validator.schema["$defs"].items():
        check(node, name)


def test_json_says_what_ux_promises(reports: list[FileReport]) -> None:
    value = json.loads(render("json", reports))
    assert list(value) == ["schema_version", "tool", "files", "diagnostics", "summary"]
    assert value["files"][0] == {
        "path": "a b/peek.ptx",
        "member": None,
        "parsed": "partial",
        "unanalysed": [{"start": {"line": 6, "column": 1}, "end": {"line": 6, "column": 3}}],
        "kernels": ["_Z4peekPj"],
    }
    first, hidden, _ = value["diagnostics"]
    assert first["source"] == {"file": "peek.cuh", "line": 7, "column": 3}
    assert first["data"] == {
        "width": 16,
        "inlined_at": [{"file": "peek.cu", "line": 21, "column": 5}],
    }
    assert hidden["suppressed"] == "inline"
    assert value["summary"] == {"error": 1, "warning": 0, "info": 1, "files": 2, "kernels": 1}


def test_json_of_nothing() -> None:
    value = json.loads(render("json", []))
    assert (value["files"], value["diagnostics"], value["summary"]["files"]) == ([], [], 0)


def test_json_lines_are_the_diagnostics(reports: list[FileReport]) -> None:
    rows = [json.loads(row) for row in render("json-lines", reports).splitlines()]
    assert rows == json.loads(render("json", reports))["diagnostics"]


def test_sarif(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = ".version 8.0 .target sm_80\n// ptxlint: ignore\n// ptxlint: enable[PTX903]\n"
    hushed = "// ptxlint: file-ignore[PTX904]\n"
    inside = lint(text, "a b/\N{LATIN SMALL LETTER E WITH ACUTE}.ptx")
    outside = lint(text + hushed, "/else where/k.ptx")
    inside.findings.append(finding(code="PTX902"))
    log = json.loads(render("sarif", [inside, outside]))
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["PTX902", "PTX903", "PTX904"]
    assert rules[0]["properties"]["problem.severity"] == "warning"
    results = run["results"]
    assert all(rules[r["ruleIndex"]]["id"] == r["ruleId"] for r in results)
    place = results[0]["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "a%20b/%C3%A9.ptx", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 19},
    }
    assert results[0]["partialFingerprints"]["ptxlint/v1"] == inside.findings[0].fingerprint
    last = results[-1]
    assert last["ruleId"] == "PTX904"
    assert last["suppressions"] == [{"kind": "inSource"}]
    uri = last["locations"][0]["physicalLocation"]["artifactLocation"]
    assert uri == {"uri": "file:///else%20where/k.ptx"}
    whole = next(r for r in results if r["ruleId"] == "PTX902")
    assert whole["level"] == "error"
    assert whole["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == "_Z4peekPj"
    assert whole["relatedLocations"][0]["message"]["text"] == "declared with 4 here"
