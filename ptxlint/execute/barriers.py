"""CTA barriers (PTX ISA, "bar, barrier"): sixteen of them, counted as threads arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.ir import Instruction, Operand
from .builder import Builder, nothing
from .code import Op
from .types import TYPES
from .warp_ops import all_members, warp_barrier

if TYPE_CHECKING:
    from .groups import Group
    from .observer import Step
    from .warp import Warp

U32 = TYPES["u32"]


class BarrierUse:
    """How an instruction uses a barrier: slots of its operands, -1 where there is none."""

    __slots__ = ("arrive", "count", "id", "negated", "predicate", "reduce", "target")

    def __init__(self, id: int) -> None:
        self.id = id
        self.count = -1
        self.arrive = False
        self.reduce = ""
        self.predicate = -1
        self.negated = False
        self.target = -1


def barrier(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``bar`` and ``barrier``; those of a cluster of one CTA meet all its threads."""
    modifiers = instruction.opcode.modifiers
    operands: list[Operand] = list(instruction.operands)
    op.run = nothing
    if "cluster" in modifiers:
        # arrive and wait of all threads: with one CTA, wait is a barrier over it.
        op.convergent = True
        if "wait" in modifiers:
            op.kind, op.detail = "barrier", BarrierUse(builder.constant(-1))
        return
    if "warp" in modifiers:
        return warp_barrier(builder, instruction, op)
    reduce = next((m for m in modifiers if m in ("popc", "and", "or")), "")
    target = builder.target(operands.pop(0)) if reduce else -1
    if reduce:
        predicate = builder.predicate(operands.pop())
    use = BarrierUse(builder.source(operands[0], U32) if operands else builder.constant(0))
    use.reduce, use.target = reduce, target
    if reduce:
        use.predicate, use.negated = predicate
    if len(operands) > 1:
        use.count = builder.source(operands[1], U32)
    use.arrive = "arrive" in modifiers
    op.kind, op.detail, op.convergent = "barrier", use, True
    if "aligned" in modifiers or instruction.opcode.mnemonic == "bar":
        all_members(op)


class Barrier:
    """One barrier's arrivals since it last completed. Counts are of threads."""

    __slots__ = ("arrived", "count", "required", "results", "unknown", "waiting")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Nobody has arrived."""
        self.arrived: dict[Warp, int] = {}
        self.count = 0
        self.required = 0
        self.waiting: list[tuple[Warp, Group, BarrierUse, Step]] = []
        self.results: list[int] = []
        self.unknown = False

    def arrive(self, warp: Warp, lanes: int, required: int) -> None:
        """Lanes arrive; a warp that is there with all its lanes counts for 32."""
        self.required = required or self.required
        there = self.arrived.get(warp, 0) | lanes
        if there & warp.live == warp.live and required:
            self.count += 32
            there = 0
        self.arrived[warp] = there

    def complete(self, warps: list[Warp]) -> bool:
        """Whether everybody is there: the count that was asked for, or all that live."""
        if self.required:
            partial = sum(lanes.bit_count() for lanes in self.arrived.values())
            return self.count + partial >= self.required
        if not self.arrived:
            return False
        return all(not warp.live & ~self.arrived.get(warp, 0) for warp in warps)

    def reduced(self, kind: str) -> int:
        """The reduction over all predicates that arrived."""
        if kind == "popc":
            return sum(self.results)
        return int(all(self.results) if kind == "and" else any(self.results))
