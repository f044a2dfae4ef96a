"""Comparisons, logic and selection: predicates are patterns of width 1."""

from __future__ import annotations

import operator
from collections.abc import Callable

from .algebra import Algebra
from .assumed import INTERIOR, NO_WRAP
from .pattern import Pattern
from .ranges import bounds, fits, low_zeros, uniform_bits
from .shifts import moderate
from .symbols import EVERY_BIT, WARP
from .vectors import Exact

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "lo": operator.lt,
    "ls": operator.le,
    "hi": operator.gt,
    "hs": operator.ge,
}


def compare(
    algebra: Algebra, name: str, a: Pattern, b: Pattern, signed: bool, interior: bool
) -> Pattern | None:
    """``setp.<name>``. With ``interior``, lanes are taken to agree where they may not."""
    operation = COMPARISONS[name]
    assumptions = a.assumptions | b.assumptions
    if a.terms == b.terms and a.lanes == b.lanes:
        equality = name in ("eq", "ne")
        sure = equality or (fits(a, signed) and fits(b, signed))
        if a.is_exact or sure or (moderate(a) and moderate(b)):
            if not equality and not a.is_exact:
                assumptions |= a.symbols_assumed if sure else NO_WRAP
            as_signed = signed if a.is_exact else not equality
            exact = algebra.vectors.apply(
                name,
                lambda x, y: int(operation(x, y)),
                1,
                (a.exact, a.width, as_signed),
                (b.exact, b.width, as_signed),
            )
            return algebra.of(exact, 1, assumptions)
    decided = _by_bounds(algebra, operation, a, b, signed)
    if decided is not None:
        return decided
    if a.is_uniform and b.is_uniform:
        return algebra.derived((name, signed), (a, b), 1, 1)
    if interior:
        return agreed(algebra, (name, signed), (a, b))
    return None


def agreed(algebra: Algebra, name: object, operands: tuple[Pattern, ...]) -> Pattern:
    """A predicate that all lanes of an interior warp are taken to agree on."""
    loops = assumptions = 0
    for operand in operands:
        loops |= operand.loops
        assumptions |= operand.assumptions
    symbol = algebra.symbols.get(
        "derived", ("interior", name, operands), mask=1, loops=loops, scope=WARP
    )
    return algebra.symbol(symbol, 1, assumptions | INTERIOR)


def _by_bounds(
    algebra: Algebra,
    operation: Callable[[int, int], bool],
    a: Pattern,
    b: Pattern,
    signed: bool,
) -> Pattern | None:
    if not (fits(a, signed) and fits(b, signed)):
        return None
    one, other = bounds(a), bounds(b)
    if one is None or other is None or not (one[1] < other[0] or other[1] < one[0]):
        return None
    assumptions = a.assumptions | b.assumptions | a.symbols_assumed | b.symbols_assumed
    return algebra.constant(int(operation(one[0], other[0])), 1, assumptions)


def negate(algebra: Algebra, p: Pattern) -> Pattern:
    """not p."""
    return algebra.add(p, algebra.constant(1, 1))


def conjunction(algebra: Algebra, p: Pattern | None, q: Pattern | None) -> Pattern | None:
    """p and q, each None where unknown: what is false anyway stays known."""
    for one in (p, q):
        if one is not None and one.is_constant and not one.const:
            return one
    if p is None or q is None:
        return None
    return p if p is q else algebra.multiply(p, q)


def disjunction(algebra: Algebra, p: Pattern | None, q: Pattern | None) -> Pattern | None:
    """p or q, each None where unknown."""
    neither = conjunction(
        algebra,
        None if p is None else negate(algebra, p),
        None if q is None else negate(algebra, q),
    )
    return None if neither is None else negate(algebra, neither)


def select(algebra: Algebra, p: Pattern | None, a: Pattern, b: Pattern) -> Pattern | None:
    """a where p, else b."""
    if a is b:
        return a
    if p is None:
        return None
    if p.is_constant:
        chosen = a if p.const else b
        return with_assumptions(algebra, chosen, p.assumptions)
    if p.is_exact:
        return _by_thread(algebra, p, a, b)
    if p.is_uniform and a.vector is b.vector and a.lanes == b.lanes:
        assumptions = a.assumptions | b.assumptions | p.assumptions
        width = a.width
        one = algebra.make(width, a.terms, (), Exact(a.const, None), 0)
        other = algebra.make(width, b.terms, (), Exact(b.const, None), 0)
        shared = choice(algebra, p, one, other)
        rest = algebra.make(width, (), a.lanes, Exact(0, a.vector), assumptions)
        return algebra.sum(width, ((shared, 1), (rest, 1)))
    return None


def choice(algebra: Algebra, p: Pattern, a: Pattern, b: Pattern) -> Pattern:
    """One of two uniform patterns, by a uniform predicate."""
    mask = join_bits(uniform_bits(a), uniform_bits(b))
    return a if a is b else algebra.derived("choice", (p, a, b), a.width, mask)


def join_bits(one: int, other: int) -> int:
    """The bits that may be 1 in one of two values; negative where there is no upper bound."""
    if one >= 0 and other >= 0:
        return one | other
    return EVERY_BIT << low_zeros(one | other)


def _by_thread(algebra: Algebra, p: Pattern, a: Pattern, b: Pattern) -> Pattern | None:
    """A choice that is known for each thread: what is symbolic in a - b becomes a stride."""
    width, vectors = a.width, algebra.vectors
    exact = vectors.apply(
        "select",
        lambda x, y, z: y if x else z,
        width,
        (p.exact, 1, False),
        (a.exact, width, True),
        (b.exact, width, True),
    )
    assumptions = a.assumptions | b.assumptions | p.assumptions
    chosen = algebra.of(exact, width, assumptions)
    if a.terms == b.terms and a.lanes == b.lanes:
        return algebra.make(width, a.terms, a.lanes, exact, assumptions)
    if a.lanes or b.lanes or len(a.terms) + len(b.terms) > 6:
        return None
    where = vectors.apply("bit", lambda x: x, width, (p.exact, 1, False))
    ones = algebra.of(where, width, 0)
    parts = [(chosen, 1)]
    for pattern, taken in ((a, ones), (b, algebra.subtract(algebra.constant(1, width), ones))):
        for symbol, factor in pattern.terms:
            product = algebra.multiply(taken, algebra.symbol(symbol, width))
            if product is None:
                return None
            parts.append((product, factor))
    return algebra.sum(width, parts)


def with_assumptions(algebra: Algebra, a: Pattern, assumptions: int) -> Pattern:
    """The same pattern, resting on more."""
    if a.assumptions | assumptions == a.assumptions:
        return a
    return algebra.make(a.width, a.terms, a.lanes, a.exact, a.assumptions | assumptions)
