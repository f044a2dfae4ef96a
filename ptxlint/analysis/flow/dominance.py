"""Dominators and post-dominators, after Cooper, Harvey and Kennedy (2001)."""

from __future__ import annotations

from collections.abc import Sequence

from ...ptx.ir import Function
from ..facts import Facts
from .graph import ControlFlow, control_flow


class Tree:
    """A dominator tree. ``parent`` is the immediate dominator; -1 for the root and for nodes
    that the root does not reach.

    Of a post-dominator tree the root is one node more than there are blocks: the way out.
    """

    __slots__ = ("_enter", "_leave", "children", "parent", "root")

    def __init__(self, root: int, parent: list[int]) -> None:
        self.root = root
        self.parent = parent
        self.children: list[list[int]] = [[] for _ in parent]
        for node, above in enumerate(parent):
            if above >= 0:
                self.children[above].append(node)
        self._enter = [-1] * len(parent)
        self._leave = [-1] * len(parent)
        self._number()

    def _number(self) -> None:
        clock = 0
        stack = [(self.root, False)]
        while stack:
            node, done = stack.pop()
            if done:
                self._leave[node] = clock
                continue
            self._enter[node] = clock
            clock += 1
            stack.append((node, True))
            stack.extend((child, False) for child in self.children[node])

    def dominates(self, above: int, below: int) -> bool:
        """Whether every way from the root to ``below`` passes ``above``; a node dominates itself.

        False where either can't be reached.
        """
        enter = self._enter
        return enter[above] >= 0 and enter[above] <= enter[below] < self._leave[above]


def dominators(function: Function, facts: Facts) -> Tree:
    """The dominator tree of the blocks."""
    graph = facts.once(function, control_flow)
    predecessors = [block.predecessors for block in graph.blocks]
    return _tree(graph.order, predecessors, 0) if graph.blocks else Tree(0, [-1])


def post_dominators(function: Function, facts: Facts) -> Tree:
    """The post-dominator tree; its root, ``len(blocks)``, is the way out of the function."""
    graph = facts.once(function, control_flow)
    return post_dominator_tree(graph, frozenset())


def post_dominator_tree(graph: ControlFlow, without: frozenset[int]) -> Tree:
    """Post-dominators of the graph from which the blocks ``without`` are taken away.

    A loop with no way out counts as left at its last block, so that every block has a place.
    """
    blocks = graph.blocks
    exit_ = len(blocks)
    kept = [index for index in graph.order if index not in without]
    onward: list[list[int]] = [[] for _ in range(exit_ + 1)]
    for index in kept:
        block = blocks[index]
        onward[index] = [s for s in block.successors if s not in without]
        if block.leaves or not onward[index]:
            onward[index].append(exit_)
    return backward_tree(kept, onward)[0]


def backward_tree(kept: Sequence[int], onward: list[list[int]]) -> tuple[Tree, list[int]]:
    """The post-dominator tree over the edges ``onward``, whose last node is the way out.

    ``kept`` are the blocks to be placed, in reverse post-order. Gives the tree and the blocks
    that had no way out, each with one in ``onward`` now that the text does not have.
    """
    exit_ = len(onward) - 1
    backward: list[list[int]] = [[] for _ in onward]
    for index in kept:
        for successor in onward[index]:
            backward[successor].append(index)
    reached = set(_postorder(exit_, backward, set()))
    endless = []
    for index in reversed(kept):
        if index not in reached:  # the last block of a loop with no way out
            endless.append(index)
            onward[index].append(exit_)
            backward[exit_].append(index)
            reached.update(_postorder(index, backward, reached))
    return _tree(_postorder(exit_, backward, set())[::-1], onward, exit_), endless


def _postorder(start: int, edges: list[list[int]], known: set[int]) -> list[int]:
    """What ``start`` reaches beyond ``known``, each after what it leads to."""
    seen, order = {start}, list[int]()
    stack = [(start, iter(edges[start]))]
    while stack:
        node, successors = stack[-1]
        for successor in successors:
            if successor not in seen and successor not in known:
                seen.add(successor)
                stack.append((successor, iter(edges[successor])))
                break
        else:
            order.append(node)
            stack.pop()
    return order


def _tree(order: Sequence[int], predecessors: Sequence[Sequence[int]], root: int) -> Tree:
    """``order`` is a reverse post-order from the root."""
    position = [-1] * len(predecessors)
    for i, node in enumerate(order):
        position[node] = i
    parent = [-1] * len(predecessors)
    parent[root] = root
    changed = True
    while changed:
        changed = False
        for node in order:
            if node == root:
                continue
            new = -1
            for other in predecessors[node]:
                if position[other] < 0 or parent[other] < 0:
                    continue
                if new < 0:
                    new = other
                    continue
                while new != other:
                    while position[new] > position[other]:
                        new = parent[new]
                    while position[other] > position[new]:
                        other = parent[other]
            if parent[node] != new:
                parent[node] = new
                changed = True
    parent[root] = -1
    return Tree(root, parent)


def frontiers(graph: ControlFlow, tree: Tree) -> list[list[int]]:
    """The dominance frontier of each block: where what it defines meets other definitions."""
    found: list[list[int]] = [[] for _ in graph.blocks]
    for block in graph.blocks:
        reached = graph.reached_predecessors(block.index)
        if not graph.reached >> block.index & 1 or (len(reached) < 2 and block.index):
            continue
        for runner in reached:
            while runner != tree.parent[block.index] and runner >= 0:
                if block.index not in found[runner]:
                    found[runner].append(block.index)
                runner = tree.parent[runner]
    return found
