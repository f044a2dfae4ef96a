"""The value behind copies: moves between registers, and phis that only pass one value on.

nvcc's PTX is SSA taken apart with `mov`; put together again it has phis that refer to each other
and to one value. They are that value.
"""

from __future__ import annotations

from ...ptx.ir import Function, Instruction, Register
from ..facts import Facts
from ..flow.graph import ControlFlow, control_flow
from ..flow.ssa import DEFINITION, PHI, Values, values

_CHANGES = 8


def canonical(function: Function, facts: Facts) -> list[int]:
    """For each value of ``flow.ssa.values``, the value that it is a copy of; itself if none.

    Optimistic: all copies count as of one value until two different ones are seen to meet.
    """
    flow, ssa = facts.once(function, control_flow), facts.once(function, values)
    found = list(range(len(ssa.all)))
    sources = _moves(flow, ssa)
    links = [v.index for v in ssa.all if v.kind == PHI or v.index in sources]
    users: dict[int, list[int]] = {}
    place = facts.once(function, places)
    for index in links:
        for source in _behind(ssa, sources, index):
            users.setdefault(source, []).append(index)
        found[index] = -1
    links.sort(key=lambda index: place[index])
    pending, waiting = list(reversed(links)), set(links)
    changes: dict[int, int] = {}
    while pending:
        index = pending.pop()
        waiting.discard(index)
        new = _meet(found, _behind(ssa, sources, index), index)
        if new != found[index] and found[index] != index:
            # Each change splits what was taken for one value; a few are enough for any code seen.
            changes[index] = changes.get(index, 0) + 1
            found[index] = new if changes[index] < _CHANGES or index in sources else index
            for user in users.get(index, ()):
                if user not in waiting:
                    waiting.add(user)
                    pending.append(user)
    return [index if value < 0 else value for index, value in enumerate(found)]


def _meet(found: list[int], behind: tuple[int, ...], own: int) -> int:
    one = -1
    for source in behind:
        value = found[source]
        if value in (-1, own):
            continue
        if one not in (-1, value):
            return own
        one = value
    return one


def _behind(ssa: Values, sources: dict[int, int], index: int) -> tuple[int, ...]:
    return (sources[index],) if index in sources else ssa.all[index].operands


def _moves(flow: ControlFlow, ssa: Values) -> dict[int, int]:
    """Value -> the value that an unguarded move copies, between registers of one width."""
    found: dict[int, int] = {}
    for value in ssa.all:
        if value.kind != DEFINITION:
            continue
        instruction = flow.instructions[value.at]
        if instruction.opcode.mnemonic == "mov" and _plain(instruction):
            found[value.index] = ssa.reads[value.at][0]
    return found


def _plain(instruction: Instruction) -> bool:
    if len(instruction.operands) != 2:
        return False
    to, source = instruction.operands
    return type(to) is Register and type(source) is Register


def places(function: Function, facts: Facts) -> list[int]:
    """The place of each value in a reverse post-order of the blocks."""
    flow, ssa = facts.once(function, control_flow), facts.once(function, values)
    position = [0] * len(flow.blocks)
    for i, block in enumerate(flow.order):
        position[block] = i << 32
    found = []
    for value in ssa.all:
        if value.kind == PHI:
            found.append(position[value.at])
        elif value.at < 0:
            found.append(-1)
        else:
            found.append(position[flow.block_of[value.at]] + value.at + 1)
    return found
