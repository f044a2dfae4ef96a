"""Code that no path reaches."""

from __future__ import annotations

from ...ptx.ir import Function
from ..facts import Facts
from ..flow.graph import control_flow

# What compilers leave behind calls and traps that do not return.
_LEAVING = frozenset({"ret", "exit", "trap", "bra", "brx", "brkpt"})


def unreachable(function: Function, facts: Facts) -> list[tuple[int, int]]:
    """(first, end) of each run of instructions that can't be reached and does more than leave."""
    flow = facts.once(function, control_flow)
    if not flow.resolved:
        return []
    runs: list[tuple[int, int]] = []
    for block in flow.blocks:
        if flow.reached >> block.index & 1:
            continue
        if runs and runs[-1][1] == block.start:
            runs[-1] = (runs[-1][0], block.stop)
        else:
            runs.append((block.start, block.stop))
    return [run for run in runs if _matters(function, *run)]


def _matters(function: Function, start: int, stop: int) -> bool:
    return any(i.opcode.mnemonic not in _LEAVING for i in function.instructions[start:stop])
