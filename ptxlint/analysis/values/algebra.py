"""Arithmetic on patterns: what is linear, exact modulo 2^width."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from .pattern import Lanes, Pattern, Terms
from .symbols import EVERY_BIT, GRID, Symbol, SymbolTable
from .vectors import Exact, Vector, Vectors, wrap


class Algebra:
    """Makes patterns; those of one function are interned here."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        self.symbols = SymbolTable()
        self._known: dict[Hashable, Pattern] = {}
        self._numbers: dict[tuple[int, int], Pattern] = {}

    def make(
        self, width: int, terms: Terms, lanes: Lanes, exact: Exact, assumptions: int
    ) -> Pattern:
        """The interned pattern; the parts must be normal already."""
        return self._made(width, terms, lanes, exact[0], exact[1], assumptions)

    def _made(
        self,
        width: int,
        terms: Terms,
        lanes: Lanes,
        const: int,
        vector: Vector | None,
        assumptions: int,
    ) -> Pattern:
        key = (width, terms, lanes, const, vector, assumptions)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Pattern(width, terms, lanes, const, vector, assumptions)
        return found

    def constant(self, value: int, width: int, assumptions: int = 0) -> Pattern:
        """One number in all threads."""
        if assumptions:
            return self._made(width, (), (), wrap(value, width), None, assumptions)
        key = (value, width)
        found = self._numbers.get(key)
        if found is None:
            found = self._made(width, (), (), wrap(value, width), None, 0)
            self._numbers[key] = found
        return found

    def threads(self, values: list[int] | tuple[int, ...], width: int, assumed: int = 0) -> Pattern:
        """A number for each thread."""
        return self.make(width, (), (), self.vectors.exact(values, width), assumed)

    def of(self, exact: Exact, width: int, assumptions: int) -> Pattern:
        """An exact part as a pattern."""
        return self.make(width, (), (), exact, assumptions)

    def symbol(self, symbol: Symbol, width: int, assumptions: int = 0) -> Pattern:
        """A symbol alone."""
        if symbol.mask == 0 or symbol.zeros >= width:
            return self.constant(0, width, assumptions | symbol.assumptions)
        return self._made(width, ((symbol, 1),), (), 0, None, assumptions)

    def derived(
        self, name: Hashable, operands: tuple[Pattern, ...], width: int, mask: int = EVERY_BIT
    ) -> Pattern:
        """The uniform result of an operation on uniform patterns: the same for the same."""
        loops, scope, assumptions, behind = 0, GRID, 0, 0
        for operand in operands:
            loops |= operand.loops
            scope = max(scope, operand.scope)
            assumptions |= operand.assumptions
            if mask != EVERY_BIT:
                behind |= operand.symbols_assumed
        symbol = self.symbols.get(
            "derived", (name, operands), mask=mask, loops=loops, scope=scope, assumptions=behind
        )
        return self.symbol(symbol, width, assumptions)

    def sum(
        self, width: int, parts: Iterable[tuple[Pattern, int]], assumptions: int = 0
    ) -> Pattern:
        """The sum of patterns of that width, each times a number."""
        terms: dict[Symbol, int] = {}
        lanes: dict[Symbol, Vector | None] = {}
        const, vector = 0, None
        vectors = self.vectors
        for pattern, factor in parts:
            assumptions |= pattern.assumptions
            const += pattern.const * factor
            for symbol, times in pattern.terms:
                terms[symbol] = terms.get(symbol, 0) + times * factor
            if pattern.vector is not None:
                scaled = vectors.scale(pattern.vector, factor, width)
                vector = vectors.add(vector, scaled, width)
            for symbol, steps in pattern.lanes:
                scaled = vectors.scale(steps, factor, width)
                lanes[symbol] = vectors.add(lanes.get(symbol), scaled, width)
        kept, rows = _terms(terms, width), _lanes(lanes, width) if lanes else ()
        if len(kept) < len(terms) or (lanes and len(rows) < len(lanes)):
            assumptions |= _behind_dropped(terms, lanes, width)
        return self._made(width, kept, rows, wrap(const, width), vector, assumptions)

    def add(self, a: Pattern, b: Pattern) -> Pattern:
        """a + b."""
        if b.is_constant and b.assumptions | a.assumptions == a.assumptions:
            return self.beyond(a, b.const)
        return self.sum(a.width, ((a, 1), (b, 1)))

    def beyond(self, a: Pattern, number: int) -> Pattern:
        """a + a number."""
        if not number:
            return a
        const = wrap(a.const + number, a.width)
        return self._made(a.width, a.terms, a.lanes, const, a.vector, a.assumptions)

    def subtract(self, a: Pattern, b: Pattern) -> Pattern:
        """a - b."""
        return self.sum(a.width, ((a, 1), (b, -1)))

    def scale(self, a: Pattern, factor: int) -> Pattern:
        """a times a number."""
        return a if factor == 1 else self.sum(a.width, ((a, factor),))

    def multiply(self, a: Pattern, b: Pattern) -> Pattern | None:
        """The low half of a * b; one of them must be uniform, or both exact."""
        if a.is_constant:
            a, b = b, a
        if b.is_constant:
            return self.sum(a.width, ((a, wrap(b.const, a.width)),), b.assumptions)
        if a.is_exact and b.is_exact:
            width = a.width
            exact = self.vectors.apply(
                "mul", lambda x, y: x * y, width, (a.exact, width, True), (b.exact, width, True)
            )
            return self.of(exact, width, a.assumptions | b.assumptions)
        if a.is_uniform and b.is_uniform:
            if a is not b and _order(a) > _order(b):
                a, b = b, a
            return self.derived("mul", (a, b), a.width, EVERY_BIT << (_low(a) + _low(b)))
        if a.is_uniform:
            a, b = b, a
        return self._by_uniform(a, b) if b.is_uniform else None

    def _by_uniform(self, a: Pattern, b: Pattern) -> Pattern | None:
        """A pattern that differs by thread times a uniform one: rows of that stride."""
        width = a.width
        factor = 1
        if len(b.terms) == 1 and not b.const:
            stride, factor = b.terms[0]
        else:
            stride = self.derived("sum", (b,), width, EVERY_BIT << _low(b)).terms[0][0]
        shared = self.make(width, a.terms, (), Exact(a.const, None), 0)
        product = self.multiply(shared, self.make(width, b.terms, (), Exact(b.const, None), 0))
        if product is None:
            return None
        lanes: dict[Symbol, Vector | None] = {}
        if a.vector is not None:
            lanes[stride] = self.vectors.scale(a.vector, factor, width)
        for symbol, steps in a.lanes:
            one = self.symbol(symbol, width)
            both = self.multiply(one, self.make(width, b.terms, (), Exact(b.const, None), 0))
            if both is None or len(both.terms) != 1 or both.const:
                return None
            other, times = both.terms[0]
            scaled = self.vectors.scale(steps, times, width)
            lanes[other] = self.vectors.add(lanes.get(other), scaled, width)
        rows = self.make(width, (), _lanes(lanes, width), Exact(0, None), 0)
        return self.sum(width, ((product, 1), (rows, 1)), a.assumptions | b.assumptions)


def _order(pattern: Pattern) -> tuple[int, ...]:
    """An order among uniform patterns, so that a * b and b * a are the same."""
    return (*[s.index for s, _ in pattern.terms], *[f for _, f in pattern.terms], pattern.const)


def _low(pattern: Pattern) -> int:
    """The low bits that are 0 in a uniform pattern."""
    if not pattern.const:
        return pattern.zeros
    return min(pattern.zeros, (pattern.const & -pattern.const).bit_length() - 1)


def _behind_dropped(
    terms: dict[Symbol, int], lanes: dict[Symbol, Vector | None], width: int
) -> int:
    """What it rests on that products with symbols are 0: the low zero bits of these."""
    bits = 0
    for symbol, factor in terms.items():
        wrapped = wrap(factor, width)
        if wrapped and symbol.zeros + (wrapped & -wrapped).bit_length() > width:
            bits |= symbol.assumptions
    for symbol, steps in lanes.items():
        if steps is not None and symbol.zeros + steps.zeros >= width:
            bits |= symbol.assumptions
    return bits


def _terms(terms: dict[Symbol, int], width: int) -> Terms:
    kept = []
    for symbol, factor in terms.items():
        wrapped = wrap(factor, width)
        # A symbol's low zero bits may put the product beyond the width.
        if wrapped and symbol.zeros + (wrapped & -wrapped).bit_length() <= width:
            kept.append((symbol, wrapped))
    if len(kept) > 1:
        kept.sort(key=lambda term: term[0].index)
    return tuple(kept)


def _lanes(lanes: dict[Symbol, Vector | None], width: int) -> Lanes:
    kept = [(s, v) for s, v in lanes.items() if v is not None and s.zeros + v.zeros < width]
    if len(kept) > 1:
        kept.sort(key=lambda term: term[0].index)
    return tuple(kept)
