"""Dataflow over bit sets, to the fixed point."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from .graph import ControlFlow

State = tuple[int, ...]


def forward(flow: ControlFlow, start: State, through: Callable[[int, State], State]) -> list[State]:
    """The state at the start of each block: bit sets, joined by union.

    ``start`` holds before anything is known; ``through(block, state)`` is the state at the end of
    a block that is entered in ``state``, and must not lose members as that one grows.
    """
    entries = [start] * len(flow.blocks)
    position = {index: i for i, index in enumerate(flow.order)}
    pending = list(range(len(flow.order)))  # a heap of places in the order
    waiting = set(pending)
    while pending:
        place = heappop(pending)
        waiting.discard(place)
        index = flow.order[place]
        state = through(index, entries[index])
        for successor in flow.blocks[index].successors:
            new = tuple([a | b for a, b in zip(entries[successor], state, strict=True)])
            if new != entries[successor]:
                entries[successor] = new
                if position[successor] not in waiting:
                    waiting.add(position[successor])
                    heappush(pending, position[successor])
    return entries


def backward(flow: ControlFlow, through: Callable[[int, int], int]) -> list[int]:
    """What each block has on entry: one bit set, the union of the successors' on the way out.

    ``through(block, out)`` is what a block has on entry that has ``out`` at its end (without what
    leaving the function adds), and must not lose members as that one grows. Blocks that can't be
    reached have none.
    """
    entries = [0] * len(flow.blocks)
    pending = list(flow.order)
    waiting = set(pending)
    while pending:
        index = pending.pop()
        waiting.discard(index)
        new = through(index, after(flow, entries, index))
        if new != entries[index]:
            entries[index] = new
            for predecessor in flow.reached_predecessors(index):
                if predecessor not in waiting:
                    waiting.add(predecessor)
                    pending.append(predecessor)
    return entries


def after(flow: ControlFlow, entries: list[int], index: int) -> int:
    """The union of what a block's successors have on entry."""
    out = 0
    for successor in flow.blocks[index].successors:
        out |= entries[successor]
    return out
