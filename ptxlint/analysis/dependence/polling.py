"""Loops that wait for memory: branches whose outcome hangs on what a load in the loop gives."""

from __future__ import annotations

from ...ptx.ir import Function
from ..facts import Facts
from ..flow.graph import control_flow
from ..flow.loops import Loop, loops
from ..flow.ssa import ENTRY, PHI, Values, values
from ..memory.accesses import accesses

_OUTSIDE = frozenset({"param", "const", "local", "texture", "tensor"})


def polling_branches(function: Function, facts: Facts) -> dict[int, tuple[int, ...]]:
    """Branches that leave a loop, each with the instructions of that loop that read memory which
    other threads may write and whose result the branch hangs on as a value, not as an address.
    """
    flow = facts.once(function, control_flow)
    nest = facts.once(function, loops)
    if not nest.all:
        return {}
    reads = {
        a.index
        for a in facts.once(function, accesses)
        if a.reads and a.space not in _OUTSIDE and a.kind != "call"
    }
    found: dict[int, tuple[int, ...]] = {}
    if not reads:
        return found
    all_values = facts.once(function, values)
    for loop in nest.all:
        for block, _ in loop.exits:
            last = flow.terminator(flow.blocks[block])
            index = flow.blocks[block].stop - 1
            if last is None or last.guard is None or index in found:
                continue
            behind = _behind(all_values, flow.block_of, loop, index, reads)
            if behind:
                found[index] = tuple(sorted(behind))
    return found


def _behind(
    found: Values, block_of: list[int], loop: Loop, branch: int, reads: set[int]
) -> set[int]:
    """The reads of the loop that a branch's operands are made of."""
    waited, seen = set[int](), set(found.reads[branch])
    stack = list(seen)
    while stack:
        value = found.all[stack.pop()]
        if value.kind == ENTRY:
            continue
        block = value.at if value.kind == PHI else block_of[value.at]
        if block not in loop:
            continue
        onward = value.operands
        if value.kind != PHI:
            if value.at in reads:
                waited.add(value.at)
            else:
                onward = (*onward, *found.reads[value.at])
        for each in onward:
            if each not in seen:
                seen.add(each)
                stack.append(each)
    return waited
