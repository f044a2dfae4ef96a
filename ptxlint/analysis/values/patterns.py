"""The pattern domain: ``patterns(function, facts)`` says of any value how threads differ in it."""

from __future__ import annotations

from ...ptx.ir import Address, Function, Operand
from ..facts import Facts
from ..flow.ssa import ENTRY, PHI, Values, values
from .algebra import Algebra
from .lanes import Lanes, Threads
from .pattern import Pattern
from .solver import Solver
from .threads import ThreadSpace, thread_space, vectors_of_module
from .vectors import Vectors


class Patterns:
    """Patterns of one function, worked out as they are asked for.

    ``space`` says what the thread vectors run over. None, everywhere, means unknown.
    """

    def __init__(
        self, function: Function, facts: Facts, space: ThreadSpace, interior: bool = False
    ) -> None:
        self.space = space
        self._function = function
        self._facts = facts
        self._lanes: Lanes | None = None
        self._ssa: Values = facts.once(function, values)
        tables = facts.of_module(vectors_of_module)
        if space.size not in tables:
            tables[space.size] = Vectors(space.size)
        self.algebra = Algebra(tables[space.size])
        self.solver = Solver(function, facts, space, self.algebra, interior)

    def solve_all(self) -> None:
        """Work all patterns out at once: less work than one by one where most are asked for."""
        self.solver.solve_all()

    def of(self, value: int) -> Pattern | None:
        """The pattern of a value of ``flow.ssa``, where it is defined."""
        self.solver.solve((value,))
        made = self._ssa.all[value]
        if made.kind == ENTRY:
            return None
        # What it is a copy of may be the same in all only inside a loop that lies before.
        block = made.at if made.kind == PHI else self.solver.flow.block_of[made.at]
        return self.solver.seen(value, block)

    def at(self, instruction: int, operand: Operand, width: int = 0) -> Pattern | None:
        """The pattern of an operand as an instruction reads it, in ``width`` bits (0: its own)."""
        self.solver.solve(self._ssa.reads[instruction])
        self.solver.at(instruction)
        return self.solver.read(operand, width)

    def address(self, instruction: int, operand: Address) -> Pattern | None:
        """The pattern of an address, with its offset; in the state space that is written."""
        self.solver.solve(self._ssa.reads[instruction])
        self.solver.at(instruction)
        return self.solver.address(operand)

    def lanes(self, block: int) -> Threads | None:
        """The threads that execute a block."""
        return self._execution().block(block)

    def edge_threads(self, block: int, successor: int) -> Threads | None:
        """The threads that go from a block to one of its successors."""
        return self._execution().edge(block, successor)

    def threads(self, instruction: int) -> Threads | None:
        """The threads that execute an instruction, its guard included."""
        self.solver.solve(self._ssa.reads[instruction])
        return self._execution().instruction(instruction)

    def _execution(self) -> Lanes:
        if self._lanes is None:
            blocks = [b for b in self.solver.flow.blocks if len(b)]
            ends = [b.stop - 1 for b in blocks if b.leaves or len(b.successors) > 1]
            self.solver.solve([value for end in ends for value in self._ssa.reads[end]])
            self._lanes = Lanes(self._function, self._facts, self.solver)
        return self._lanes


def patterns(function: Function, facts: Facts) -> Patterns:
    """The patterns of a function over its thread space."""
    return Patterns(function, facts, facts.once(function, thread_space))


def interior_patterns(function: Function, facts: Facts) -> Patterns:
    """The same of a warp in which all bound checks agree: for rules on performance only."""
    return Patterns(function, facts, facts.once(function, thread_space), interior=True)


def patterns_in_rows_of_16(function: Function, facts: Facts) -> Patterns | None:
    """The same in blocks of 16 threads in x; None where the space does not depend on rows."""
    other = facts.once(function, thread_space).alternative
    return None if other is None else Patterns(function, facts, other)
