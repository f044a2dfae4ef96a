"""Uniformity (divergence) analysis: which values are the same in all lanes of a warp that execute
an instruction together, or in all threads of the block at the same turn of every loop.

Optimistic and sparse. A phi takes the level of the branches on which its definitions differ (per
definition, not per name), and a value that leaves a loop takes that of the exit: lanes that left
at different turns hold different ones, however uniform it was inside. Both follow from where a
branch's ways meet again: there lanes come together, as they do on a machine that reconverges
them at the immediate post-dominator.

In a device function, "all threads" are those that call it together.
"""

from __future__ import annotations

from ...ptx.ir import Function, Operand
from ..facts import Facts
from ..flow.control import control_dependence, control_of_remaining
from ..flow.graph import ControlFlow, control_flow
from ..flow.registers import RegisterUse
from ..flow.ssa import Values, values
from .uniformity_solver import Solver
from .uniformity_states import (
    CTA_UNIFORM,
    LANE_DEPENDENT,
    LANES,
    WARP_UNIFORM,
    assumed,
    join,
    level_of,
)

__all__ = ["CTA_UNIFORM", "LANE_DEPENDENT", "WARP_UNIFORM", "Uniformity", "uniformity"]


class Uniformity:
    """Levels are ``CTA_UNIFORM`` < ``WARP_UNIFORM`` < ``LANE_DEPENDENT``; the last says that
    nothing was proved, not that lanes differ.
    """

    __slots__ = ("_flow", "_reach", "_solver", "_use", "_values")

    def __init__(self, function: Function, facts: Facts) -> None:
        self._flow: ControlFlow = facts.once(function, control_flow)
        self._values: Values = facts.once(function, values)
        self._use: RegisterUse = self._values.use
        self._solver = Solver(function, facts)
        self._solver.run()
        self._reach: dict[bool, list[int]] = {
            remaining: self._reached(function, facts, remaining) for remaining in (False, True)
        }

    def level(self, value: int) -> int:
        """The level of a value where it is defined."""
        return level_of(self._solver.states[value])

    def level_at(self, instruction: int, operand: Operand) -> int:
        """The level of an operand as an instruction reads it: after a loop it may be higher."""
        return level_of(self._solver.state(instruction, operand))

    def guard(self, instruction: int) -> int:
        """The level of an instruction's guard; ``CTA_UNIFORM`` where there is none."""
        return level_of(self._solver.guard(instruction))

    def branch(self, block: int) -> int:
        """The level of the choice that ends a block."""
        return level_of(self._solver.branches[block])

    def block_uniform(self, block: int, remaining: bool = False) -> int:
        """Whether all threads of the CTA, or all lanes of a warp, reach a block together, as the
        level of what decides it. ``remaining``: threads that have left the function, on a way
        that did nothing more, don't count.
        """
        return level_of(self._reach[remaining][block])

    def assumptions(self, value: int) -> tuple[str, ...]:
        """What the level of a value rests on."""
        return self._solver.assumed.names(assumed(self._solver.states[value]))

    def assumptions_at(self, instruction: int, operand: Operand) -> tuple[str, ...]:
        """What the level of an operand rests on."""
        return self._solver.assumed.names(assumed(self._solver.state(instruction, operand)))

    def block_assumptions(self, block: int, remaining: bool = False) -> tuple[str, ...]:
        """What ``block_uniform`` rests on."""
        return self._solver.assumed.names(assumed(self._reach[remaining][block]))

    def _reached(self, function: Function, facts: Facts, remaining: bool) -> list[int]:
        analysis = control_of_remaining if remaining else control_dependence
        control = facts.once(function, analysis)
        branches = self._solver.branches
        reach = [0] * len(self._flow.blocks)
        dependents: dict[int, list[int]] = {}
        for block, edges in enumerate(control.direct):
            for branch, _ in edges:
                dependents.setdefault(branch, []).append(block)
        pending = [branch for branch in dependents if branches[branch]]
        while pending:
            branch = pending.pop()
            decided = join(branches[branch], reach[branch])
            for block in dependents.get(branch, ()):
                new = join(reach[block], decided)
                if new != reach[block]:
                    reach[block] = new
                    pending.append(block)
        for block in range(len(reach)):
            if (control.doomed | control.endless) >> block & 1:
                reach[block] = LANES
        return reach


def uniformity(function: Function, facts: Facts) -> Uniformity:
    """The uniformity of the function's values, branches and blocks."""
    return Uniformity(function, facts)
