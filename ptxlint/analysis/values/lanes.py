"""Which threads execute a block, and which take an edge, where that is known exactly."""

from __future__ import annotations

from typing import NamedTuple

from ...isa.driver_functions import is_known
from ...ptx.ir import Function, Symbol
from ..facts import Facts
from ..flow.control import control_dependence
from ..shared import named_symbols
from .divergence import PARTED
from .edges import bits_of
from .pattern import Pattern
from .solver import Solver


class Threads(NamedTuple):
    """``bits`` is a set of threads of the space, bit *t* for thread *t*: of a warp that executes
    the place, exactly these do (of a guard that all lanes agree on: these, or none of the warp).
    ``assumptions`` as bits.
    """

    bits: int
    assumptions: int


class _Where(NamedTuple):
    threads: Threads
    uniform: bool


class Lanes:
    """The threads of blocks and edges of one function; None where they are not known.

    Of a loop that a warp's lanes leave at different turns, nothing is known inside.
    """

    def __init__(self, function: Function, facts: Facts, solver: Solver) -> None:
        self._solver = solver
        self._flow = solver.flow
        self._tree = facts.once(function, control_dependence).tree
        self._blocks: list[Threads | None] = [None] * len(solver.flow.blocks)
        if solver.flow.blocks and solver.flow.resolved and not _may_leave_inside(function, facts):
            self._fill()

    def block(self, block: int) -> Threads | None:
        """The threads that execute a block."""
        return self._blocks[block]

    def edge(self, block: int, successor: int) -> Threads | None:
        """The threads that go from a block to one of its successors."""
        here = self._blocks[block]
        split = self._flow.blocks[block]
        if here is None or (len(split.successors) == 1 and not split.leaves):
            return here
        terminator = self._flow.terminator(split)
        if terminator is None or terminator.guard is None:
            # brx: all of a warp go the same way where the index is uniform.
            return here if self._solver.divergence.levels[block] != PARTED else None
        taken = self._where(self._solver.guard_at(split.stop - 1), here)
        if taken is None or taken.uniform or successor in split.taken:
            return None if taken is None else taken.threads
        rest = here.bits & ~taken.threads.bits
        return Threads(rest, taken.threads.assumptions)

    def instruction(self, index: int) -> Threads | None:
        """The threads that execute an instruction, those left out for which its guard is false."""
        here = self._blocks[self._flow.block_of[index]]
        if here is None or self._flow.instructions[index].guard is None:
            return here
        found = self._where(self._solver.guard_at(index), here)
        return None if found is None else found.threads

    def _where(self, predicate: Pattern | None, here: Threads) -> _Where | None:
        """Those for which a predicate holds; all where a warp's lanes agree on it."""
        if predicate is None:
            return None
        assumptions = here.assumptions | predicate.assumptions
        if predicate.is_exact:
            bits = here.bits & bits_of(self._solver, predicate)
            return _Where(Threads(bits, assumptions), False)
        if predicate.is_uniform:
            return _Where(Threads(here.bits, assumptions), True)
        return None

    def _fill(self) -> None:
        entry = self._flow.order[0]
        self._blocks[entry] = Threads(self._solver.space.everyone, 0)
        for block in self._flow.order[1:]:
            if not self._steady(block) or self._only_leaves(block):
                continue
            above = self._above(block)
            if self._tree.dominates(block, above):
                self._blocks[block] = self._blocks[above]
                continue
            edges = [
                self.edge(p, block)
                for p in self._flow.reached_predecessors(block)
                if not self._turns(p, block)
            ]
            if edges and edges[0] is not None and all(e == edges[0] for e in edges):
                self._blocks[block] = edges[0]

    def _only_leaves(self, block: int) -> bool:
        """Whether a block is but the end: lanes that are there need not wait for the others, and
        do not where those wait for them in a warp operation.
        """
        here = self._flow.blocks[block]
        return here.leaves and here.stop - here.start == 1

    def _steady(self, block: int) -> bool:
        """Whether each turn of all loops around a block has the same lanes of a warp."""
        state = self._solver.divergence
        control = state.control
        for loop in state.loops.around(block):
            if PARTED in (state.leaving[loop.index], state.mixed[loop.index]):
                return False
            for source, to in loop.exits:
                # By a way straight out of the function, lanes may go one by one.
                if to is None or (
                    to not in control.onward[source] and not control.doomed >> to & 1
                ):
                    return False
        return True

    def _above(self, block: int) -> int:
        """The nearest dominator that is in no loop that the block is not in."""
        around, parent = self._solver.divergence.around, self._solver.dominators.parent
        above = parent[block]
        while around[above] & ~around[block]:
            above = parent[above]
        return above

    def _turns(self, source: int, block: int) -> bool:
        """Whether an edge goes back to a loop's header."""
        loop = self._solver.divergence.loops.innermost(block)
        return loop is not None and loop.header == block and source in loop


def _may_leave_inside(function: Function, facts: Facts) -> bool:
    """Whether a called function may end the thread."""
    if "call" not in facts.module.mnemonics:
        return False
    seen, waiting = {id(function)}, [function]
    while waiting:
        each = waiting.pop()
        for instruction in each.instructions:
            mnemonic = instruction.opcode.mnemonic
            if mnemonic == "exit" and each is not function:
                return True
            if mnemonic == "call" and not any(
                isinstance(o, Symbol) and isinstance(o.target, Function)
                for o in instruction.operands
            ):
                return True
        for target in facts.once(each, named_symbols):
            if isinstance(target, Function) and id(target) not in seen:
                seen.add(id(target))
                if target.body is not None:
                    waiting.append(target)
                elif not is_known(target.name):
                    return True
    return False
