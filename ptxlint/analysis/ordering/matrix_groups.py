"""Registers that an asynchronous matrix operation (wgmma) is still writing, and who touches them.

Along every way to an instruction: what is in flight there whatever way was taken. Copies of such a
register are looked through: compilers put them ahead of the wait, and what uses the copy counts.
"""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function, Instruction
from ..facts import Facts
from ..flow.graph import ControlFlow, control_flow
from ..flow.registers import RegisterUse, register_use
from .groups import in_flight

_DEEPEST = 8  # groups in flight that are told apart
_COPIES = frozenset({"mov"})


class Touch(NamedTuple):
    """``instruction`` reads or ``writes`` a register that ``operation`` has in flight; ``inside``:
    before the operation's group is committed.
    """

    instruction: Instruction
    operation: Instruction
    register: int
    writes: bool
    inside: bool


class _State(NamedTuple):
    """Registers in flight, with the operation that each is of: not committed, and by group."""

    open: dict[int, int]
    groups: tuple[dict[int, int], ...]


_NOTHING = _State({}, ())


def touches(function: Function, facts: Facts) -> list[Touch]:
    """Each instruction that touches such a register, once, in order."""
    if not any(_is(i, "mma_async") for i in function.instructions):
        return []
    flow, use = facts.once(function, control_flow), facts.once(function, register_use)
    if not flow.resolved:
        return []
    after: dict[int, _State] = {}
    changed = True
    while changed:
        changed = False
        for block in flow.order:
            before = _before(block, flow, after)
            end = before
            for at in range(flow.blocks[block].start, flow.blocks[block].stop):
                end = _step(end, at, flow, use)
            if after.get(block) != end:
                after[block] = end
                changed = True
    found: list[Touch] = []
    for block in flow.order:
        state = _before(block, flow, after)
        for at in range(flow.blocks[block].start, flow.blocks[block].stop):
            found += _touched(state, at, flow, use)
            state = _step(state, at, flow, use)
    return sorted(found, key=lambda touch: touch.instruction.start)


def _is(instruction: Instruction, name: str) -> bool:
    opcode = instruction.opcode
    return opcode.mnemonic == "wgmma" and opcode.modifiers[:1] == (name,)


def _before(block: int, flow: ControlFlow, after: dict[int, _State]) -> _State:
    """What is in flight at a block's start on all ways that are known so far."""
    states = [after[p] for p in flow.reached_predecessors(block) if p in after]
    if not states or block == flow.order[0]:
        return _NOTHING
    found = states[0]
    for other in states[1:]:
        count = min(len(found.groups), len(other.groups))
        groups = zip(
            found.groups[len(found.groups) - count :],
            other.groups[len(other.groups) - count :],
            strict=True,
        )
        found = _State(_both(found.open, other.open), tuple([_both(a, b) for a, b in groups]))
    return found


def _both(a: dict[int, int], b: dict[int, int]) -> dict[int, int]:
    return {register: a[register] for register in a if register in b}


def _step(state: _State, at: int, flow: ControlFlow, use: RegisterUse) -> _State:
    instruction = flow.instructions[at]
    if instruction.opcode.mnemonic == "wgmma":
        if _is(instruction, "mma_async"):
            return state._replace(open={**state.open, **dict.fromkeys(use.writes[at], at)})
        if _is(instruction, "commit_group"):
            return _State({}, (*state.groups, state.open)[-_DEEPEST:])
        if _is(instruction, "wait_group"):
            return state._replace(groups=tuple(in_flight(state.groups, instruction)))
        return state
    if instruction.opcode.mnemonic == "call":
        return _NOTHING
    copied = use.reads[at] if instruction.opcode.mnemonic in _COPIES else ()
    return _State(
        _moved(state.open, use.writes[at], copied),
        tuple([_moved(group, use.writes[at], copied) for group in state.groups]),
    )


def _moved(
    flying: dict[int, int], written: tuple[int, ...], copied: tuple[int, ...]
) -> dict[int, int]:
    """After a plain instruction: what it writes is its own, unless it is a copy."""
    operation = next((flying[register] for register in copied if register in flying), None)
    if operation is None and flying.keys().isdisjoint(written):
        return flying
    found = {register: by for register, by in flying.items() if register not in written}
    if operation is not None:
        found.update(dict.fromkeys(written, operation))
    return found


def _touched(state: _State, at: int, flow: ControlFlow, use: RegisterUse) -> list[Touch]:
    instruction = flow.instructions[at]
    if instruction.opcode.mnemonic == "wgmma":
        return []
    copies = instruction.opcode.mnemonic in _COPIES
    committed = {register: by for group in state.groups for register, by in group.items()}
    for flying, inside in ((state.open, True), (committed, False)):
        read = () if copies else use.reads[at]
        for registers, writes in ((read, False), (use.writes[at], True)):
            hit = next((register for register in registers if register in flying), None)
            if hit is not None:
                operation = flow.instructions[flying[hit]]
                return [Touch(instruction, operation, hit, writes, inside)]
    return []
