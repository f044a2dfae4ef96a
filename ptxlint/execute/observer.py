"""What a run shows to those who watch it."""

from __future__ import annotations

from ..ptx.ir import Function, Instruction
from .warp import Warp


class Step:
    """One execution of one instruction by lanes of a warp.

    ``pc`` indexes ``function.instructions``. ``arriving`` is the mask of the lanes that execute
    it together, ``active`` of those whose guard is true. For memory operations ``addresses`` has
    for each of the 32 lanes the address in the numbering of ``space`` (global, shared, local,
    const, param; "" where lanes differ), None for lanes that make no access, and ``width`` counts
    the bytes of one lane's access; a copy's source is in ``source_addresses`` and
    ``source_space``. ``turn`` counts the earlier steps of this warp at this place.
    """

    __slots__ = (
        "active", "addresses", "arriving", "function", "instruction", "pc", "source_addresses",
        "source_space", "space", "turn", "warp", "width",
    )  # fmt: skip

    def __init__(
        self,
        warp: Warp,
        pc: int,
        function: Function,
        instruction: Instruction,
        arriving: int,
        active: int,
    ) -> None:
        self.warp = warp
        self.pc = pc
        self.function = function
        self.instruction = instruction
        self.arriving = arriving
        self.active = active
        self.addresses: list[int | None] | None = None
        self.space: str | None = None
        self.width = 0
        self.source_addresses: list[int | None] | None = None
        self.source_space: str | None = None
        self.turn = 0


class Observer:
    """Watches a run; the methods do nothing unless a subclass says otherwise."""

    def before(self, step: Step) -> None:
        """Operands can be read as they are before the step."""

    def after(self, step: Step) -> None:
        """Results can be read. Steps that move control or wait have no results here yet."""
