"""Exact thread vectors: one integer for each thread of a block (or lane of a warp).

Vectors are interned, and what was done to them is remembered, so that a module's repeated template
instances cost their arithmetic once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Operation = Callable[..., int]


class Vector:
    """Integers by thread; the first is 0 (what all share is kept beside it).

    ``low`` and ``high`` bound them; ``zeros`` counts the low bits that are 0 in all.
    """

    __slots__ = ("high", "low", "values", "zeros")

    def __init__(self, values: tuple[int, ...]) -> None:
        self.values = values
        self.low = min(values)
        self.high = max(values)
        bits = 0
        for value in values:
            bits |= value
            if bits & 1:
                break
        self.zeros = (bits & -bits).bit_length() - 1


class Exact(NamedTuple):
    """``const`` + ``vector`` (None: the same in all threads), without anything unknown."""

    const: int
    vector: Vector | None


def wrap(value: int, width: int) -> int:
    """The integer modulo 2^width, in the signed range; a predicate is 0 or 1."""
    if width == 1:
        return value & 1
    half = 1 << (width - 1)
    return ((value + half) & ((1 << width) - 1)) - half


class Vectors:
    """All vectors over ``size`` threads, interned."""

    __slots__ = ("_known", "_materialised", "_memory", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._known: dict[tuple[int, ...], Vector] = {}
        self._memory: dict[object, Exact] = {}
        self._materialised: dict[tuple[Exact, int, bool], tuple[int, ...]] = {}

    def exact(self, values: list[int] | tuple[int, ...], width: int) -> Exact:
        """The vector of these values modulo 2^width."""
        first = wrap(values[0], width)
        half = 1 << (width - 1)
        mask = (1 << width) - 1
        if width == 1:
            rest = tuple([(value - first) & 1 for value in values])
        elif max(values) - first < half and min(values) - first >= -half:
            rest = tuple([value - first for value in values]) if first else tuple(values)
        else:
            base = first - half
            rest = tuple([((value - base) & mask) - half for value in values])
        return Exact(first, self._intern(rest))

    def _intern(self, values: tuple[int, ...]) -> Vector | None:
        known = self._known.get(values)
        if known is None:
            if not any(values):
                return None
            known = self._known[values] = Vector(values)
        return known

    def materialise(self, exact: Exact, width: int, signed: bool) -> tuple[int, ...]:
        """The values as signed or unsigned integers of ``width`` bits."""
        key = (exact, width, signed)
        found = self._materialised.get(key)
        if found is None:
            found = self._materialised[key] = self._values(exact, width, signed)
        return found

    def _values(self, exact: Exact, width: int, signed: bool) -> tuple[int, ...]:
        const, vector = exact
        mask = (1 << width) - 1
        if vector is None:
            return (wrap(const, width) if signed else const & mask,) * self.size
        if not signed or width == 1:
            if const + vector.low >= 0 and const + vector.high <= mask:
                return tuple([const + v for v in vector.values]) if const else vector.values
            return tuple([(const + v) & mask for v in vector.values])
        half = 1 << (width - 1)
        if const + vector.low >= -half and const + vector.high < half:
            return tuple([const + v for v in vector.values]) if const else vector.values
        base = const + half
        return tuple([((base + v) & mask) - half for v in vector.values])

    def add(self, one: Vector | None, other: Vector | None, width: int) -> Vector | None:
        """The sum of two vectors."""
        if one is None or other is None:
            return one or other
        key = ("add", width, one, other)
        found = self._memory.get(key)
        if found is None:
            sums = [a + b for a, b in zip(one.values, other.values, strict=True)]
            found = self._memory[key] = self.exact(sums, width)
        return found.vector

    def scale(self, vector: Vector | None, factor: int, width: int) -> Vector | None:
        """A vector times a number."""
        if vector is None or factor == 1:
            return vector
        key = ("scale", width, vector, factor)
        found = self._memory.get(key)
        if found is None:
            found = self._memory[key] = self.exact([factor * v for v in vector.values], width)
        return found.vector

    def apply(
        self, name: object, operation: Operation, width: int, *operands: tuple[Exact, int, bool]
    ) -> Exact:
        """``operation`` thread by thread; an operand is (exact, its width, signed).

        ``name`` stands for the operation in what is remembered.
        """
        if all(operand[0].vector is None for operand in operands):
            numbers = [
                wrap(e.const, w) if signed else e.const & ((1 << w) - 1)
                for e, w, signed in operands
            ]
            return Exact(wrap(operation(*numbers), width), None)
        key = (name, width, operands)
        found = self._memory.get(key)
        if found is None:
            columns = [self.materialise(*operand) for operand in operands]
            values = [operation(*row) for row in zip(*columns, strict=True)]
            found = self._memory[key] = self.exact(values, width)
        return found

    def threads(self, exact: Exact) -> int:
        """Of predicates, the threads with 1, as a bit set."""
        key = ("threads", exact)
        found = self._memory.get(key)
        if found is None:
            digits = ["1" if value else "0" for value in self.materialise(exact, 1, False)]
            found = self._memory[key] = Exact(int("".join(reversed(digits)), 2), None)
        return found.const

    def varying(self, exact: Exact, width: int) -> int:
        """The bits that are not the same in all threads."""
        if exact.vector is None:
            return 0
        key = ("varying", width, exact)
        found = self._memory.get(key)
        if found is None:
            values = self.materialise(exact, width, False)
            first, bits = values[0], 0
            for value in values:
                bits |= value ^ first
            found = self._memory[key] = Exact(bits, None)
        return found.const

    def bits(self, exact: Exact, width: int) -> int:
        """The bits that are 1 in some thread."""
        if exact.vector is None:
            return exact.const & ((1 << width) - 1)
        key = ("bits", width, exact)
        found = self._memory.get(key)
        if found is None:
            bits = 0
            for value in self.materialise(exact, width, False):
                bits |= value
            found = self._memory[key] = Exact(bits, None)
        return found.const
