"""Rules made up for the tests: what the engine does must not hang on which rules there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from ptxlint.engine import registry, runner, selection
from ptxlint.engine.registry import Entry
from ptxlint.model import Confidence, Finding, Rule, Severity
from ptxlint.ptx.ir import Function


class MadeUp(Entry):
    """An entry whose module is a namespace that the test filled."""

    __slots__ = ()
    modules: ClassVar[dict[str, Any]] = {}

    def load(self) -> Any:
        return self.modules[self.code]


def made_up(
    code: str,
    name: str,
    check: Callable[..., Iterator[Finding]] | None = None,
    *,
    check_module: Callable[..., Iterator[Finding]] | None = None,
    default: bool = True,
    mnemonics: frozenset[str] = frozenset(),
    severity: Severity = Severity.WARNING,
) -> MadeUp:
    """An entry of category memory with that check."""
    checks = {"check": check, "check_module": check_module}
    MadeUp.modules[code] = SimpleNamespace(**{k: v for k, v in checks.items() if v is not None})
    return MadeUp(
        code, name, "memory", severity, Confidence.HIGH, default, mnemonics, "memory.x", "made up"
    )


def reports(mnemonic: str, code: str, name: str) -> MadeUp:
    """A rule that reports each instruction of that mnemonic."""
    rule = Rule(code, name, "memory", Severity.WARNING, "made up")

    def check(function: Function, facts: Any) -> Iterator[Finding]:
        for instruction in function.instructions:
            if instruction.opcode.mnemonic == mnemonic:
                span = facts.module.source.span(instruction.start, instruction.end)
                yield rule.finding(f"`{mnemonic}` seen", span)

    return made_up(code, name, check, mnemonics=frozenset({mnemonic}))


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Call it with entries: they and the linter's own are the rules for this test."""
    own = tuple(entry for entry in registry.entries() if entry.category == "linter")

    def install(*rules: Entry) -> None:
        listed = tuple(sorted((*rules, *own), key=lambda rule: rule.code))
        for module in (runner, selection):
            monkeypatch.setattr(module, "entries", lambda: listed)
        selection.selected.cache_clear()

    yield install
    selection.selected.cache_clear()


@pytest.fixture
def two_rules(install: Callable[..., None]) -> None:
    """PTX397 seen-add reports each add, PTX398 seen-mul each mul."""
    install(reports("add", "PTX397", "seen-add"), reports("mul", "PTX398", "seen-mul"))
