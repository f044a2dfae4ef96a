"""Why a lane is not at an operation: it has left the kernel, or it is elsewhere and alive."""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function, Instruction
from ..bitset import members
from ..facts import Facts
from ..flow.control import Control, control_of_remaining
from ..flow.graph import ControlFlow
from ..values.pattern import alike
from .execution import Known
from .operations import MNEMONICS, WarpOperation, needed_operands

# What others may see or wait for: a thread that does nothing of this any more is as good as gone.
_MEMORY = frozenset({"st", "atom", "red", "cp", "stmatrix", "sust", "sured", "multimem"})
_WAITING = frozenset({"barrier", "membar", "fence", "mbarrier", "griddepcontrol", "setmaxnreg"})
_MATRIX = frozenset({"mma", "wmma", "wgmma", "tcgen05"})
_NOTICED = MNEMONICS | _MEMORY | _WAITING | _MATRIX | {"call", "trap"}
GONE, ELSEWHERE, UNKNOWN = "gone", "elsewhere", "unknown"


class Absence(NamedTuple):
    """Where lanes are: ``what`` is ``gone`` (they have exited, or do nothing more that others
    notice), ``elsewhere`` (alive, and with no operation that could be the same) or ``unknown``.
    ``branch`` is the instruction that parted them from the others: a branch, or the operation
    itself where it is guarded.
    """

    what: str
    branch: int | None = None


_UNKNOWN = Absence(UNKNOWN)


class Absences:
    """Finds out about lanes of one function that don't execute an operation."""

    def __init__(self, function: Function, facts: Facts, known: Known) -> None:
        self._known = known
        self._flow: ControlFlow = known.flow
        self._dominators = known.dominators
        self._control: Control = facts.once(function, control_of_remaining)
        self._takes = needed_operands(function, facts)
        self._quiet: dict[int, bool] = {}

    def of(self, operation: WarpOperation, thread: int) -> Absence:
        """Where a thread is that exists and does not execute the operation."""
        block = self._flow.block_of[operation.at]
        here = self._known.block(block)
        if here is None:
            return _UNKNOWN
        if here.bits >> thread & 1:
            return self._passing(operation, block)
        chain = [block]
        while self._dominators.parent[chain[-1]] >= 0:
            chain.append(self._dominators.parent[chain[-1]])
        for above, below in zip(chain[:0:-1], chain[-2::-1], strict=True):
            before, after = self._known.block(above), self._known.block(below)
            if before is None or not before.bits >> thread & 1:
                return _UNKNOWN
            if after is not None and not after.bits >> thread & 1:
                return self._parted(operation, above, below, thread)
        return _UNKNOWN

    def _passing(self, operation: WarpOperation, block: int) -> Absence:
        """Of a lane that comes along and whose guard is false."""
        start, stop = self._flow.blocks[block].start, self._flow.blocks[block].stop
        if any(self._stands_in(operation, i) for i in range(start, stop)):
            return _UNKNOWN
        rest = self._flow.instructions[operation.at + 1 : stop]
        busy = any(_noticed(i) for i in rest) or not self._ends_quietly(block, False)
        return Absence(ELSEWHERE if busy else GONE, operation.at)

    def _parted(self, operation: WarpOperation, above: int, below: int, thread: int) -> Absence:
        """Of a lane that a branch at the end of block ``above`` leads away from ``below``."""
        ways = self._flow.blocks[above].successors
        branch = self._flow.blocks[above].stop - 1
        if below not in ways:
            return _UNKNOWN
        taken = []
        for way in ways:
            threads = self._known.edge(above, way)
            if threads is None:
                return _UNKNOWN
            if threads.bits >> thread & 1:
                taken.append(way)
        if not taken:  # a guarded ret or exit
            return Absence(GONE, branch) if self._flow.blocks[above].leaves else _UNKNOWN
        if len(taken) > 1:
            return _UNKNOWN
        return self._from(operation, above, taken[0], branch)

    def _from(self, operation: WarpOperation, above: int, way: int, branch: int) -> Absence:
        if self._control.doomed >> way & 1 or self._ends_quietly(way, True):
            return Absence(GONE, branch)
        join = self._control.join(above)
        if join in (self._control.exit, -1):
            return _UNKNOWN
        between = self._reached(way, join)
        if between >> above & 1:
            return _UNKNOWN
        for block in members(between):
            each = self._flow.blocks[block]
            if each.leaves and not self._control.doomed >> block & 1:
                return _UNKNOWN
            for i in range(each.start, each.stop):
                if self._flow.instructions[i].opcode.mnemonic == "call" or self._may_match(
                    operation, i
                ):
                    return _UNKNOWN
        if self._ends_quietly(join, True):
            return Absence(GONE, branch)
        if operation.opcode.mnemonic == "bar" and self._meets_later(operation, join):
            return _UNKNOWN
        return Absence(ELSEWHERE, branch)

    def _stands_in(self, operation: WarpOperation, index: int) -> bool:
        """Whether lanes that pass the operation by may execute it elsewhere in its block: as an
        instruction that those who execute it pass by in turn (complementary guards).
        """
        if not self._may_match(operation, index):
            return False
        one, other = self._known.threads(operation.at), self._known.threads(index)
        return one is None or other is None or not one.bits & other.bits

    def _may_match(self, operation: WarpOperation, index: int) -> bool:
        """Whether lanes at another instruction may be taken to execute the same operation."""
        other = self._flow.instructions[index]
        if index == operation.at or other.opcode is not operation.opcode:
            return False
        if other.opcode not in self._takes or not other.operands:
            return False
        masks = [
            self._known.operand(i, operand)
            for i, operand in ((operation.at, operation.mask), (index, other.operands[-1]))
        ]
        one, two = masks
        if one is None or two is None or not one.is_exact or not two.is_exact:
            return True
        return alike(one, two)

    def _reached(self, start: int, end: int = -1) -> int:
        return 0 if start == end else 1 << start | self._flow.following(start, end)

    def _meets_later(self, operation: WarpOperation, start: int) -> bool:
        """bar.warp.sync need not be the same instruction: whether a later one has this mask."""
        return any(self._may_match(operation, i) for i in self._flow.places(self._reached(start)))

    def _ends_quietly(self, start: int, inclusive: bool) -> bool:
        """Whether from a block's start (else its end) on nothing happens that others notice."""
        if inclusive:
            if start not in self._quiet:
                self._quiet[start] = self._is_quiet(self._reached(start))
            return self._quiet[start]
        return all(self._ends_quietly(s, True) for s in self._flow.blocks[start].successors)

    def _is_quiet(self, blocks: int) -> bool:
        for block in members(blocks):
            each = self._flow.blocks[block]
            if any(_noticed(self._flow.instructions[i]) for i in range(each.start, each.stop)):
                return False
        return True


def _noticed(instruction: Instruction) -> bool:
    return instruction.opcode.mnemonic in _NOTICED
