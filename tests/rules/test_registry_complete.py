"""Every rule is whole: its page, its cases, its code, its place in the manifest."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ptxlint.engine import manifest, registry
from ptxlint.engine.registry import CATEGORIES, Entry, discover
from ptxlint.engine.scaffold import SECTIONS, scaffold

from ..cases.expectations import BAD, codes

RULES = discover()
# The finding for a failure of our own: no kernel can show it. Binaries hold no comments that
# could say what to expect: tests/rules has tests of their own.
WITHOUT_CASE = {"PTX999", *(rule.code for rule in RULES if rule.about_images)}


def code(entry: Entry) -> str:
    return entry.code


def sections(page: str) -> dict[str, str]:
    """The text under each heading of a page."""
    parts = re.split(r"^## (.+)$", page, flags=re.M)
    return {title: text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}


@pytest.mark.parametrize("entry", RULES, ids=code)
def test_its_page_is_written(entry: Entry) -> None:
    page = sections(entry.page())
    assert tuple(page) == SECTIONS
    empty = [title for title, text in page.items() if not text]
    assert not empty, f"{entry.code}: nothing under {empty}"
    assert "```" in page["Example"]
    assert entry.summary


@pytest.mark.parametrize("entry", [e for e in RULES if e.code not in WITHOUT_CASE], ids=code)
def test_it_has_a_bad_case_with_a_good_twin(entry: Entry) -> None:
    bad = [p for p in BAD if entry.code in codes(p)]
    assert bad, f"no case in corpus/cases expects {entry.code}"
    for path in bad:
        assert path.with_name(path.name.replace(".bad.", ".good.")).exists()


def test_cases_expect_rules_that_there_are() -> None:
    known = {entry.code for entry in RULES}
    assert {c for path in BAD for c in codes(path)} <= known


def test_codes_and_names_are_unique() -> None:
    assert len({e.code for e in RULES}) == len(RULES)
    assert len({e.name for e in RULES}) == len(RULES)


@pytest.mark.parametrize("entry", RULES, ids=code)
def test_its_hundreds_digit_is_that_of_its_folder(entry: Entry) -> None:
    folder = entry.module.partition(".")[0]
    assert folder == entry.category
    assert int(entry.code[3]) == CATEGORIES.index(folder) + 1


def test_the_manifest_is_what_discovery_finds() -> None:
    written = Path(registry.root(), "manifest.json").read_text(encoding="utf-8")
    assert [row["code"] for row in json.loads(written)] == [e.code for e in RULES]
    assert written == manifest.text(RULES), "run make manifest"


def test_a_scaffolded_rule_is_to_be_filled_in(tmp_path: Path) -> None:
    module, bad, good = scaffold("PTX398", "made-up-rule", "memory", tmp_path)
    names: dict[str, object] = {}
    exec(compile(module.read_text(), str(module), "exec"), names)
    assert set(sections(str(names["__doc__"]))) == set(SECTIONS)
    assert not any(sections(str(names["__doc__"])).values())
    assert getattr(names["RULE"], "summary") == ""  # noqa: B009
    assert codes(bad) == {"PTX398"}
    assert codes(good) == set()


@pytest.mark.parametrize(
    ("new", "complaint"),
    [
        (("PTX30", "a-rule", "memory"), "not a code"),
        (("PTX398", "A_Rule", "memory"), "kebab-case"),
        (("PTX398", "a-rule", "validity"), "of category memory"),
        (("PTX301", "a-rule", "memory"), "already"),
        (("PTX398", "misaligned-access", "memory"), "already"),
    ],
)
def test_scaffolding_refuses_what_can_not_be(
    tmp_path: Path, new: tuple[str, str, str], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        scaffold(*new, tmp_path)
    assert not list(tmp_path.iterdir())
