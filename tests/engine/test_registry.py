"""The rules that there are, and the manifest of them."""

from __future__ import annotations

import json
import os

from ptxlint.engine import manifest, registry


def test_the_manifest_is_what_discovery_finds() -> None:
    with open(os.path.join(registry.root(), "manifest.json"), encoding="utf-8") as file:
        written = file.read()
    assert written == manifest.text(registry.discover()), "run python -m ptxlint.engine.manifest"
    assert [row["code"] for row in json.loads(written)] == [e.code for e in registry.entries()]


def test_entries_from_the_manifest_equal_those_from_the_rules() -> None:
    assert registry.entries() == registry.discover()


def test_every_rule_has_a_whole_page() -> None:
    for entry in registry.entries():
        page = entry.page()
        for section in ("What it does", "Why it matters", "Example", "Fix", "Limits"):
            assert f"## {section}" in page, f"{entry.code} lacks {section}"
        assert entry.summary
        assert entry.category in registry.CATEGORIES


def test_names_are_kebab_case_and_hundreds_digits_are_categories() -> None:
    for entry in registry.entries():
        assert entry.name == entry.name.lower()
        assert " " not in entry.name
        assert registry.CATEGORIES.index(entry.category) == int(entry.code[3]) - 1, entry.code
