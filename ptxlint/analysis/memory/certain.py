"""Whether an instruction is executed in every launch, and by which threads."""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function
from ..facts import Facts
from ..flow.control import control_dependence, control_of_remaining
from ..flow.dominance import dominators
from ..flow.graph import control_flow
from ..values.lanes import Threads
from ..values.pattern import Pattern
from ..values.patterns import patterns
from ..values.uniformity import LANE_DEPENDENT, uniformity


class Certain(NamedTuple):
    """An instruction that every launch executes, or every one of which a thread gets past
    ``checks``: the instructions by which, before, threads leave one by one (``i >= n``).

    ``threads`` are those that execute it, of a block; None: not known which, but some.
    """

    threads: Threads | None
    checks: tuple[int, ...]


class Certainty:
    """For the instructions of one kernel; worked out as it is asked for."""

    def __init__(self, function: Function, facts: Facts) -> None:
        self._function = function
        self._facts = facts
        self._flow = facts.once(function, control_flow)
        self._control = facts.once(function, control_dependence)
        self._deciding: dict[int, frozenset[int]] = {}

    def of(self, index: int) -> Certain | None:
        """What is certain of an instruction; None where a launch may pass it by."""
        flow, control = self._flow, self._control
        block = flow.block_of[index]
        unsure = control.doomed | control.endless
        if not self._function.is_kernel or not flow.resolved or not flow.reached >> block & 1:
            return None
        if unsure >> block & 1:
            return None
        branches = self._branches(block)
        open_ = [b for b in branches if not self._is_exact(flow.blocks[b].stop - 1)]
        guarded = flow.instructions[index].guard is not None
        if open_:
            if guarded or len(open_) < len(branches) or not self._checks(block, open_):
                return None
            return Certain(None, tuple(sorted(flow.blocks[b].stop - 1 for b in open_)))
        if guarded and not self._is_exact(index):
            return None
        threads = self._facts.once(self._function, patterns).threads(index)
        if threads is None:
            return Certain(None, ()) if not branches and not guarded else None
        return Certain(threads, ()) if threads.bits else None

    def _branches(self, block: int) -> frozenset[int]:
        """The blocks whose branches decide whether this one is executed at all."""
        if block not in self._deciding:
            over = self._facts.once(self._function, dominators)
            found: set[int] = set()
            waiting = [block]
            while waiting:
                each = waiting.pop()
                for branch, _ in self._control.direct[each]:
                    # The branch of a loop that it is in decides on another turn only.
                    if branch not in found and not over.dominates(each, branch):
                        found.add(branch)
                        waiting.append(branch)
            self._deciding[block] = frozenset(found)
        return self._deciding[block]

    def _is_exact(self, index: int) -> bool:
        """Whether each thread's guard is known."""
        known = self._facts.once(self._function, patterns)
        guard = self._function.instructions[index].guard
        found: Pattern | None = None
        if guard is not None:
            found = known.at(index, guard.register)
        return found is not None and found.is_exact

    def _checks(self, block: int, branches: list[int]) -> bool:
        """Whether these branches only let threads leave, and not all of a block alike."""
        remaining = self._facts.once(self._function, control_of_remaining)
        over = self._facts.once(self._function, dominators)
        if any(not over.dominates(block, branch) for branch, _ in remaining.direct[block]):
            return False
        known = self._facts.once(self._function, uniformity)
        return all(known.branch(branch) == LANE_DEPENDENT for branch in branches)


def certainty(function: Function, facts: Facts) -> Certainty:
    """For ``facts.once``: what is certain of the instructions of a kernel."""
    return Certainty(function, facts)
