"""What is known by thread of one function: who executes what, and with which values."""

from __future__ import annotations

from ...ptx.ir import Function, Operand
from ..facts import Facts
from ..values.edges import bits_of
from ..values.lanes import Lanes, Threads
from ..values.pattern import Pattern
from ..values.patterns import (
    Patterns,
    interior_patterns,
    patterns,
    patterns_in_rows_of_16,
)


class Known:
    """Values and executing threads of one function, over the threads of ``made.space``.

    Thread sets are ints, bit *t* for thread *t*. None, everywhere, means unknown.
    """

    def __init__(self, function: Function, facts: Facts, made: Patterns) -> None:
        self.made = made
        self.space = made.space
        self.flow = made.solver.flow
        self.dominators = made.solver.dominators
        guarded = [
            value
            for block in self.flow.blocks
            if block.stop > block.start and self.flow.instructions[block.stop - 1].guard is not None
            for value in made.solver.ssa.reads[block.stop - 1]
        ]
        made.solver.solve(guarded)
        # What runs in a device function depends on its callers.
        self._lanes = Lanes(function, facts, made.solver) if function.is_kernel else None

    def block(self, block: int) -> Threads | None:
        """The threads that execute a block."""
        return None if self._lanes is None else self._lanes.block(block)

    def edge(self, block: int, successor: int) -> Threads | None:
        """The threads that go from a block to one of its successors."""
        return None if self._lanes is None else self._lanes.edge(block, successor)

    def threads(self, index: int) -> Threads | None:
        """The threads that execute an instruction, its guard included."""
        if self._lanes is None:
            return None
        self.made.solver.solve(self.made.solver.ssa.reads[index])
        return self._lanes.instruction(index)

    def guard(self, index: int) -> Pattern | None:
        """The guard of an instruction."""
        self.made.solver.solve(self.made.solver.ssa.reads[index])
        return self.made.solver.guard_at(index)

    def operand(self, index: int, operand: Operand, width: int = 32) -> Pattern | None:
        """The pattern of an operand as an instruction reads it."""
        return self.made.at(index, operand, width)

    def numbers(self, pattern: Pattern | None) -> tuple[int, ...] | None:
        """The unsigned values of a pattern in each thread, where nothing in it is symbolic."""
        if pattern is None or not pattern.is_exact:
            return None
        return self.made.algebra.vectors.materialise(pattern.exact, pattern.width, False)

    def holds(self, predicate: Pattern) -> int:
        """The threads for which an exact predicate is true."""
        return bits_of(self.made.solver, predicate)


def known(function: Function, facts: Facts) -> Known:
    """What is known of a function by its launch shape or the stated assumption."""
    return Known(function, facts, facts.once(function, patterns))


def known_inside(function: Function, facts: Facts) -> Known:
    """The same of a warp in which all bound checks agree."""
    return Known(function, facts, facts.once(function, interior_patterns))


def known_in_rows_of_16(function: Function, facts: Facts) -> Known | None:
    """The same in blocks 16 threads wide; None where nothing depends on the width."""
    made = facts.once(function, patterns_in_rows_of_16)
    return None if made is None else Known(function, facts, made)
