"""The pages of the rules."""

from __future__ import annotations

import json

from ptxlint.engine.registry import entries

from .conftest import Run


def test_a_page_by_code_and_by_name(run: Run) -> None:
    by_code = run("rule", "PTX901")
    assert by_code.returncode == 0
    assert by_code.stdout.startswith("# PTX901 unused-suppression\n")
    assert "## Why it matters" in by_code.stdout
    assert run("rule", "unused-suppression").stdout == by_code.stdout


def test_all_rules(run: Run) -> None:
    text = run("rule", "--all").stdout
    rows = json.loads(run("rule", "--all", "--json").stdout)
    assert [row["code"] for row in rows] == [entry.code for entry in entries()]
    assert all(f"# {row['code']} {row['name']}\n" in text for row in rows)
    assert all(row["page"] and row["summary"] for row in rows)


def test_wrong_calls(run: Run) -> None:
    unknown = run("rule", "unused-supression")
    assert unknown.returncode == 2
    assert unknown.stderr == (
        "ptxlint: error: unknown rule 'unused-supression'; did you mean 'unused-suppression'?\n"
    )
    assert run("rule").returncode == 2
    assert run("rule", "--all", "PTX901").returncode == 2
