"""The condensed form: only the instructions whose order memory, or another thread, can see."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ...isa.memory import PREFETCH
from ...ptx.ir import Function
from ..bitset import members
from ..facts import Facts
from ..flow.dataflow import after, backward
from ..flow.graph import ControlFlow, control_flow
from ..memory.access import Access
from ..memory.accesses import accesses
from .barriers import Barrier, barriers
from .polling import polling_branches

_UNSEEN = frozenset({"const", "param", "local", "texture"})


class Node:
    """One instruction that order matters to.

    ``accesses`` are those of memory that others can see, ``barrier`` what it orders, ``polls`` for
    a branch that leaves a waiting loop the loads that it waits on (instructions). ``successors``
    and ``predecessors`` are nodes by number, next to it on some path with none in between.
    """

    __slots__ = ("accesses", "barrier", "index", "number", "polls", "predecessors", "successors")

    def __init__(self, number: int, index: int) -> None:
        self.number = number
        self.index = index
        self.accesses: tuple[Access, ...] = ()
        self.barrier: Barrier | None = None
        self.polls: tuple[int, ...] = ()
        self.successors: list[int] = []
        self.predecessors: list[int] = []


class Ordering:
    """The nodes of a function that can be reached, in the order of the text.

    ``first`` are those that come first on some path; ``last`` those after which the function can
    end with nothing in between. ``at`` gives the node of an instruction.
    """

    __slots__ = ("at", "first", "last", "nodes")

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.at = {node.index: node for node in nodes}
        self.first: list[int] = []
        self.last: list[int] = []

    def onward(self, number: int, stop: set[int]) -> Iterator[int]:
        """The nodes that can follow one on paths that end at, and include, a node of ``stop``.

        The node itself too, where a path comes back to it.
        """
        seen, stack = set[int](), list(self.nodes[number].successors)
        while stack:
            each = stack.pop()
            if each in seen:
                continue
            seen.add(each)
            yield each
            if each not in stop:
                stack += self.nodes[each].successors


def ordering(function: Function, facts: Facts) -> Ordering:
    """The condensed form of a function; empty where nothing in it is ordered."""
    flow = facts.once(function, control_flow)
    result = Ordering(_nodes(function, facts, flow))
    if not result.nodes:
        return result
    of_block: list[list[Node]] = [[] for _ in flow.blocks]
    for node in result.nodes:
        of_block[flow.block_of[node.index]].append(node)
    end = 1 << len(result.nodes)
    ahead = _ahead(flow, of_block, end)
    for index in flow.order:
        nodes = of_block[index]
        for node, following in pairwise(nodes):
            node.successors.append(following.number)
        if nodes:
            onward = after(flow, ahead, index)
            nodes[-1].successors += members(onward & ~end)
            if flow.blocks[index].leaves or onward & end:
                result.last.append(nodes[-1].number)
    result.first = list(members(ahead[0] & ~end))
    for node in result.nodes:
        for successor in node.successors:
            result.nodes[successor].predecessors.append(node.number)
    return result


def _nodes(function: Function, facts: Facts, flow: ControlFlow) -> list[Node]:
    seen: dict[int, list[Access]] = {}
    for access in facts.once(function, accesses):
        if access.space not in _UNSEEN and access.kind != PREFETCH:
            seen.setdefault(access.index, []).append(access)
    order = {barrier.at: barrier for barrier in facts.once(function, barriers)}
    polls = facts.once(function, polling_branches)
    nodes: list[Node] = []
    for index in sorted({*seen, *order, *polls}):
        if flow.reached >> flow.block_of[index] & 1:
            node = Node(len(nodes), index)
            node.accesses = tuple(seen.get(index, ()))
            node.barrier = order.get(index)
            node.polls = polls.get(index, ())
            nodes.append(node)
    return nodes


def _ahead(flow: ControlFlow, of_block: list[list[Node]], end: int) -> list[int]:
    """For each block the first nodes from its start on (a bit set), and the bit ``end`` where the
    function can end with no node in between.
    """

    def through(index: int, out: int) -> int:
        if of_block[index]:
            return 1 << of_block[index][0].number
        return out | end if flow.blocks[index].leaves else out

    return backward(flow, through)
