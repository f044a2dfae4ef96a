"""The condition code of ``add.cc`` and its like: PTX ISA 9.7.2, for straight-line code only."""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function
from ..facts import Facts
from ..flow.graph import BasicBlock, ControlFlow, control_flow
from ..flow.registers import CARRY, RegisterUse, register_use


class Stale(NamedTuple):
    """Instruction ``read`` reads a carry that was not set in its own run of code.

    ``setters`` may have set it; none: nothing did. ``call`` is a call since then in this run.
    """

    read: int
    setters: tuple[int, ...]
    call: int | None


def stale_carries(function: Function, facts: Facts) -> list[Stale]:
    """The reads of a carry from elsewhere, in code that can be reached."""
    flow = facts.once(function, control_flow)
    use = facts.once(function, register_use)
    found: list[Stale] = []
    if not flow.resolved:
        return found
    for index in sorted(flow.order):
        block = flow.blocks[index]
        setter, call = _left_by_run(flow, use, block)
        for i in range(block.start, block.stop):
            if CARRY in use.reads[i] and (setter is None or call is not None):
                setters = (setter,) if setter is not None else _setters(flow, use, block)
                found.append(Stale(i, setters, call))
            setter, call = _after(flow, use, i, setter, call)
    return found


def _after(
    flow: ControlFlow, use: RegisterUse, i: int, setter: int | None, call: int | None
) -> tuple[int | None, int | None]:
    """(what set the carry, the call since then) after an instruction."""
    if CARRY in use.writes[i]:
        return i, None
    if flow.instructions[i].opcode.mnemonic == "call":
        return setter, i
    return setter, call


def _left_by_run(
    flow: ControlFlow, use: RegisterUse, block: BasicBlock
) -> tuple[int | None, int | None]:
    """The same before a block: of the blocks that only run on into each other up to it."""
    run: list[BasicBlock] = []
    while len(block.predecessors) == 1:
        block = flow.blocks[block.predecessors[0]]
        if len(block.successors) != 1 or block.taken or block in run:
            break
        run.append(block)
    setter, call = None, None
    for each in reversed(run):
        for i in range(each.start, each.stop):
            setter, call = _after(flow, use, i, setter, call)
    return setter, call


def _setters(flow: ControlFlow, use: RegisterUse, block: BasicBlock) -> tuple[int, ...]:
    """The last instructions that set the carry on the paths to a block."""
    found: set[int] = set()
    pending, seen = list(block.predecessors), set(block.predecessors)
    while pending:
        each = flow.blocks[pending.pop()]
        if not flow.reached >> each.index & 1:
            continue
        last = next(
            (i for i in reversed(range(each.start, each.stop)) if CARRY in use.writes[i]), None
        )
        if last is not None:
            found.add(last)
            continue
        pending += [p for p in each.predecessors if p not in seen]
        seen.update(each.predecessors)
    return tuple(sorted(found))
