"""Shifts, and changes of width, of patterns."""

from __future__ import annotations

from .algebra import Algebra
from .assumed import NO_WRAP, NOT_NEGATIVE
from .bitwise import split
from .pattern import Lanes, Pattern, Terms
from .ranges import bounds, fits, uniform_bits
from .symbols import EVERY_BIT, Symbol
from .vectors import Exact, Vector, wrap


def shift_left(algebra: Algebra, a: Pattern, count: int) -> Pattern:
    """a << count; PTX shifts everything out where count is the width or more."""
    if count >= a.width:
        return algebra.constant(0, a.width)
    return algebra.scale(a, 1 << count) if count else a


def shift_right(algebra: Algebra, a: Pattern, count: int, signed: bool) -> Pattern | None:
    """a >> count, arithmetic where ``signed``."""
    width = a.width
    if count >= width:
        if not signed:
            return algebra.constant(0, width)
        count = width - 1
    if not count:
        return a
    parts = split(algebra, a)
    if parts is None:
        return _shift_sum(algebra, a, count, signed)
    exact = algebra.vectors.apply(
        ("shr", count), lambda x: x >> count, width, (parts.exact.exact, width, signed)
    )
    below = algebra.of(exact, width, parts.assumptions)
    if parts.uniform.is_constant:
        above = algebra.constant((parts.uniform.const & ((1 << width) - 1)) >> count, width)
        return below if not parts.uniform.const else algebra.add(below, above)
    return algebra.sum(
        width, ((_shift_uniform(algebra, parts.uniform, count, signed), 1), (below, 1))
    )


def _shift_uniform(algebra: Algebra, a: Pattern, count: int, signed: bool) -> Pattern:
    mask = uniform_bits(a)
    known = fits(a, signed)
    if known and all(not factor & ((1 << count) - 1) for _, factor in a.terms):
        terms = tuple([(symbol, factor >> count) for symbol, factor in a.terms])
        assumptions = a.assumptions | a.symbols_assumed
        return algebra.make(a.width, terms, (), Exact(a.const >> count, None), assumptions)
    if signed and not known:
        mask = -(mask & -mask)  # the sign may be copied into any bit above
    else:
        mask &= (1 << a.width) - 1
    mask >>= count
    return algebra.derived(("shr", count, signed), (a,), a.width, mask)


def _shift_sum(algebra: Algebra, a: Pattern, count: int, signed: bool) -> Pattern | None:
    """Of a sum that does not split: all of it is a multiple of 2^count but the exact part."""
    width = a.width
    range_ = bounds(a)
    if signed and count == width - 1:
        # The sign: compilers ask for it before they divide an index.
        if range_ is not None and range_[0] >= 0 and range_[1] < 1 << (width - 1):
            return algebra.constant(0, width, a.assumptions | a.symbols_assumed)
        return algebra.constant(0, width, a.assumptions | NOT_NEGATIVE)
    if a.zeros < count or any(steps.zeros < count for _, steps in a.lanes) or not moderate(a):
        return None
    shared = algebra.make(width, a.terms, (), Exact(0, None), 0)
    exact = algebra.vectors.apply(
        ("shr", count), lambda x: x >> count, width, (a.exact, width, True)
    )
    lanes: Lanes = ()
    for symbol, steps in a.lanes:
        less = algebra.vectors.exact([v >> count for v in steps.values], width).vector
        if less is not None:
            lanes += ((symbol, less),)
    assumptions = a.assumptions | a.symbols_assumed
    if not fits(a, signed):
        assumptions |= NO_WRAP
    rest = algebra.make(width, (), lanes, exact, assumptions)
    if not a.terms:
        return rest
    return algebra.sum(width, ((_shift_uniform(algebra, shared, count, signed), 1), (rest, 1)))


def widen(algebra: Algebra, a: Pattern, width: int, signed: bool) -> Pattern | None:
    """Sign or zero extension; where the sum may wrap in its own width, that it does not is
    assumed.
    """
    if a.is_exact:
        exact = algebra.vectors.apply(
            ("widen", a.width), lambda x: x, width, (a.exact, a.width, signed)
        )
        return algebra.of(exact, width, a.assumptions)
    if fits(a, signed):
        assumptions = a.assumptions | a.symbols_assumed
        return algebra.make(width, a.terms, a.lanes, a.exact, assumptions)
    if not moderate(a):
        if a.is_uniform:
            return algebra.derived(("widen", signed, a.width), (a,), width)
        return None
    terms: Terms = tuple([(_wide(algebra, s, a.width, signed), f) for s, f in a.terms])
    lanes: Lanes = tuple([(_wide(algebra, s, a.width, signed), v) for s, v in a.lanes])
    single = a.is_uniform and not a.const and len(terms) == 1 and terms[0][1] == 1
    assumptions = a.assumptions | (0 if single else NO_WRAP)
    if len(terms) > 1:
        terms = tuple(sorted(terms, key=lambda term: term[0].index))
    if len(lanes) > 1:
        lanes = tuple(sorted(lanes, key=lambda term: term[0].index))
    return algebra.make(width, terms, lanes, a.exact, assumptions)


def moderate(a: Pattern) -> bool:
    """Whether the exact part is far from where it would wrap: else to assume of a sum that it
    does not wrap says nothing, for what wraps is not known.
    """
    quarter = 1 << (a.width - 2)
    low = high = a.const
    if a.vector is not None:
        low, high = low + a.vector.low, high + a.vector.high
    return low >= -quarter and high < quarter


def _wide(algebra: Algebra, symbol: Symbol, width: int, signed: bool) -> Symbol:
    """The symbol as an integer of that signedness; itself where it is small enough."""
    if 0 <= symbol.mask < 1 << (width - signed):
        return symbol
    mask = EVERY_BIT << symbol.zeros
    if not signed:
        mask &= (1 << width) - 1
    return algebra.symbols.get(
        "derived",
        ("widen", symbol, width, signed),
        mask=mask,
        loops=symbol.loops,
        scope=symbol.scope,
        assumptions=symbol.assumptions,
    )


def truncate(algebra: Algebra, a: Pattern, width: int) -> Pattern:
    """The low ``width`` bits: always exact."""
    if width >= a.width:
        return a
    vector: Vector | None = None
    if a.vector is not None:
        half = 1 << (width - 1)
        vector = a.vector
        if vector.low < -half or vector.high >= half:
            vector = algebra.vectors.exact(vector.values, width).vector
    rest = algebra.of(Exact(wrap(a.const, width), vector), width, 0)
    lanes: Lanes = ()
    for symbol, steps in a.lanes:
        less = algebra.vectors.exact(steps.values, width).vector
        if less is not None:
            lanes += ((symbol, less),)
    linear = Pattern(width, a.terms, lanes, 0, None, a.assumptions)
    return algebra.sum(width, ((linear, 1), (rest, 1)))
