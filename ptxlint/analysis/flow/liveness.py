"""Liveness: which registers still matter at each place."""

from __future__ import annotations

from collections.abc import Iterator

from ...ptx.ir import Function
from ..bitset import bitset
from ..facts import Facts
from .dataflow import after, backward
from .graph import BasicBlock, ControlFlow, control_flow
from .registers import RegisterUse, register_use


class Liveness:
    """Registers (bit sets over ``RegisterUse`` numbers) that are live on entry to and exit from
    each block. Blocks that can't be reached have empty sets.
    """

    __slots__ = ("_flow", "_use", "live_in", "live_out")

    def __init__(
        self, flow: ControlFlow, use: RegisterUse, live_in: list[int], live_out: list[int]
    ) -> None:
        self._flow = flow
        self._use = use
        self.live_in = live_in
        self.live_out = live_out

    def after(self, block: BasicBlock) -> Iterator[tuple[int, int]]:
        """(instruction, registers live after it), backwards through a block.

        A guarded write leaves the register live before it, unless all that reads it up to the
        end of the block has the same guard.
        """
        yield from _backwards(self._flow, self._use, block, self.live_out[block.index])

    def peak(self) -> tuple[int, int]:
        """(instruction, set): where most registers are live at once, the instruction's own
        operands included; (-1, 0) for an empty function.
        """
        best = (-1, 0)
        for index in self._flow.order:
            for instruction, live in self.after(self._flow.blocks[index]):
                for number in self._use.writes[instruction]:
                    live |= 1 << number
                if live.bit_count() > best[1].bit_count():
                    best = (instruction, live)
        return best


def liveness(function: Function, facts: Facts) -> Liveness:
    """The registers live at each block's borders."""
    flow = facts.once(function, control_flow)
    use = facts.once(function, register_use)
    count = len(flow.blocks)
    returned = _returned(function, use)
    exposed, killed = [0] * count, [0] * count
    for index in flow.order:
        exposed[index], killed[index] = _summary(use, flow.blocks[index])

    def at_end(index: int, out: int) -> int:
        return out | returned if flow.blocks[index].leaves else out

    live_in = backward(
        flow, lambda index, out: exposed[index] | (at_end(index, out) & ~killed[index])
    )
    live_out = [0] * count
    for index in flow.order:
        live_out[index] = at_end(index, after(flow, live_in, index))
    return Liveness(flow, use, live_in, live_out)


def _returned(function: Function, use: RegisterUse) -> int:
    """The registers of a result list, ``.func (.reg .b32 r) f()``: the caller reads them."""
    variables = {id(v) for v in function.returns if v.space == "reg"}
    if not variables:
        return 0
    return bitset({n for r, n in use.numbers.items() if id(r.variable) in variables})


def _summary(use: RegisterUse, block: BasicBlock) -> tuple[int, int]:
    """Registers that the block reads before it writes them, and those that it writes for sure."""
    exposed, written = set[int](), set[int]()
    guarded: dict[int, set[int]] = {}  # guard -> registers written under it
    for i in range(block.start, block.stop):
        guard = use.guards[i]
        if guard < 0 and not guarded:
            for number in use.reads[i]:
                if number not in written:
                    exposed.add(number)
            written.update(use.writes[i])
            continue
        under = guarded.get(guard, ())
        for number in use.reads[i]:
            if number not in written and number not in under:
                exposed.add(number)
        writes = use.writes[i]
        if guard < 0:
            written.update(writes)
        else:
            guarded.setdefault(guard, set()).update(writes)
        if guarded:
            for number in writes:  # a predicate with a new value is another guard
                guarded.pop(number << 1, None)
                guarded.pop(number << 1 | 1, None)
    return bitset(exposed), bitset(written)


def _backwards(
    flow: ControlFlow, use: RegisterUse, block: BasicBlock, live: int
) -> Iterator[tuple[int, int]]:
    only: dict[int, set[int]] = {}  # register -> the guards of all that reads it
    for i in range(block.stop - 1, block.start - 1, -1):
        yield i, live | bitset(set(only))
        guard = use.guards[i]
        for number in use.writes[i]:
            if guard < 0:
                live &= ~(1 << number)
                only.pop(number, None)
            elif number in only:
                only[number].discard(guard)
                if not only[number]:
                    del only[number]
            for register in [
                r for r, guards in only.items() if {number << 1, number << 1 | 1} & guards
            ]:
                live |= 1 << register
                del only[register]
        for number in use.reads[i]:
            if guard < 0 or number == guard >> 1:
                live |= 1 << number
                only.pop(number, None)
            elif not live >> number & 1:
                only.setdefault(number, set()).add(guard)
