"""Control dependence, after Ferrante, Ottenstein and Warren (1987).

Blocks that can only trap are taken away first: what stands behind a failed assertion says nothing
about which lanes go on. So are, on demand, the ways straight out of the function: for the threads
that are still there, an early return of others is no branch.
"""

from __future__ import annotations

from ...ptx.ir import Function, Instruction, Symbol
from ..bitset import members
from ..facts import Facts, by_opcode
from .dominance import Tree, backward_tree
from .graph import BasicBlock, ControlFlow, control_flow

# The driver's own functions that never return.
_NEVER_RETURN = frozenset({"__assertfail", "__assert_fail"})


class Control:
    """What decides whether a block runs.

    ``direct[b]`` are the edges (branch block, successor) that block *b* depends on: it runs
    whenever the edge is taken, and the branch block has another way that need not lead to it.
    ``onward[b]`` are the ways on that count; the last number, ``exit``, is the way out.
    ``tree`` is the post-dominator tree over them. ``doomed`` (a bit set) are blocks that can only
    trap, ``endless`` those from which no way leads out: what post-dominates them is made up.
    """

    __slots__ = (
        "_backward",
        "_mixed",
        "_regions",
        "direct",
        "doomed",
        "endless",
        "exit",
        "onward",
        "tree",
    )

    def __init__(self, onward: list[list[int]], kept: list[int], doomed: int) -> None:
        self.onward = onward
        self.exit = len(onward) - 1
        self.doomed = doomed
        self.tree: Tree
        self.tree, ends = backward_tree(kept, onward)
        self.endless = _leading_to(onward, ends)
        self.direct: list[list[tuple[int, int]]] = [[] for _ in range(self.exit)]
        self._regions: dict[int, int] = {}
        self._mixed: dict[int, int] = {}
        self._backward: list[int] | None = None
        self._enter(kept)

    def _enter(self, kept: list[int]) -> None:
        parent = self.tree.parent
        for branch in kept:
            if len(self.onward[branch]) < 2:
                continue
            join = parent[branch]
            for successor in self.onward[branch]:
                runner = successor
                while runner not in (join, self.exit):
                    self.direct[runner].append((branch, successor))
                    runner = parent[runner]

    def join(self, block: int) -> int:
        """The immediate post-dominator: where the ways out of a block meet again."""
        return self.tree.parent[block]

    def region(self, branch: int) -> int:
        """The blocks (a bit set) between a branch and its join; the branch itself, if in a loop."""
        known = self._regions.get(branch)
        if known is None:
            join = self.join(branch)
            known, stack = 0, [s for s in self.onward[branch] if s not in (join, self.exit)]
            while stack:
                block = stack.pop()
                if not known >> block & 1:
                    known |= 1 << block
                    stack += [s for s in self.onward[block] if s not in (join, self.exit)]
            self._regions[branch] = known
        return known

    def mixed(self, branch: int) -> int:
        """The blocks (a bit set) before the join that more than one of the ways leads to, the
        branch not passed again.
        """
        known = self._mixed.get(branch)
        if known is None:
            known = self._mixed[branch] = self._find_mixed(branch)
        return known

    def _find_mixed(self, branch: int) -> int:
        join = self.join(branch)
        ends = (join, self.exit, branch)
        ways = [s for s in dict.fromkeys(self.onward[branch]) if s not in ends]
        seen = [1 << way for way in ways]
        stacks = [[way] for way in ways]
        # All in turn, one block each: mostly all but one are short, and the last need not be known.
        while sum(map(bool, stacks)) > 1:
            for number, stack in enumerate(stacks):
                if stack:
                    seen[number] = self._onward(stack, seen[number], ends)
        last = next((number for number, stack in enumerate(stacks) if stack), None)
        if last is not None and self._entered(seen, last, branch):
            while stacks[last]:
                seen[last] = self._onward(stacks[last], seen[last], ends)
        once = found = 0
        for each in seen:
            found |= once & each
            once |= each
        return found

    def _onward(self, stack: list[int], seen: int, ends: tuple[int, ...]) -> int:
        for way in self.onward[stack.pop()]:
            if way not in ends and not seen >> way & 1:
                seen |= 1 << way
                stack.append(way)
        return seen

    def _entered(self, seen: list[int], last: int, branch: int) -> bool:
        """Whether what is seen from the other ways may be entered from elsewhere."""
        if self._backward is None:
            self._backward = [0] * len(self.onward)
            for block, ways in enumerate(self.onward):
                for way in ways:
                    self._backward[way] |= 1 << block
        others = 0
        for number, each in enumerate(seen):
            others |= each if number != last else 0
        outside = ~(others | 1 << branch)
        if any(self._backward[block] & outside for block in members(others)):
            return True
        return bool(others & seen[last])


def control_dependence(function: Function, facts: Facts) -> Control:
    """Control dependence of the blocks, without those that can only trap."""
    graph = facts.once(function, control_flow)
    return _control(graph, facts.once(function, doomed_blocks), frozenset())


def control_of_remaining(function: Function, facts: Facts) -> Control:
    """The same as the threads see it that stay: a guarded ``exit`` or a way to a bare ``ret``
    does not count as a way on, unless it is the only one.
    """
    graph = facts.once(function, control_flow)
    leaving = frozenset(b.index for b in graph.blocks if len(b) == 1 and _only_leaves(graph, b))
    return _control(graph, facts.once(function, doomed_blocks), leaving)


def _control(graph: ControlFlow, doomed: int, leaving: frozenset[int]) -> Control:
    exit_ = len(graph.blocks)
    kept = [index for index in graph.order if not doomed >> index & 1]
    onward: list[list[int]] = [[] for _ in range(exit_ + 1)]
    for index in kept:
        block = graph.blocks[index]
        ways = [s for s in block.successors if not doomed >> s & 1]
        remaining = [s for s in ways if s not in leaving] if leaving else ways
        if block.leaves and not _traps(graph, block) and (not leaving or not remaining):
            remaining = [*remaining, exit_]
        onward[index] = remaining or ways or [exit_]
    return Control(onward, kept, doomed)


def doomed_blocks(function: Function, facts: Facts) -> int:
    """The blocks (a bit set) from which every way leads to a trap; 0 if the entry is one."""
    graph = facts.once(function, control_flow)
    if not any(o.mnemonic in ("trap", "call") for o in facts.once(function, by_opcode)):
        return 0
    doomed = 0
    pending = []
    for index in graph.order:
        if _never_returns(graph, graph.blocks[index]):
            doomed |= 1 << index
            pending.append(index)
    while pending:
        for index in graph.blocks[pending.pop()].predecessors:
            block = graph.blocks[index]
            if doomed >> index & 1 or (block.leaves and not _traps(graph, block)):
                continue
            if all(doomed >> s & 1 for s in block.successors):
                doomed |= 1 << index
                pending.append(index)
    return 0 if doomed & 1 else doomed


def _never_returns(graph: ControlFlow, block: BasicBlock) -> bool:
    for instruction in graph.instructions[block.start : block.stop]:
        mnemonic = instruction.opcode.mnemonic
        if mnemonic == "trap" and instruction.guard is None:
            return True
        if mnemonic == "call" and instruction.guard is None and _calls_the_end(instruction):
            return True
    return False


def _calls_the_end(call: Instruction) -> bool:
    for operand in call.operands[:2]:
        if isinstance(operand, Symbol) and isinstance(operand.target, Function):
            callee = operand.target
            return callee.name in _NEVER_RETURN or callee.directive("noreturn") is not None
    return False


def _traps(graph: ControlFlow, block: BasicBlock) -> bool:
    last = graph.terminator(block)
    return last is not None and last.opcode.mnemonic == "trap"


def _only_leaves(graph: ControlFlow, block: BasicBlock) -> bool:
    last = graph.terminator(block)
    return (
        len(block) == 1
        and last is not None
        and last.guard is None
        and last.opcode.mnemonic in ("ret", "exit")
    )


def _leading_to(onward: list[list[int]], ends: list[int]) -> int:
    """The blocks that reach one of ``ends`` but leave the function only through them."""
    if not ends:
        return 0
    exit_ = len(onward) - 1
    backward: list[list[int]] = [[] for _ in onward]
    for index, ways in enumerate(onward):
        for way in ways:
            if way != exit_ or index not in ends:
                backward[way].append(index)
    able, stack = 1 << exit_, [exit_]
    while stack:
        for index in backward[stack.pop()]:
            if not able >> index & 1:
                able |= 1 << index
                stack.append(index)
    found = 0
    for index, ways in enumerate(onward[:exit_]):
        if ways and not able >> index & 1:
            found |= 1 << index
    return found
