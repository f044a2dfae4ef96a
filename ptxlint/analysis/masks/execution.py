"""What is known by thread of one function: who executes what, and with which values."""

from __future__ import annotations

from ...ptx.ir import Function, Operand
from ..facts import Facts
from ..values.edges import bits_of
from ..values.lanes import Threads
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

    def __init__(self, function: Function, made: Patterns) -> None:
        self.made = made
        self.space = made.space
        self.flow = made.solver.flow
        self.dominators = made.solver.dominators
        # What runs in a device function depends on its callers.
        self._told = function.is_kernel

    def block(self, block: int) -> Threads | None:
        """The threads that execute a block."""
        return self.made.lanes(block) if self._told else None

    def edge(self, block: int, successor: int) -> Threads | None:
        """The threads that go from a block to one of its successors."""
        return self.made.edge_threads(block, successor) if self._told else None

    def threads(self, index: int) -> Threads | None:
        """The threads that execute an instruction, its guard included."""
        return self.made.threads(index) if self._told else None

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
    return Known(function, facts.once(function, patterns))


def known_inside(function: Function, facts: Facts) -> Known:
    """The same of a warp in which all bound checks agree."""
    return Known(function, facts.once(function, interior_patterns))


def known_in_rows_of_16(function: Function, facts: Facts) -> Known | None:
    """The same in blocks 16 threads wide; None where nothing depends on the width."""
    made = facts.once(function, patterns_in_rows_of_16)
    return None if made is None else Known(function, made)
