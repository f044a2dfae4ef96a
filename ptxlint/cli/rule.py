"""``ptxlint rule CODE|NAME|--all``: the pages of the rules."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..engine.options import UsageError
from ..engine.registry import Entry, entries
from ..engine.selection import resolve
from .arguments import Parser


def run(words: Sequence[str]) -> int:
    """The exit status of ``rule`` with these arguments."""
    flags = Parser("rule", "Print the page of a rule.")
    flags.add_argument("rules", nargs="*", metavar="CODE|NAME")
    flags.add_argument("--all", action="store_true", help="all rules")
    flags.add_argument("--json", action="store_true", help="as a JSON array, with all metadata")
    given = flags.parse(words)
    if given.all == bool(given.rules):
        raise UsageError("rule takes codes or names, or --all")
    rules = entries() if given.all else tuple(resolve(name) for name in given.rules)
    if given.json:
        print(json.dumps([_value(rule) for rule in rules], indent=1))
    else:
        print("\n\n".join(page(rule) for rule in rules))
    return 0


def page(rule: Entry) -> str:
    """A rule's page: title, what it is, and its docstring; markdown."""
    when = "on by default" if rule.default else "with --preview"
    return (
        f"# {rule.code} {rule.name}\n\n"
        f"{rule.summary}\n\n"
        f"{rule.severity.value} · confidence {rule.confidence.value} · {rule.category} · {when}\n\n"
        f"{rule.page()}"
    )


def _value(rule: Entry) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "category": rule.category,
        "severity": rule.severity.value,
        "confidence": rule.confidence.value,
        "default": rule.default,
        "mnemonics": sorted(rule.mnemonics),
        "summary": rule.summary,
        "page": rule.page(),
    }
