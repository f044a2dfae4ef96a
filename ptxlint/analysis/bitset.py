"""Sets of small numbers as plain ints: bit *i* for member *i*."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def members(bits: int) -> Iterator[int]:
    """The members of a set, lowest first."""
    while bits:
        low = bits & -bits
        bits ^= low
        yield low.bit_length() - 1


def bitset(numbers: Iterable[int]) -> int:
    """The set of these numbers."""
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits
