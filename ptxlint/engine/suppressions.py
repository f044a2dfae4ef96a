"""What suppression comments cover, which findings they take, and which of them are wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from ..model import Finding, Position
from ..ptx.ir import Module
from .coverage import Range, Statements
from .directives import KINDS, Directive, directives
from .options import did_you_mean
from .registry import Entry
from .selection import find

_KINDS_LISTED = f" (there are: {', '.join(KINDS)})"


class Suppression(NamedTuple):
    """One rule suppressed over one range by one comment; ``name`` is the rule as written there."""

    code: str
    name: str
    start: Position
    end: Position
    at: tuple[int, int]


class Suppressions:
    """The suppressions of one module, and the complaints (PTX902 to PTX904) about its comments."""

    def __init__(self, module: Module, rules: tuple[Entry, ...]) -> None:
        self._module = module
        self._rules = rules
        self.active: list[Suppression] = []
        self.complaints: list[Finding] = []
        self._used: set[Suppression] = set()
        found = directives(module.source.text)
        if found:
            self._read(found)

    def apply(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings, with ``suppressed`` set on those that a comment covers."""
        if not self.active:
            return list(findings)
        return [replace(f, suppressed="inline") if self._covers(f) else f for f in findings]

    def unused(self, judged: set[str]) -> list[Finding]:
        """PTX901 for each suppression of a rule in ``judged`` (codes) that took no finding."""
        rule = find("PTX901", self._rules)
        if rule is None:
            return []
        reported = []
        for item in self.active:
            if item.code in judged and item not in self._used:
                message = f"`{item.name}` suppresses nothing here"
                reported.append(self._finding(rule, message, *item.at, help="delete it"))
        return reported

    def _covers(self, finding: Finding) -> bool:
        at = finding.span.start
        hits = [s for s in self.active if s.code == finding.code and s.start <= at < s.end]
        self._used.update(hits)
        return bool(hits)

    def _read(self, found: list[Directive]) -> None:
        statements = Statements(self._module)
        text_end = len(self._module.source.text) + 1
        open_: dict[str, list[tuple[str, int, int]]] = {}
        for directive in found:
            for code, name, at in self._codes(directive):
                place = (at, at + len(name))
                if directive.kind == "ignore":
                    self._add(code, name, statements.covered(directive), place)
                elif directive.kind == "file-ignore":
                    self._add(code, name, Range(0, text_end), place)
                elif directive.kind == "disable":
                    open_.setdefault(code, []).append((name, directive.start, at))
                elif open_.get(code):
                    first, start, begun = open_[code].pop()
                    here = Range(start, directive.end)
                    self._add(code, first, here, (begun, begun + len(first)))
                else:
                    self._complain("PTX904", f"`{name}` is enabled but was not disabled", *place)
        for code, left in open_.items():
            for name, start, at in left:
                place = (at, at + len(name))
                self._add(code, name, Range(start, text_end), place)
                self._complain(
                    "PTX904",
                    f"`{name}` is disabled and never enabled again: it is off to the end",
                    *place,
                    help=f"add `// ptxlint: enable[{name}]`, or use `file-ignore[{name}]`",
                )

    def _codes(self, directive: Directive) -> list[tuple[str, str, int]]:
        """Code, name as written and offset of each rule that a comment names; complains."""
        if directive.kind not in KINDS:
            hint = did_you_mean(directive.kind, KINDS)
            message = f"`{directive.kind}` is not a suppression{hint or _KINDS_LISTED}"
            self._complain("PTX902", message, directive.start, directive.stop)
            return []
        known = []
        for name, at in directive.names:
            rule = find(name, self._rules)
            if rule is not None:
                known.append((rule.code, name, at))
            elif name.upper() in ("ALL", "*"):
                self._blanket(directive)
            else:
                message = f"no rule is called `{name}`{self._hint(name)}"
                self._complain("PTX902", message, at, at + len(name))
        if not directive.names:
            self._blanket(directive)
        return known

    def _hint(self, name: str) -> str:
        if any(rule.code.startswith(name.upper()) for rule in self._rules):
            return ": a suppression names rules in full, not by a prefix"
        return did_you_mean(name, [word for r in self._rules for word in (r.code, r.name)])

    def _blanket(self, directive: Directive) -> None:
        self._complain(
            "PTX903",
            f"`{directive.kind}` names no rule, so it suppresses nothing",
            directive.start,
            directive.stop,
            help=f"name the rules: `// ptxlint: {directive.kind}[CODE] -- reason`",
        )

    def _add(self, code: str, name: str, covered: Range, at: tuple[int, int]) -> None:
        place = self._module.source.position
        start, end = place(covered.start), place(covered.end)
        self.active.append(Suppression(code, name, start, end, at))

    def _complain(
        self, code: str, message: str, start: int, end: int, help: str | None = None
    ) -> None:
        rule = find(code, self._rules)
        if rule is not None:
            self.complaints.append(self._finding(rule, message, start, end, help=help))

    def _finding(
        self, rule: Entry, message: str, start: int, end: int, help: str | None = None
    ) -> Finding:
        span = self._module.source.span(start, end)
        return Finding(
            rule.code, rule.name, rule.severity, rule.confidence, message, span, help=help
        )
