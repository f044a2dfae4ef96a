"""Whether a value that some lanes got wrongly is ever used by them.

Sums over half a warp read beyond its end in their upper lanes, whose sums nobody wants: what counts
is that a lane with a wrong value stores it, branches on it or makes an address of it. What can't be
followed is left out, so that to find nothing says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...isa.shuffles import source_lane
from ...ptx.ir import Function, Guard, Instruction, Operand, Register
from ..facts import Facts
from ..flow.ssa import GUARDED, PHI, Value, values
from ..values.threads import WARP_SIZE
from .execution import Known
from .operations import shuffle_mode

_MEMORY = frozenset({"ld", "ldu", "atom"})
_TOGETHER = frozenset({"vote", "match", "redux", "elect"})
_STORES = frozenset({"st", "red", "atom", "bra", "brx", "call", "cp", "prefetch", "stmatrix"})
_LIMIT = 2000


class Use(NamedTuple):
    """Instruction ``at`` uses the wrong value in ``threads`` (a bit set)."""

    at: int
    threads: int


class Spread:
    """What becomes of the result of instruction ``origin`` in the threads where it is wrong.

    ``wrong`` is by value of ``flow.ssa``, as thread bits. ``executing`` are the threads that
    execute ``origin``: also those of all that stands in its block unguarded.
    """

    def __init__(
        self, function: Function, facts: Facts, known: Known, origin: int, executing: int
    ) -> None:
        self._known = known
        self._flow = known.flow
        self._ssa = facts.once(function, values)
        self._origin = origin
        self._executing = executing
        self._opened: dict[int, list[int]] | None = None
        self.wrong: dict[int, int] = {}

    def first_use(self, threads: int) -> Use | None:
        """The first instruction in the text that uses the result in one of these threads."""
        written = self._ssa.writes[self._origin]
        if not written:
            return None
        self.wrong = {written[0]: threads}
        pending = [written[0]]
        readers: set[int] = set()
        while pending and len(self.wrong) < _LIMIT:
            value = pending.pop()
            readers.update(self._ssa.readers(value))
            for each in self._users(value):
                bits = self._evaluate(self._ssa.all[each])
                if bits & ~self.wrong.get(each, 0):
                    self.wrong[each] = self.wrong.get(each, 0) | bits
                    pending.append(each)
        if pending:
            return None
        for index in sorted(readers):
            used = self._uses(index)
            if used:
                return Use(index, used)
        return None

    def _users(self, value: int) -> Iterable[int]:
        """The values that are made of a value."""
        for reader in self._ssa.readers(value):
            yield from self._ssa.writes[reader]
        if self._opened is None:
            self._opened = {}
            for each in self._ssa.all:
                for operand in each.operands:
                    self._opened.setdefault(operand, []).append(each.index)
        yield from self._opened.get(value, ())

    def _threads(self, index: int) -> int:
        """The threads that execute an instruction; none where they are not known."""
        if self._flow.instructions[index].guard is None:
            return self._in_block(self._flow.block_of[index])
        known = self._known.threads(index)
        if known is not None:
            return known.bits
        guard = self._known.guard(index)
        return self._in_block(self._flow.block_of[index]) if guard and guard.is_uniform else 0

    def _in_block(self, block: int) -> int:
        if block == self._flow.block_of[self._origin]:
            return self._executing
        known = self._known.block(block)
        return 0 if known is None else known.bits

    def _evaluate(self, value: Value) -> int:
        """The threads in which a value is wrong, as far as is known of its operands."""
        if value.kind == PHI:
            return self._joined(value)
        new = self._made_by(value.at) & self._threads(value.at)
        if value.kind == GUARDED:
            kept = self.wrong.get(value.operands[0], 0)
            guard = self._known.guard(value.at)
            if guard is None:
                return 0
            if guard.is_exact:
                kept &= ~self._known.holds(guard)
            return new | kept
        return new

    def _joined(self, value: Value) -> int:
        found = 0
        edges = self._flow.reached_predecessors(value.at)
        for source, operand in zip(edges, value.operands, strict=True):
            wrong = self.wrong.get(operand, 0)
            if wrong:
                threads = self._known.edge(source, value.at)
                found |= wrong & (self._in_block(source) if threads is None else threads.bits)
        return found

    def _made_by(self, index: int) -> int:
        """The threads in which an instruction's result is wrong, were all to execute it."""
        instruction = self._flow.instructions[index]
        opcode = instruction.opcode
        if index == self._origin:
            return self.wrong.get(self._ssa.writes[index][0], 0)
        if opcode.mnemonic in _TOGETHER:
            return 0
        if opcode.mnemonic == "shfl":
            return self._shuffled(index, instruction)
        if opcode.mnemonic == "selp" and isinstance(instruction.operands[3], Register):
            return self._chosen(index, instruction)
        found = 0
        for value in self._ssa.reads[index]:
            found |= self.wrong.get(value, 0)
        return found

    def _of(self, index: int, operand: Operand) -> int:
        if not isinstance(operand, Register):
            return 0
        value = self._ssa.value_of(index, operand)
        return 0 if value is None else self.wrong.get(value, 0)

    def _chosen(self, index: int, instruction: Instruction) -> int:
        _, a, b, p = instruction.operands
        one, other, wrong = (self._of(index, o) for o in (a, b, p))
        predicate = self._known.operand(index, p, 1)
        if predicate is None:
            return wrong | one & other
        if not predicate.is_exact:
            return wrong | one | other
        chosen = self._known.holds(predicate)
        return wrong | one & chosen | other & ~chosen

    def _shuffled(self, index: int, instruction: Instruction) -> int:
        """Wrong where the lane that is read has it wrong; nothing where that is not known."""
        mode = shuffle_mode(instruction.opcode)
        source = self._of(index, instruction.operands[1])
        if mode is None or not source or len(instruction.operands) < 4:
            return 0
        lanes, clamps = (
            self._known.numbers(self._known.operand(index, o)) for o in instruction.operands[2:4]
        )
        if lanes is None or clamps is None:
            return 0
        found = 0
        for thread in range(self._known.space.size):
            lane = thread % WARP_SIZE
            other = source_lane(mode, lane, lanes[thread], clamps[thread])
            read = thread if other is None else thread - lane + other
            found |= (source >> read & 1) << thread
        return found

    def _uses(self, index: int) -> int:
        """The threads in which an instruction does more with a wrong value than pass it on."""
        instruction = self._flow.instructions[index]
        mnemonic = instruction.opcode.mnemonic
        wrong = 0
        if mnemonic in _STORES or mnemonic in _TOGETHER:
            for value in self._ssa.reads[index]:
                wrong |= self.wrong.get(value, 0)
        elif mnemonic in _MEMORY:
            wrong = self._addresses(index)
        elif mnemonic == "shfl":
            for operand in instruction.operands[2:]:
                wrong |= self._of(index, operand)
        if not wrong:
            return 0
        guard: Guard | None = instruction.guard
        if guard is not None and self._of(index, guard.register):
            return wrong & self._in_block(self._flow.block_of[index])
        return wrong & self._threads(index)

    def _addresses(self, index: int) -> int:
        found = 0
        written = {id(o) for o in self._flow.instructions[index].operands[:1]}
        for operand in self._flow.instructions[index].operands:
            if id(operand) not in written:
                for child in operand.children():
                    found |= self._of(index, child)
        return found
