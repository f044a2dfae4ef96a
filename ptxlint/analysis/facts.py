"""The store of facts: a rule asks, the analysis runs once, the next rule gets the same answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from ..model import Span
from ..ptx.ir import Function, Instruction, Module, Opcode, Statement

if TYPE_CHECKING:
    import networkx

T = TypeVar("T")


class Settings(Protocol):
    """What a run is told that analyses may need."""

    @property
    def target(self) -> str | None:
        """The GPU to check against, ``sm_80``; None: the file's own."""

    @property
    def block(self) -> tuple[int, int, int] | None:
        """The launch shape in threads; None: not told."""

    @property
    def metadata(self) -> str | None:
        """The JSON that Triton keeps beside the file; None: there is none."""

    @property
    def driver(self) -> str | None:
        """The driver that is to take the file, ``535``; None: not told."""


class Facts:
    """Facts of one module. Not shared between threads."""

    def __init__(self, module: Module, options: Settings) -> None:
        self.module = module
        self.options = options
        self._known: dict[object, object] = {}

    @property
    def target(self) -> str | None:
        """The target to check against: as told, else the file's own."""
        return self.options.target or self.module.target

    def once(self, function: Function, analysis: Callable[[Function, Facts], T]) -> T:
        """``analysis(function, self)``, computed at the first call."""
        key = (id(function), analysis)
        if key not in self._known:
            self._known[key] = analysis(function, self)
        return cast(T, self._known[key])

    def of_module(self, analysis: Callable[[Module, Facts], T]) -> T:
        """``analysis(module, self)``, computed at the first call."""
        if analysis not in self._known:
            self._known[analysis] = analysis(self.module, self)
        return cast(T, self._known[analysis])

    def of_mnemonics(self, function: Function, mnemonics: frozenset[str]) -> list[Instruction]:
        """The function's instructions of those mnemonics, in order."""
        return self.of_opcodes(function, lambda opcode: opcode.mnemonic in mnemonics)

    def of_opcodes(self, function: Function, wanted: Callable[[Opcode], bool]) -> list[Instruction]:
        """The function's instructions whose opcode is wanted, in order."""
        index = self.once(function, by_opcode)
        found = [index[opcode] for opcode in index if wanted(opcode)]
        if len(found) == 1:
            return found[0]
        return sorted((i for some in found for i in some), key=lambda i: i.start)

    def dependence(self, function: Function) -> networkx.MultiDiGraph[int]:
        """The function's dependence graph (``dependence.graph.dependence``), made at the first
        call; networkx is loaded only here.
        """
        from .dependence.graph import dependence

        return self.once(function, dependence)

    def span(self, statement: Statement) -> Span:
        """Where a statement stands."""
        return self.module.source.span(statement.start, statement.end)

    def text_span(self, start: int, end: int) -> Span:
        """A span by offsets into the module's text."""
        return self.module.source.span(start, end)


def by_opcode(function: Function, facts: Facts) -> dict[Opcode, list[Instruction]]:
    """The function's instructions by opcode, each list in order.

    Opcodes are interned and few: what depends on the opcode alone is decided once for each.
    """
    index: dict[Opcode, list[Instruction]] = {}
    for instruction in function.instructions:
        opcode = instruction.opcode
        if opcode in index:
            index[opcode].append(instruction)
        else:
            index[opcode] = [instruction]
    return index
