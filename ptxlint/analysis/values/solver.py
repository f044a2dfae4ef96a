"""Patterns by optimistic, sparse iteration over the SSA values that are asked for.

Each loop variable is supposed to be its first value's lane part plus something uniform; each branch
is supposed to be taken by all alike. What is found to be otherwise is evaluated again, with all
that rests on it, until nothing changes: then every supposition is proved by all the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from ...ptx.ir import Function, Instruction, Opcode
from ..bitset import members
from ..facts import Facts
from ..flow.dominance import dominators
from ..flow.registers import CARRY
from ..flow.ssa import DEFINITION, ENTRY, PHI, Value
from .algebra import Algebra
from .copies import places
from .divergence import AGREED, BY_WARP, PARTED
from .handlers import Handler, result_index
from .joins import Joins
from .pattern import Pattern
from .predicates import select, with_assumptions
from .reading import Reader, width_of
from .sources import SPECIAL
from .symbols import WARP
from .threads import WARP_SIZE, ThreadSpace
from .transfer import handler
from .uniformity_opcodes import OWN_SOURCES

_MOST_EVALUATIONS = 100
_CARRIED = frozenset({"addc", "subc", "madc"})


class Solver(Reader):
    """The iteration over one function."""

    def __init__(
        self, function: Function, facts: Facts, space: ThreadSpace, algebra: Algebra, interior: bool
    ) -> None:
        super().__init__(function, facts, space, algebra, interior)
        self.dominators = facts.once(function, dominators)
        self.position = [0] * len(self.flow.blocks)
        for i, block in enumerate(self.flow.order):
            self.position[block] = i
        self.joins = Joins(self)
        self._place = facts.once(function, places)
        self._wanted = bytearray(len(self.ssa.all))
        self._users: dict[int, list[int]] = {}
        self._handlers: dict[Opcode, Handler | None] = {}
        self._branch_of: dict[int, list[int]] = {}  # predicate value -> branch blocks
        self._pending: list[tuple[int, int]] = []
        self._waiting: set[int] = set()
        self._phis = [(b, phis) for b, phis in enumerate(self.ssa.phis) if phis]
        self._started = False
        self._evaluations = bytearray(len(self.ssa.all))

    def solve(self, wanted: Iterable[int]) -> None:
        """Give patterns to these values and to all that they depend on."""
        targets = list(wanted)
        if not self._started:
            self._started = True
            targets += self._branches()
        fresh = self._slice(targets)
        if not fresh:
            return
        self._pending = [(self._place[value], value) for value in fresh]
        heapify(self._pending)
        self._waiting = set(fresh)
        while self._pending:
            _, value = heappop(self._pending)
            if value in self._waiting:
                self._waiting.discard(value)
                self._update(value)

    def _branches(self) -> list[int]:
        """The values that decide branches of more than one way."""
        found = []
        for block in self.flow.order:
            if len(self.divergence.ways(block)) < 2:
                continue
            terminator = self.flow.terminator(self.flow.blocks[block])
            if terminator is None or "uni" in terminator.opcode.modifiers:
                continue
            at = self.flow.blocks[block].stop - 1
            for value in self.ssa.reads[at]:
                value = self.canonical[value]
                self._branch_of.setdefault(value, []).append(block)
                found.append(value)
        return found

    def _slice(self, targets: list[int]) -> list[int]:
        found, stack = [], [self.canonical[value] for value in targets]
        while stack:
            value = stack.pop()
            if self._wanted[value]:
                continue
            self._wanted[value] = 1
            found.append(value)
            for source in self._sources(self.ssa.all[value]):
                self._users.setdefault(source, []).append(value)
                if not self._wanted[source]:
                    stack.append(source)
        return found

    def _sources(self, value: Value) -> list[int]:
        if value.kind == ENTRY:
            return []
        if value.kind == PHI:
            return list(dict.fromkeys([self.canonical[o] for o in value.operands]))
        instruction = self.flow.instructions[value.at]
        if self._handler(instruction) is None:
            return []
        sources = [*self.ssa.reads[value.at], *value.operands]
        return list(dict.fromkeys([self.canonical[source] for source in sources]))

    def _handler(self, instruction: Instruction) -> Handler | None:
        opcode = instruction.opcode
        if opcode not in self._handlers:
            self._handlers[opcode] = _choose(opcode)
        return self._handlers[opcode]

    def _update(self, value: int) -> None:
        old, was_known = self.patterns[value], self.known[value]
        self.current = value
        self._evaluations[value] += 1
        # Nothing seen needs as many; to know nothing is always right.
        settled = self._evaluations[value] < _MOST_EVALUATIONS
        new = self._evaluate(self.ssa.all[value]) if settled else None
        self._evaluations[value] -= not settled
        self.known[value] = 1
        if not was_known or new is not old:
            self.patterns[value] = new
            for user in self._users.get(value, ()):
                if self.known[user]:
                    self._again(user)
        # Even where nothing changed: at the branch, beyond a loop, it may be less than here.
        if value in self._branch_of:
            self._branch(value)

    def _again(self, value: int) -> None:
        if value not in self._waiting and self._wanted[value]:
            self._waiting.add(value)
            heappush(self._pending, (self._place[value], value))

    def _branch(self, value: int) -> None:
        """A predicate is known: see whether lanes part at its branches."""
        pattern = self.patterns[value]
        for block in self._branch_of[value]:
            predicate = self.seen(value, block) if pattern is not None else None
            level = self.level_of(predicate)
            if predicate is not None and level != PARTED:
                self._rest(block, predicate.assumptions)
            if level == AGREED and self.divergence.levels[block] == AGREED:
                continue
            loops = self.divergence.part(block, level)
            for join in self.divergence.joins.get(block, ()):
                for phi in self.ssa.phis[join]:
                    if self.known[phi.index]:
                        self._again(phi.index)
            for loop in members(loops):
                self._loop_changed(loop)

    def _rest(self, branch: int, assumptions: int) -> None:
        """A branch is taken alike if these hold: what depends on that rests on them too."""
        rests = self.divergence.rests
        known = rests.get(branch, 0)
        if not assumptions & ~known:
            return
        rests[branch] = known | assumptions
        for loop in self.divergence.loops.around(branch):
            self._loop_changed(loop.index)
        for block, phis in self._phis:
            if self.decides(branch, block):
                for phi in phis:
                    if self.known[phi.index]:
                        self._again(phi.index)

    def decides(self, branch: int, join: int) -> bool:
        """Whether a branch may decide by which edge a block is entered."""
        dominates, above = self.dominators.dominates, self.dominators.parent[join]
        return above >= 0 and dominates(above, branch) and not dominates(join, branch)

    def join_rests(self, block: int) -> int:
        """What the branches before a join rest on, since its dominator."""
        bits = 0
        for branch, assumptions in self.divergence.rests.items():
            if assumptions & ~bits and self.decides(branch, block):
                bits |= assumptions
        return bits

    def loop_rests(self, loop: int) -> int:
        """What the branches in a loop rest on."""
        bits = 0
        for branch, assumptions in self.divergence.rests.items():
            if assumptions & ~bits and self.divergence.around[branch] >> loop & 1:
                bits |= assumptions
        return bits

    def _loop_changed(self, loop: int) -> None:
        for user in [*self._leavers.get(loop, ()), *self._in_loops.get(loop, ())]:
            if user >= 0:
                self._again(user)
        for phi in self.ssa.phis[self.divergence.loops.all[loop].header]:
            if self.known[phi.index]:
                self._again(phi.index)

    def level_of(self, predicate: Pattern | None) -> int:
        """How lanes take a branch of that predicate."""
        if predicate is None:
            return PARTED
        if predicate.is_uniform:
            return BY_WARP if predicate.scope == WARP else AGREED
        if predicate.is_exact:
            values_ = self.algebra.vectors.materialise(predicate.exact, 1, False)
            for start in range(0, len(values_), WARP_SIZE):
                warp = values_[start : start + WARP_SIZE]
                if 0 < sum(warp) < len(warp):
                    return PARTED
            return BY_WARP
        return PARTED

    def _evaluate(self, value: Value) -> Pattern | None:
        if value.kind == ENTRY:
            return None
        if value.kind == PHI:
            self.block = value.at
            return self.joins.phi(value)
        instruction = self.flow.instructions[value.at]
        run = self._handler(instruction)
        if run is None:
            return None
        self.instruction = value.at
        self.block = self.flow.block_of[value.at]
        register = self.use.registers[value.register]
        if register is None or value.register == CARRY:
            return None
        new = run(self, instruction, result_index(instruction, register))
        if new is not None:
            new = self.fit(new, width_of(register))
        if value.kind == DEFINITION:
            return new
        old = self.seen(value.operands[0], self.block)
        return self._guarded(value.at, new, old)

    def _guarded(self, at: int, new: Pattern | None, old: Pattern | None) -> Pattern | None:
        """What a guarded definition leaves: the new value where the guard holds."""
        guard = self.guard(at)
        if guard is not None and guard.is_constant:
            chosen = new if guard.const else old
            if chosen is None:
                return None
            return with_assumptions(self.algebra, chosen, guard.assumptions)
        if new is None or old is None:
            return None
        return select(self.algebra, guard, new, old)


def _choose(opcode: Opcode) -> Handler | None:
    special = SPECIAL.get(opcode.mnemonic)
    if special is not None:
        return special  # type: ignore[return-value]
    if opcode.mnemonic not in OWN_SOURCES or opcode.mnemonic in _CARRIED:
        return None  # what other lanes, memory or a flag have a part in
    return handler(opcode)
