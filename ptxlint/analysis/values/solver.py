"""Patterns by optimistic, sparse iteration over the SSA values that are asked for.

Each loop variable is supposed to be its first value's lane part plus something uniform; each branch
is supposed to be taken by all alike. What is found to be otherwise is evaluated again, with all
that rests on it, until nothing changes: then every supposition is proved by all the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import NamedTuple

from ...ptx.ir import Function, Module, Opcode
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
from .transfer import handler, least_operands
from .uniformity_opcodes import OWN_SOURCES

_MOST_EVALUATIONS = 99
_VALUE = (1 << 32) - 1
_CARRIED = frozenset({"addc", "subc", "madc"})
_NEED_ALL = frozenset({"ld", "ldu", "mov", "cvta"})
# With these, something may be known of a result although an operand is not known.
_PARTLY = {
    "ld": frozenset({"L2::cache_hint"}),
    "ldu": frozenset({"L2::cache_hint"}),
    "and": frozenset({"pred"}),
    "or": frozenset({"pred"}),
    "setp": frozenset({"and", "or"}),
}


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
        self._users: dict[int, list[int]] | None = None  # by source; made at the first change
        self._plans = facts.of_module(_plans_of_module)
        self._branch_of: dict[int, list[int]] = {}  # predicate value -> branch blocks
        self._pending: list[int] = []
        self._waiting = bytearray(len(self.ssa.all))
        self._phis = [(b, phis) for b, phis in enumerate(self.ssa.phis) if phis]
        self._turns = self._all_turns()
        self._started = False
        self._complete = False
        self._evaluations = bytearray(len(self.ssa.all))

    def solve(self, wanted: Iterable[int]) -> None:
        """Give patterns to these values and to all that they depend on."""
        canonical, known, place = self.canonical, self.known, self._place
        targets = [value for value in wanted if not known[canonical[value]]]
        if not self._started:
            self._started = True
            targets += self._branches()
        elif not targets:
            return
        fresh = self._slice(targets)
        fresh.sort()
        fresh.sort(key=place.__getitem__)
        self._iterate(fresh)

    def solve_all(self) -> None:
        """Give patterns to all values: for most of them, less work than ``solve``."""
        if self._complete:
            return
        self._complete = True
        if not self._started:
            self._started = True
            self._branches()
        ssa, canonical, wanted = self.ssa, self.canonical, self._wanted
        order: list[int] = []
        for block in self.flow.order:
            order += [phi.index for phi in ssa.phis[block]]
            for written in ssa.writes[self.flow.blocks[block].start : self.flow.blocks[block].stop]:
                order += written
        entries = [value.index for value in ssa.all if value.kind == ENTRY]
        fresh = [v for v in (*entries, *order) if canonical[v] == v and not wanted[v]]
        for value in fresh:
            wanted[value] = 1
        self._iterate(fresh)

    def _iterate(self, fresh: list[int]) -> None:
        """Evaluate values in the order of ``places``, and again what rests on what has changed."""
        place, again, waiting = self._place, self._pending, self._waiting
        for value in fresh:
            waiting[value] = 1
        fresh.reverse()
        while fresh or again:
            if again and not (fresh and place[fresh[-1]] << 32 | fresh[-1] < again[0]):
                value = heappop(again) & _VALUE
            else:
                value = fresh.pop()
            if waiting[value]:
                waiting[value] = 0
                self._update(value)

    def _branches(self) -> list[int]:
        """The values that decide branches of more than one way."""
        found = []
        onward = self.divergence.control.onward
        for block in self.flow.order:
            if len(onward[block]) < 2 or len(self.divergence.ways(block)) < 2:
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
        """What is to be evaluated for these values: they, and all behind them that is new."""
        canonical, wanted = self.canonical, self._wanted
        found, stack = [], [canonical[value] for value in targets]
        while stack:
            value = stack.pop()
            if not wanted[value]:
                wanted[value] = 1
                found.append(value)
                stack += [s for s in self._sources(value) if not wanted[s]]
        return found

    def _sources(self, value: int) -> list[int]:
        """The values that a value is made of."""
        made = self.ssa.all[value]
        sources = made.operands
        if made.kind != PHI:
            if made.kind == ENTRY or self._plan(made.at).run is None:
                return []
            sources += self.ssa.reads[made.at]
        return [self.canonical[source] for source in sources]

    def _plan(self, at: int) -> Plan:
        opcode = self.flow.instructions[at].opcode
        plan = self._plans.get(opcode)
        if plan is None:
            plan = self._plans[opcode] = _choose(opcode)
        return plan

    def _all_users(self) -> dict[int, list[int]]:
        """Who is concerned when a value changes: what is made of it."""
        canonical, ssa = self.canonical, self.ssa
        users: dict[int, list[int]] = {}
        pairs = list(zip(ssa.reads, ssa.writes, strict=True))
        pairs += [(v.operands, (v.index,)) for v in ssa.all if v.operands]
        for read, written in pairs:
            if written:
                for value in read:
                    source = canonical[value]
                    if source in users:
                        users[source] += written
                    else:
                        users[source] = [*written]
        return users

    def _all_turns(self) -> dict[int, list[int]]:
        """Who is concerned when a value gets known: phis that come before it in the order."""
        canonical, place = self.canonical, self._place
        turns: dict[int, list[int]] = {}
        for _, phis in self._phis:
            for phi in phis:
                for operand in phi.operands:
                    source = canonical[operand]
                    if place[source] >= place[phi.index]:
                        turns.setdefault(source, []).append(phi.index)
        return turns

    def _update(self, value: int) -> None:
        patterns = self.patterns
        evaluations = self._evaluations
        # Nothing seen needs as many; to know nothing is always right.
        new = None
        if evaluations[value] < _MOST_EVALUATIONS:
            evaluations[value] += 1
            self.current = value
            new = self._evaluate(self.ssa.all[value])
        if not self.known[value]:
            self.known[value] = 1
            patterns[value] = new
            if value in self._turns:
                for header in self._turns[value]:
                    if self.known[header]:
                        self._again(header)
        elif new is not patterns[value]:
            patterns[value] = new
            if self._users is None:
                self._users = self._all_users()
            for user in self._users.get(value, ()):
                if self.known[user]:
                    self._again(user)
        # Even where nothing changed: at the branch, beyond a loop, it may be less than here.
        if value in self._branch_of:
            self._branch(value)

    def _again(self, value: int) -> None:
        if not self._waiting[value] and self._wanted[value]:
            self._waiting[value] = 1
            heappush(self._pending, self._place[value] << 32 | value)

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
        if value.kind == PHI:
            self.block = value.at
            return self.joins.phi(value)
        at = value.at
        if at < 0:
            return None
        instruction = self.flow.instructions[at]
        run, needs_all, least = self._plans.get(instruction.opcode) or self._plan(at)
        if run is None or len(instruction.operands) < least:
            return None
        definition = value.kind == DEFINITION
        if needs_all and definition:
            # Most is unknown since something that it is made of is: what depends on loaded data.
            patterns, canonical = self.patterns, self.canonical
            for source in self.ssa.reads[at]:
                if patterns[canonical[source]] is None:
                    return None
        self.instruction = at
        self.block = self.flow.block_of[at]
        register = self.use.registers[value.register]
        if register is None or value.register == CARRY:
            return None
        first = instruction.operands[0]
        new = run(self, instruction, 0 if first is register else result_index(first, register))
        if new is not None:
            width = width_of(register)
            if new.width != width:
                new = self.fit(new, width)
        if definition:
            return new
        old = self.seen(value.operands[0], self.block)
        return self._guarded(at, new, old)

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


class Plan(NamedTuple):
    """How values that an opcode makes are evaluated: ``run``, None where they are never known;
    ``needs_all``: whether nothing is known of them where one of the registers read is not;
    ``least``: the operands that it takes.
    """

    run: Handler | None
    needs_all: bool
    least: int = 2


def _plans_of_module(module: Module, facts: Facts) -> dict[Opcode, Plan]:
    """Filled as opcodes come."""
    return {}


def _choose(opcode: Opcode) -> Plan:
    mnemonic = opcode.mnemonic
    partly = not _PARTLY.get(mnemonic, frozenset()).isdisjoint(opcode.modifiers)
    special = SPECIAL.get(mnemonic)
    if special is not None:
        return Plan(special, mnemonic in _NEED_ALL and not partly)  # type: ignore[arg-type]
    if mnemonic not in OWN_SOURCES or mnemonic in _CARRIED:
        return Plan(None, True)  # what other lanes, memory or a flag have a part in
    return Plan(handler(opcode), mnemonic != "selp" and not partly, least_operands(opcode))
