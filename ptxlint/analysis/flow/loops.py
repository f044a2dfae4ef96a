"""Loops: what runs again, how loops nest, where they are left."""

from __future__ import annotations

from ...ptx.ir import Function
from ..bitset import members
from ..facts import Facts
from .dominance import dominators
from .graph import ControlFlow, control_flow


class Loop:
    """A loop: the blocks (a bit set) that can come back to ``header``, which is entered first.

    ``latches`` are the blocks that jump back, ``exits`` the edges (from, to) that leave, ``to``
    None where the function is left. ``reducible`` is False where the loop has another way in.
    """

    __slots__ = ("blocks", "depth", "exits", "header", "index", "latches", "parent", "reducible")

    def __init__(self, header: int, latches: tuple[int, ...], blocks: int) -> None:
        self.header = header
        self.latches = latches
        self.blocks = blocks
        self.reducible = True
        self.index = -1
        self.parent: Loop | None = None
        self.depth = 1
        self.exits: tuple[tuple[int, int | None], ...] = ()

    def __contains__(self, block: int) -> bool:
        return bool(self.blocks >> block & 1)


class Loops:
    """All loops of a function, an outer one before those inside it."""

    __slots__ = ("_innermost", "all")

    def __init__(self, loops: list[Loop], blocks: int) -> None:
        self.all = loops
        self._innermost: list[Loop | None] = [None] * blocks
        for loop in loops:  # inner ones come later and overwrite
            for block in members(loop.blocks):
                self._innermost[block] = loop

    def innermost(self, block: int) -> Loop | None:
        """The innermost loop that a block is in."""
        return self._innermost[block]

    def depth(self, block: int) -> int:
        """How many loops a block is in."""
        loop = self._innermost[block]
        return 0 if loop is None else loop.depth

    def around(self, block: int) -> list[Loop]:
        """The loops that a block is in, the innermost first."""
        found, loop = [], self._innermost[block]
        while loop is not None:
            found.append(loop)
            loop = loop.parent
        return found


def loops(function: Function, facts: Facts) -> Loops:
    """The loops of a function: natural ones, and the cycles with more than one way in."""
    graph = facts.once(function, control_flow)
    tree = facts.once(function, dominators)
    position = {index: i for i, index in enumerate(graph.order)}
    latches: dict[int, list[int]] = {}
    irregular: dict[int, list[int]] = {}
    for index in graph.order:
        for successor in graph.blocks[index].successors:
            if position[successor] <= position[index]:
                kind = latches if tree.dominates(successor, index) else irregular
                kind.setdefault(successor, []).append(index)
    found = [
        Loop(header, tuple(ends), _body(graph, header, ends)) for header, ends in latches.items()
    ]
    for header, ends in irregular.items():
        found.append(loop := Loop(header, tuple(ends), _cycle(graph, header, ends)))
        loop.reducible = False
    found.sort(key=lambda loop: -loop.blocks.bit_count())
    for index, loop in enumerate(found):
        loop.index = index
        _place(graph, loop, found[:index])
    return Loops(found, len(graph.blocks))


def _place(graph: ControlFlow, loop: Loop, larger: list[Loop]) -> None:
    for outer in reversed(larger):
        if outer.blocks & loop.blocks == loop.blocks and outer.blocks != loop.blocks:
            loop.parent = outer
            loop.depth = outer.depth + 1
            break
    exits: list[tuple[int, int | None]] = []
    for index in members(loop.blocks):
        block = graph.blocks[index]
        exits += [(block.index, s) for s in block.successors if s not in loop]
        if block.leaves:
            exits.append((block.index, None))
    loop.exits = tuple(exits)


def _body(graph: ControlFlow, header: int, latches: list[int]) -> int:
    """The blocks that reach a latch without passing the header."""
    blocks = 1 << header
    stack = list(latches)
    while stack:
        index = stack.pop()
        if not blocks >> index & 1:
            blocks |= 1 << index
            stack += graph.reached_predecessors(index)
    return blocks


def _cycle(graph: ControlFlow, header: int, ends: list[int]) -> int:
    """The blocks that the header reaches and that come back to it."""
    ahead, stack = 1 << header, [header]
    while stack:
        for successor in graph.blocks[stack.pop()].successors:
            if not ahead >> successor & 1:
                ahead |= 1 << successor
                stack.append(successor)
    behind, stack = 1 << header, list(ends)
    while stack:
        index = stack.pop()
        if not behind >> index & 1:
            behind |= 1 << index
            stack += graph.blocks[index].predecessors
    return ahead & behind
