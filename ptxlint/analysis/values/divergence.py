"""What follows from a branch that lanes take differently: joins, loops and ways out of them.

The schedule is the one in which the lanes of a warp meet again at the immediate post-dominator of
the branch that parted them; the ways straight out of the function, and those that only trap, count
for nothing to the lanes that stay.
"""

from __future__ import annotations

from ...ptx.ir import Function
from ..bitset import members
from ..facts import Facts
from ..flow.control import Control, control_of_remaining
from ..flow.graph import ControlFlow, control_flow
from ..flow.loops import Loop, Loops, loops

# How a branch is taken: the same way by all of the block, by all of each warp, or not so.
AGREED, BY_WARP, PARTED = range(3)
_BUDGET = 200


class Divergence:
    """Which joins choose between their ways by thread, and which loops lanes leave at different
    turns. Levels as above; they only rise as ``part`` is told of branches.

    ``deciders[b]`` are branches that decide by which edge block *b* is entered, of those told of;
    ``joins`` is the same by branch.
    ``rests[b]`` is what it rests on that the branch at the end of *b* is taken alike.
    ``around[b]`` is the set of loops around a block, as bits.
    """

    __slots__ = (
        "_budget",
        "around",
        "control",
        "deciders",
        "exits",
        "flow",
        "joins",
        "leaving",
        "levels",
        "loops",
        "lost",
        "mixed",
        "rests",
    )

    def __init__(self, flow: ControlFlow, control: Control, nest: Loops) -> None:
        self.flow = flow
        self.control = control
        self.loops = nest
        self.rests: dict[int, int] = {}
        self.levels = [AGREED] * len(flow.blocks)
        self.deciders: dict[int, list[int]] = {}
        self.joins: dict[int, set[int]] = {}
        self.mixed = [AGREED] * len(nest.all)
        self.leaving = [AGREED] * len(nest.all)
        self.around = [0] * len(flow.blocks)
        self.exits: list[int] = []
        self.lost = False
        for loop in nest.all:
            self._enter(loop)
        if not flow.resolved:
            self._lose()
        self._budget = _BUDGET * len(flow.blocks) + 20_000

    def _enter(self, loop: Loop) -> None:
        for block in members(loop.blocks):
            self.around[block] |= 1 << loop.index
        leaving = 0
        for block, to in loop.exits:
            if to is not None and to in self.control.onward[block]:
                leaving |= 1 << block
        self.exits.append(leaving)
        if not loop.reducible:
            self.mixed[loop.index] = self.leaving[loop.index] = PARTED

    def ways(self, branch: int) -> list[int]:
        """The blocks that a branch may lead to, for lanes that stay."""
        return [s for s in self.control.onward[branch] if s != self.control.exit]

    def _lose(self) -> None:
        """Know nothing from now on: the branches are not known, or the function is too large."""
        self.lost = True
        self.mixed = [PARTED] * len(self.mixed)
        self.leaving = [PARTED] * len(self.leaving)

    def part(self, branch: int, level: int) -> int:
        """Lanes part at a branch. Gives the loops (a bit set) of which more is no longer uniform;
        ``joins`` has the blocks that are now entered by different edges.
        """
        if self.levels[branch] >= level:
            return 0
        self.levels[branch] = level
        ways = self.ways(branch)
        if len(ways) < 2:
            return 0
        join = self.control.join(branch)
        regions = [self._reached(way, join) for way in ways]
        if self._budget < 0:
            if not self.lost:
                self._lose()
                self.joins[branch] = {b.index for b in self.flow.blocks if len(b.predecessors) > 1}
            return (1 << len(self.loops.all)) - 1
        twice, once = 0, 0
        for region in regions:
            twice |= once & region
            once |= region
        if join != self.control.exit and join >= 0:
            twice |= 1 << join
        self._enter_joins(branch, twice)
        return self._enter_loops(branch, join, once, level)

    def _reached(self, start: int, join: int) -> int:
        if start == join:
            return 0
        seen, stack = 1 << start, [start]
        exit_ = self.control.exit
        while stack:
            for way in self.control.onward[stack.pop()]:
                if way not in (join, exit_) and not seen >> way & 1:
                    seen |= 1 << way
                    stack.append(way)
            self._budget -= 1
        return seen

    def _enter_joins(self, branch: int, twice: int) -> None:
        found = set[int]()
        for block in members(twice):
            if len(self.flow.blocks[block].predecessors) > 1:
                deciders = self.deciders.setdefault(block, [])
                if branch not in deciders:
                    deciders.append(branch)
                found.add(block)
        self.joins[branch] = found

    def _enter_loops(self, branch: int, join: int, region: int, level: int) -> int:
        changed = 0
        for loop in self.loops.around(branch):
            bit = 1 << loop.index
            inside = join < len(self.flow.blocks) and join in loop
            passes = region >> loop.header & 1
            if inside and join != loop.header and passes and self.mixed[loop.index] < level:
                self.mixed[loop.index] = level
                changed |= bit
            leaves = self.exits[loop.index]
            if (leaves >> branch & 1 or leaves & region) and self.leaving[loop.index] < level:
                self.leaving[loop.index] = level
                changed |= bit
        return changed

    def level(self, block: int, inside: Loop | None = None, outside: bool = False) -> int:
        """How the edge into a block is chosen. Of a loop's header: by branches ``inside`` the
        loop (which latch), or ``outside`` it (which way in).
        """
        if self.lost:
            return PARTED
        found = AGREED
        for branch in self.deciders.get(block, ()):
            if inside is not None and (branch in inside) == outside:
                continue
            found = max(found, self.levels[branch])
        return found


def divergence(function: Function, facts: Facts) -> Divergence:
    """The structure of a function, with no branch parted yet: a new one for each user."""
    return Divergence(
        facts.once(function, control_flow),
        facts.once(function, control_of_remaining),
        facts.once(function, loops),
    )
