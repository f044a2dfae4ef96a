"""Collective instructions that part of a warp, or part of the warps, pass by.

It speaks only of lanes that are known: each thread's guards, or a comparison of what differs from
lane to lane with a number that is the same in all of them, whatever that number is.
"""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function, Instruction, Integer, Register
from ..bitset import members
from ..facts import Facts
from ..flow.control import control_of_remaining
from ..flow.ssa import DEFINITION, values
from ..masks.absence import ELSEWHERE, Absences
from ..masks.execution import Known, known
from ..masks.operations import FULL, WarpOperation
from ..values.assumed import WHOLE_WARPS, texts
from ..values.pattern import Pattern
from ..values.patterns import patterns
from ..values.threads import WARP_SIZE
from .collective import barrier_id, has_count, is_barrier, suspects

LANES, WARPS, BY_NUMBER = "lanes", "warps", "by number"
_UNIT = 5  # a number that is a multiple of 32 parts no warp


class Parted(NamedTuple):
    """An instruction that not all execute together.

    ``kind``: ``lanes`` of a warp part at ``branch``; whole ``warps`` do; ``by number``: lanes do
    where a number that is not known is no multiple of 32. Of warp ``warp``, the lanes ``there``
    exist, and ``executing`` execute it (of ``by number``: None). ``copy`` is another barrier of
    the same number that the others execute.
    """

    kind: str
    instruction: Instruction
    branch: Instruction
    warp: int | None
    there: int
    executing: int | None
    copy: Instruction | None
    assumptions: tuple[str, ...]


def parted(function: Function, facts: Facts) -> list[Parted]:
    """All such instructions of a kernel, in order."""
    wanted = {id(each) for each in facts.once(function, suspects)}
    if not wanted:
        return []
    finder = _Finder(function, facts)
    found = []
    for at, instruction in enumerate(function.instructions):
        if id(instruction) in wanted:
            one = finder.find(at, instruction)
            if one is not None:
                found.append(one)
    return found


class _Finder:
    def __init__(self, function: Function, facts: Facts) -> None:
        self._function = function
        self._facts = facts
        self._known: Known = facts.once(function, known)
        self._flow = self._known.flow
        self._absences = Absences(function, facts, self._known)
        self._control = facts.once(function, control_of_remaining)

    def find(self, at: int, instruction: Instruction) -> Parted | None:
        block = self._flow.block_of[at]
        if not self._flow.resolved or not self._flow.reached >> block & 1:
            return None
        threads = self._known.threads(at)
        if threads is None:
            return self._by_number(at, instruction)
        space = self._known.space
        assumptions = texts(threads.assumptions | (0 if space.exact else WHOLE_WARPS))
        operation = WarpOperation(at, instruction, Integer(FULL))
        idle = []
        for first in range(0, space.size, WARP_SIZE):
            there = (1 << min(WARP_SIZE, space.size - first)) - 1
            executing = threads.bits >> first & there
            if not executing:
                idle.append(first)
            if executing in (0, there):
                continue
            lane = next(members(there & ~executing))
            absence = self._absences.of(operation, first + lane)
            if absence.what == ELSEWHERE and absence.branch is not None:
                branch = self._function.instructions[absence.branch]
                idle_here = (there & ~executing) << first
                copy = self._copy(absence.branch, at, instruction, idle_here)
                warp = first // WARP_SIZE
                return Parted(LANES, instruction, branch, warp, there, executing, copy, assumptions)
        if idle and len(idle) * WARP_SIZE < space.size and space.exact:
            return self._by_warps(operation, idle[0], assumptions)
        return None

    def _copy(
        self, branch: int, at: int, instruction: Instruction, absent: int
    ) -> Instruction | None:
        """Another barrier of the same number on another way from the branch to where they join, or
        in the same block with a guard that lets the ``absent`` threads through.
        """
        if not is_barrier(instruction.opcode):
            return None
        number = barrier_id(instruction)
        if branch == at:
            block = self._flow.blocks[self._flow.block_of[at]]
            for i in range(block.start, block.stop):
                other, threads = self._flow.instructions[i], self._known.threads(i)
                same = is_barrier(other.opcode) and barrier_id(other) in (number, None)
                if i != at and same and (threads is None or threads.bits & absent):
                    return other
            return None
        return next(
            (
                other
                for other in self._between(branch, at)
                if is_barrier(other.opcode) and barrier_id(other) in (number, None)
            ),
            None,
        )

    def _between(self, branch: int, at: int) -> list[Instruction]:
        """What stands between a branch and where its ways join, but for one instruction."""
        source = self._flow.block_of[branch]
        between = self._flow.following(source, self._control.join(source))
        return [self._flow.instructions[i] for i in self._flow.places(between) if i != at]

    def _by_warps(
        self, operation: WarpOperation, first: int, assumptions: tuple[str, ...]
    ) -> Parted | None:
        """A barrier for all threads that whole warps pass by, to come to another one."""
        instruction = operation.instruction
        if not is_barrier(instruction.opcode) or has_count(instruction):
            return None
        absence = self._absences.of(operation, first)
        if absence.what != ELSEWHERE or absence.branch is None:
            return None
        if any(is_barrier(other.opcode) for other in self._between(absence.branch, operation.at)):
            return None
        join = self._control.join(self._flow.block_of[absence.branch])
        if not 0 <= join < len(self._flow.blocks):
            return None
        later = self._flow.places(1 << join | self._flow.following(join))
        if not any(is_barrier(self._flow.instructions[i].opcode) for i in later):
            return None
        branch = self._function.instructions[absence.branch]
        warp = first // WARP_SIZE
        return Parted(WARPS, instruction, branch, warp, FULL, 0, None, assumptions)

    def _by_number(self, at: int, instruction: Instruction) -> Parted | None:
        """Behind one comparison of what differs by lane with a number that all share."""
        if is_barrier(instruction.opcode):
            return None  # that all threads of the block are meant is likelier than for a warp
        block = self._flow.block_of[at]
        branches = {branch for branch, _ in self._control.direct[block]}
        deciding = at if instruction.guard is not None else None
        if deciding is None and len(branches) == 1:
            source = next(iter(branches))
            if self._control.direct[source]:
                return None
            deciding = self._flow.blocks[source].stop - 1
        elif branches:
            return None
        if deciding is None:
            return None
        assumed = self._parts_lanes(deciding)
        if assumed is None:
            return None
        branch = self._function.instructions[deciding]
        return Parted(BY_NUMBER, instruction, branch, None, FULL, None, None, texts(assumed))

    def _parts_lanes(self, at: int) -> int | None:
        """What it rests on that a guard parts the lanes of a warp for some numbers; None: it may
        not.
        """
        guard = self._function.instructions[at].guard
        made = self._facts.once(self._function, values)
        register = None if guard is None else guard.register
        value = made.value_of(at, register) if isinstance(register, Register) else None
        if value is None or made.all[value].kind != DEFINITION:
            return None
        compared = made.all[value].at
        instruction = self._function.instructions[compared]
        if instruction.opcode.mnemonic != "setp" or len(instruction.operands) != 3:
            return None
        found = self._facts.once(self._function, patterns)
        one, other = (found.at(compared, operand) for operand in instruction.operands[1:])
        if one is None or other is None:
            return None
        lanes, number = (other, one) if one.is_uniform else (one, other)
        if not number.is_uniform or number.is_constant or number.zeros >= _UNIT:
            return None
        return lanes.assumptions | number.assumptions if _differs_by_one(lanes) else None


def _differs_by_one(pattern: Pattern) -> bool:
    """Whether it is a thread's own number, and what is the same in its warp: lane by lane."""
    if pattern.vector is None or pattern.lanes or pattern.has_strides:
        return False
    numbers = pattern.vector.values[:WARP_SIZE]
    return [number - numbers[0] for number in numbers] == list(range(WARP_SIZE))
