"""Patterns of phis: where ways meet, and where loops turn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ptx.ir import Integer
from ..flow.loops import Loop
from ..flow.ssa import DEFINITION, Value
from .divergence import AGREED, BY_WARP, PARTED
from .edges import thread_sets
from .pattern import Lanes, Pattern, Terms, alike
from .predicates import join_bits, select, with_assumptions
from .ranges import low_zeros, uniform_bits
from .symbols import EVERY_BIT, WARP, Symbol
from .vectors import Exact

if TYPE_CHECKING:
    from .solver import Solver

# After so many larger masks a loop variable has no upper bound; after twice as many, any bit.
_WIDENINGS = 3
_FLIPS = 4
Incoming = tuple[int, Pattern]  # (block that the edge comes from, what comes along it)


class Supposed:
    """What is supposed of a loop variable beyond its lane part; it only ever gets weaker."""

    __slots__ = ("assumptions", "failed", "flips", "mask", "scope", "widenings")

    def __init__(self, mask: int) -> None:
        self.mask = mask
        self.scope = 0
        self.assumptions = 0
        self.widenings = 0
        self.flips = 0
        self.failed = False

    def admit(self, bits: int) -> None:
        """Make room for these bits in the mask."""
        if (bits >= 0 or self.mask < 0) and not bits & ~self.mask:
            return
        self.widenings += 1
        joined = join_bits(self.mask, bits)
        if self.widenings > 2 * _WIDENINGS:
            joined = EVERY_BIT
        elif self.widenings > _WIDENINGS:
            joined = EVERY_BIT << low_zeros(joined)
        self.mask = joined


class Joins:
    """Evaluates the phis of one solver."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._supposed: dict[int, Supposed] = {}

    def phi(self, phi: Value) -> Pattern | None:
        """The pattern of a phi, as far as its operands are known by now."""
        solver, block = self._solver, phi.at
        loop = solver.divergence.loops.innermost(block)
        if (loop is None or loop.header != block) and self._lacks(phi):
            return None
        predecessors = solver.flow.reached_predecessors(block)
        if loop is not None and not loop.reducible:
            every = self._incoming(phi, predecessors, None, True)
            return None if not every else self._same([p for _, p in every])
        if loop is None or loop.header != block:
            return self._join(block, self._incoming(phi, predecessors, None, True), None)
        start = self._join(block, self._incoming(phi, predecessors, loop, True), loop)
        return None if start is None else self._turn(phi, predecessors, loop, start)

    def _lacks(self, phi: Value) -> bool:
        """Whether something that may come along an edge is unknown."""
        canonical, patterns = self._solver.canonical, self._solver.patterns
        known = self._solver.known
        for operand in phi.operands:
            value = canonical[operand]
            if patterns[value] is None and known[value]:
                return True
        return False

    def _incoming(
        self, phi: Value, predecessors: list[int], loop: Loop | None, outside: bool
    ) -> list[Incoming] | None:
        """What comes along the edges from outside ``loop`` (or from inside); None where some of
        it is unknown. What was not evaluated yet is left out.
        """
        solver = self._solver
        found = []
        for predecessor, operand in zip(predecessors, phi.operands, strict=True):
            if loop is not None and (predecessor in loop) == outside:
                continue
            if not solver.known[solver.canonical[operand]]:
                continue
            pattern = solver.seen(operand, phi.at)
            if pattern is None:
                return None
            found.append((predecessor, pattern))
        return found

    def _join(
        self, block: int, incoming: list[Incoming] | None, loop: Loop | None
    ) -> Pattern | None:
        if not incoming:
            return None
        patterns = [pattern for _, pattern in incoming]
        same = self._same(patterns)
        if same is not None:
            return same
        level = self._solver.divergence.level(block, loop, True)
        if level != AGREED:
            found = self._by_thread(block, incoming)
            if found is not None or level == PARTED:
                return found
        first = patterns[0]
        if any(p.vector is not first.vector or p.lanes != first.lanes for p in patterns):
            return None
        return self._chosen(block, patterns, level)

    def _same(self, patterns: list[Pattern]) -> Pattern | None:
        """The pattern if all are one, whatever they rest on."""
        first, assumptions = patterns[0], 0
        for pattern in patterns:
            assumptions |= pattern.assumptions
            if not alike(pattern, first):
                return None
        return with_assumptions(self._solver.algebra, first, assumptions)

    def _chosen(self, block: int, patterns: list[Pattern], level: int) -> Pattern:
        """One of patterns that differ by something uniform, by a uniform choice."""
        algebra = self._solver.algebra
        first = patterns[0]
        shared = tuple([self._shared(p) for p in patterns])
        mask, scope = uniform_bits(shared[0]), first.scope
        loops, behind = self._solver.divergence.around[block], 0
        assumptions = self._solver.join_rests(block)
        for pattern, whole in zip(shared, patterns, strict=True):
            mask = join_bits(mask, uniform_bits(pattern))
            scope = max(scope, pattern.scope)
            loops |= pattern.loops
            behind |= pattern.symbols_assumed
            assumptions |= whole.assumptions
        symbol = algebra.symbols.get(
            "derived",
            ("phi", block, shared),
            mask=mask,
            loops=loops,
            scope=WARP if level == BY_WARP else scope,
            assumptions=behind,
        )
        rest = algebra.make(first.width, (), first.lanes, Exact(0, first.vector), assumptions)
        return algebra.sum(first.width, ((algebra.symbol(symbol, first.width), 1), (rest, 1)))

    def _by_thread(self, block: int, incoming: list[Incoming]) -> Pattern | None:
        """A join where it is known which threads come along which edge."""
        solver = self._solver
        sets = thread_sets(solver, block, [p for p, _ in incoming])
        if sets is None:
            return None
        result = incoming[-1][1]
        for predecessor, pattern in incoming[:-1]:
            threads = sets.by_edge.get(predecessor, 0)
            bits = [threads >> t & 1 for t in range(solver.space.size)]
            here = solver.algebra.threads(bits, 1, sets.assumptions)
            chosen = select(solver.algebra, here, pattern, result)
            if chosen is None:
                return None
            result = chosen
        return with_assumptions(solver.algebra, result, solver.join_rests(block))

    def _turn(
        self, phi: Value, predecessors: list[int], loop: Loop, start: Pattern
    ) -> Pattern | None:
        """A loop's variable: the lane part that it starts with, and something uniform."""
        solver = self._solver
        supposed = self._supposed.get(phi.index)
        if supposed is None:
            guess = self._first_guess(phi, predecessors, loop, start)
            supposed = self._supposed[phi.index] = Supposed(guess)
        backs = self._incoming(phi, predecessors, loop, False)
        if backs is None or supposed.failed:
            supposed.failed = True
            return None
        patterns = [pattern for _, pattern in backs]
        if patterns and supposed.flips < _FLIPS and all(alike(p, start) for p in patterns):
            return self._same([start, *patterns])  # nothing changes in the loop
        supposed.flips += 1 if patterns else 0
        mixed = solver.divergence.mixed[loop.index]
        if mixed == PARTED:
            supposed.failed = True
            return None
        supposed.scope = max(supposed.scope, WARP if mixed == BY_WARP else 0)
        supposed.assumptions |= solver.loop_rests(loop.index)
        for pattern in (start, *patterns):
            if pattern.vector is not start.vector or pattern.lanes != start.lanes:
                supposed.failed = True
                return None
            supposed.assumptions |= pattern.assumptions
            supposed.scope = max(supposed.scope, pattern.scope)
            supposed.admit(uniform_bits(self._shared(pattern)))
        if len(patterns) > 1 and self._same(patterns) is None:
            level = solver.divergence.level(phi.at, loop, False)
            if level == PARTED:
                supposed.failed = True
                return None
            supposed.scope = max(supposed.scope, WARP if level == BY_WARP else 0)
        return self._variable(phi, supposed, start, patterns)

    def _first_guess(self, phi: Value, predecessors: list[int], loop: Loop, start: Pattern) -> int:
        """The bits of the loop's variable to begin with: those of its first value; where a sum
        comes back, without an upper bound, which would only be found by and by.
        """
        solver = self._solver
        mask = uniform_bits(self._shared(start))
        for predecessor, operand in zip(predecessors, phi.operands, strict=True):
            value = solver.ssa.all[solver.canonical[operand]]
            if predecessor not in loop or value.kind != DEFINITION:
                continue
            instruction = solver.flow.instructions[value.at]
            if instruction.opcode.mnemonic in ("add", "sub", "mad"):
                step = instruction.operands[-1]
                number = abs(step.value) if isinstance(step, Integer) else mask
                mask = EVERY_BIT << min(low_zeros(mask), low_zeros(number), start.width)
        return mask

    def _variable(
        self, phi: Value, supposed: Supposed, start: Pattern, backs: list[Pattern]
    ) -> Pattern:
        algebra = self._solver.algebra
        loops, behind = self._solver.divergence.around[phi.at], 0
        for pattern in (start, *backs):
            loops |= pattern.loops
            behind |= self._shared(pattern).symbols_assumed
        symbol = algebra.symbols.get(
            "loop",
            phi.index,
            mask=supposed.mask,
            loops=loops,
            scope=supposed.scope,
            assumptions=behind,
        )
        rest = algebra.make(
            start.width, (), start.lanes, Exact(0, start.vector), supposed.assumptions
        )
        variable = algebra.symbol(symbol, start.width)
        return algebra.sum(start.width, ((variable, 1), (rest, 1)))

    def _shared(self, pattern: Pattern) -> Pattern:
        """The part of a pattern that all threads share."""
        exact = Exact(pattern.const, None)
        return self._solver.algebra.make(pattern.width, pattern.terms, (), exact, 0)

    def after_loop(self, pattern: Pattern, loop: int) -> Pattern | None:
        """A pattern once a loop was left: its variables have their last values; None where lanes
        left at different turns.
        """
        level = self._solver.divergence.leaving[loop]
        if level == PARTED:
            return None
        terms: Terms = tuple([(self._last(s, loop, level), f) for s, f in pattern.terms])
        lanes: Lanes = tuple([(self._last(s, loop, level), v) for s, v in pattern.lanes])
        terms = tuple(sorted(terms, key=lambda term: term[0].index))
        lanes = tuple(sorted(lanes, key=lambda term: term[0].index))
        assumptions = pattern.assumptions | self._solver.loop_rests(loop)
        return self._solver.algebra.make(pattern.width, terms, lanes, pattern.exact, assumptions)

    def _last(self, symbol: Symbol, loop: int, level: int) -> Symbol:
        if not symbol.loops >> loop & 1:
            return symbol
        return self._solver.algebra.symbols.get(
            "derived",
            ("after", loop, symbol),
            mask=symbol.mask,
            loops=symbol.loops & ~(1 << loop),
            scope=WARP if level == BY_WARP else symbol.scope,
            assumptions=symbol.assumptions,
        )
