"""Which bits of a pattern can be 1, and between which numbers it lies."""

from __future__ import annotations

from .pattern import Pattern


def possible_bits(pattern: Pattern) -> int:
    """The bits that may be 1 in the sum of ``terms`` (``lanes``, ``const`` and ``vector`` left
    out); negative where there is no upper bound.
    """
    mask = 0
    for symbol, factor in pattern.terms:
        low = factor & -factor
        if symbol.mask < 0 or factor < 0 or mask < 0:
            zeros = min(low_zeros(mask), symbol.zeros + low.bit_length() - 1)
            mask = -1 << zeros
            continue
        each = symbol.mask * low if factor == low else _up_to(symbol.mask * factor, symbol.zeros)
        if mask & each:
            zeros = min(low_zeros(mask), low_zeros(each))
            mask = _up_to(mask + each, zeros)
        else:
            mask |= each
    return mask


def low_zeros(mask: int) -> int:
    """The low bits that are 0; of 0, more than any width."""
    return (mask & -mask).bit_length() - 1 if mask else 1 << 16


def _up_to(most: int, zeros: int) -> int:
    """All bits of numbers up to ``most`` that are multiples of 2^zeros."""
    return ((1 << most.bit_length()) - 1) >> zeros << zeros


def bounds(pattern: Pattern) -> tuple[int, int] | None:
    """The least and the greatest value as an integer, nothing wrapped; None without bounds.

    The symbols count as the integers that they are, factors and vectors as signed ones.
    """
    low = high = pattern.const
    if pattern.vector is not None:
        low += pattern.vector.low
        high += pattern.vector.high
    for symbol, factor in pattern.terms:
        if symbol.mask < 0:
            return None
        low += min(factor, 0) * symbol.mask
        high += max(factor, 0) * symbol.mask
    for symbol, steps in pattern.lanes:
        if symbol.mask < 0:
            return None
        low += steps.low * symbol.mask
        high += steps.high * symbol.mask
    return low, high


def fits(pattern: Pattern, signed: bool) -> bool:
    """Whether the sum as an integer is known to be the value in that signedness."""
    if pattern.is_constant:
        return signed or pattern.const >= 0
    found = bounds(pattern)
    if found is None:
        return False
    least, most = (-1 << pattern.width - 1, 1 << pattern.width - 1)
    if not signed:
        least, most = 0, 1 << pattern.width
    return least <= found[0] and found[1] < most


def uniform_bits(pattern: Pattern) -> int:
    """The bits that may be 1 in a uniform pattern; negative where there is no upper bound."""
    mask, const = possible_bits(pattern), pattern.const
    if const >= 0 and not mask & const:
        return mask | const
    if const >= 0 and mask >= 0:
        return _up_to(mask + const, min(low_zeros(mask), low_zeros(const)))
    return -1 << min(low_zeros(mask), low_zeros(const))
