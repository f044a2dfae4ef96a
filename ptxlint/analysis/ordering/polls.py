"""Loops that wait for what another thread writes, by a load that need not be made again."""

from __future__ import annotations

from typing import NamedTuple

from ...isa.memory import memory_effect
from ...ptx.ir import Address, Function, Instruction, Register
from ..facts import Facts
from ..flow.graph import ControlFlow, control_flow
from ..flow.loops import Loop, loops
from ..flow.registers import register_use

_OUTSIDE = ("global", "generic")
_KEEPS = frozenset({"st", "atom", "red", "call", "bar", "barrier", "mbarrier", "trap", "cp"})


class Poll(NamedTuple):
    """``load`` is the weak load that a loop waits on, ``branch`` the way out that tests it."""

    load: Instruction
    branch: Instruction


def weak_polls(function: Function, facts: Facts) -> list[Poll]:
    """Loops that nothing but a weak load from one place can end, in order.

    None of those in which anything else could make another thread's write seen: a strong access,
    a fence, a barrier, a store, an atomic, a call.
    """
    if not facts.once(function, may_poll):
        return []
    flow = facts.once(function, control_flow)
    found = []
    for loop in facts.once(function, loops).all:
        one = _poll(loop, function, facts, flow)
        if one is not None:
            found.append(one)
    return sorted(found, key=lambda poll: poll.load.start)


def may_poll(function: Function, facts: Facts) -> bool:
    """By the text: a branch back over few instructions, a weak load among them, and nothing that
    keeps it.
    """
    flow = facts.once(function, control_flow)
    for block in flow.blocks:
        for target in block.successors:
            if target <= block.index and flow.reached >> block.index & 1:
                code = flow.instructions[flow.blocks[target].start : block.stop]
                kept = any(each.opcode.mnemonic in _KEEPS for each in code)
                if len(code) <= _LONG and not kept and any(map(_is_weak_load, code)):
                    return True
    return False


_LONG = 64  # instructions of a loop that does nothing but wait


def _is_weak_load(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    if opcode.mnemonic not in ("ld", "ldu"):
        return False
    effect = memory_effect(opcode.mnemonic, opcode.modifiers)
    return effect.order == "weak" and any(row.space in _OUTSIDE for row in effect.addresses)


def _poll(loop: Loop, function: Function, facts: Facts, flow: ControlFlow) -> Poll | None:
    use = facts.once(function, register_use)
    inside = list(flow.places(loop.blocks))
    loads = []
    for at in inside:
        instruction = flow.instructions[at]
        if instruction.opcode.mnemonic in _KEEPS or _orders(instruction):
            return None
        if _is_weak_load(instruction):
            loads.append(at)
    if len(inside) > _LONG or not loads:
        return None
    written = {number for at in inside for number in use.writes[at]}
    exits = [flow.blocks[source].stop - 1 for source, _ in loop.exits]
    for at in loads:
        instruction = flow.instructions[at]
        address = next((o for o in instruction.operands if type(o) is Address), None)
        base = None if address is None else address.base
        if not isinstance(base, Register) or use.numbers.get(base) in written:
            continue
        depends = _made_of(set(use.writes[at]), inside, use.reads, use.writes)
        if exits and all(set(use.reads[exit_]) & depends for exit_ in exits):
            return Poll(instruction, flow.instructions[exits[0]])
    return None


def _orders(instruction: Instruction) -> bool:
    effect = memory_effect(instruction.opcode.mnemonic, instruction.opcode.modifiers)
    strong = effect.order != "weak" and bool(effect.addresses)
    return strong or bool(effect.barrier)


def _made_of(
    start: set[int],
    inside: list[int],
    reads: list[tuple[int, ...]],
    writes: list[tuple[int, ...]],
) -> set[int]:
    """The registers that depend on those of ``start`` by instructions of the loop."""
    found = set(start)
    size = -1
    while len(found) > size:
        size = len(found)
        for at in inside:
            if not found.isdisjoint(reads[at]):
                found.update(writes[at])
    return found
