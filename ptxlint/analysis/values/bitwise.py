"""Bitwise operations on patterns: exact where a value splits by bits.

A pattern *splits* where its bits are those of a uniform value and those of an exact one, none
shared: then what is done bit by bit is done on each. 1 + (thread 3) shifted right by 2 is not the
sum of the shifts; 4 * unknown + (thread 3) shifted right by 2 is.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from .algebra import Algebra
from .pattern import Pattern
from .ranges import possible_bits, uniform_bits
from .vectors import Exact


class Split(NamedTuple):
    """``uniform`` and ``exact``, of disjoint bits; ``mask`` holds those that ``uniform`` may
    have; ``assumptions`` are what this rests on.
    """

    uniform: Pattern
    exact: Pattern
    mask: int
    assumptions: int


def split(algebra: Algebra, a: Pattern) -> Split | None:
    """The pattern by bits; None where carries from one part to the other may matter."""
    width, full = a.width, (1 << a.width) - 1
    if a.is_exact:
        return Split(algebra.constant(0, width), a, 0, a.assumptions)
    if a.vector is None and not a.lanes:
        mask = uniform_bits(a) & full
        return Split(a, algebra.constant(0, width), mask, a.assumptions | a.symbols_assumed)
    if a.lanes:
        return None
    assumptions = a.assumptions | a.symbols_assumed
    shared = algebra.make(width, a.terms, (), Exact(0, None), 0)
    below = (1 << a.zeros) - 1
    if algebra.vectors.varying(a.exact, width) <= below:
        low = _low_bits(algebra, a)
        high = algebra.constant((a.const & full) & ~below, width)
        uniform = algebra.add(shared, high)
        return Split(uniform, low, uniform_bits(uniform) & full & ~below, assumptions)
    mask = possible_bits(a)
    if 0 <= mask <= full and not algebra.vectors.bits(a.exact, width) & mask:
        return Split(shared, algebra.of(a.exact, width, 0), mask, assumptions)
    return None


def _low_bits(algebra: Algebra, a: Pattern) -> Pattern:
    """The low bits that nothing symbolic touches."""
    below = (1 << a.zeros) - 1
    exact = algebra.vectors.apply(
        ("low", a.zeros), lambda x: x & below, a.width, (a.exact, a.width, False)
    )
    return algebra.of(exact, a.width, 0)


def bitwise(
    algebra: Algebra, name: Hashable, operation: Callable[..., int], operands: Sequence[Pattern]
) -> Pattern | None:
    """An operation that works on each bit by itself; ``name`` is ``and``, ``or``, ``xor`` or
    whatever tells ``operation`` from others.
    """
    width = operands[0].width
    full = (1 << width) - 1
    splits, assumptions, varying = [], 0, 0
    for operand in operands:
        parts = split(algebra, operand)
        if parts is None:
            return _against_number(algebra, name, operation, operands)
        splits.append(parts)
        assumptions |= parts.assumptions
        varying |= algebra.vectors.varying(parts.exact.exact, width)
    if any(parts.mask & varying for parts in splits):
        return _against_number(algebra, name, operation, operands)
    exact = algebra.vectors.apply(
        (name, varying),
        lambda *row: operation(*row) & varying,
        width,
        *[(parts.exact.exact, width, False) for parts in splits],
    )
    uniform = _uniform(algebra, name, operation, splits, full & ~varying)
    whole = algebra.make(width, (), (), exact, assumptions)
    return algebra.sum(width, ((uniform, 1), (whole, 1)))


def _uniform(
    algebra: Algebra,
    name: Hashable,
    operation: Callable[..., int],
    splits: list[Split],
    kept: int,
) -> Pattern:
    """The operation on the bits ``kept``, which are the same in all threads."""
    width = splits[0].uniform.width
    operands, masks = [], []
    for parts in splits:
        constant = parts.exact.const & kept
        whole = algebra.add(parts.uniform, algebra.constant(constant, width))
        operands.append(whole)
        masks.append(parts.mask | constant)
    if all(operand.is_constant for operand in operands):
        values = [operand.const for operand in operands]
        return algebra.constant(operation(*values) & kept, width)
    if name in ("or", "xor") and not masks[0] & masks[1]:
        return algebra.sum(width, [(operand, 1) for operand in operands])
    if name == "and":
        for one, other in ((0, 1), (1, 0)):
            if operands[other].is_constant and not masks[one] & ~masks[other]:
                return operands[one]
            if operands[other].is_constant and not splits[one].mask & masks[other]:
                # All that is symbolic falls away: the constant bits beside it stay.
                return algebra.constant(splits[one].exact.const & kept & masks[other], width)
        mask = masks[0] & masks[1]
    elif name in ("or", "xor"):
        mask = masks[0] | masks[1]
    else:
        mask = kept
    if not mask:
        return algebra.constant(0, width)
    return algebra.derived((name, kept), tuple(operands), width, mask)


def _against_number(
    algebra: Algebra, name: Hashable, operation: Callable[..., int], operands: Sequence[Pattern]
) -> Pattern | None:
    """and, or, xor with exact bits below all that is symbolic: what lies above is left alone."""
    if name not in ("and", "or", "xor") or len(operands) != 2:
        return None
    a, b = operands if operands[1].is_exact else (operands[1], operands[0])
    if not b.is_exact:
        return None
    width = a.width
    below = (1 << a.zeros) - 1
    bits = algebra.vectors.bits(b.exact, width)
    assumptions = a.assumptions | a.symbols_assumed | b.assumptions
    exact = algebra.vectors.apply(
        name, operation, width, (a.exact, width, True), (b.exact, width, True)
    )
    if name == "and" and bits <= below:
        return algebra.of(exact, width, assumptions)
    above = (1 << width) - 1 - below
    if name == "and":
        rest = algebra.vectors.bits(
            algebra.vectors.apply("not", lambda x: ~x, width, (b.exact, width, True)), width
        )
        if rest & above:
            return None
    elif bits & above:
        return None
    return algebra.make(width, a.terms, a.lanes, exact, assumptions)
