"""Numbers known modulo a power of two, for each thread of an index space, and sums with them.

A state is (k, residue, assumptions): the value is ``residue`` modulo ``2**k`` in each thread.
``residue`` is an int where it is the same in all threads, else ``Lanes``. A value of a *w*-bit
register is known exactly if k = w; as an integer that has left its register (widened, say) it is
exact if k = ``EXACT``, and then has a sign.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Union

from ...isa.types import signed as as_signed

EXACT = 1 << 10


class Lanes:
    """A residue for each thread of the index space; equal ones are one object.

    ``any`` is the bits that are set in some thread.
    """

    __slots__ = ("any", "values")

    def __init__(self, values: tuple[int, ...]) -> None:
        self.values = values
        union = 0
        for value in values:
            union |= value
        self.any = union


Residue = Union[int, Lanes]
State = tuple[int, Residue, int]
UNKNOWN: State = (0, 0, 0)


def mask(k: int) -> int:
    """k ones."""
    return (1 << k) - 1


def zeros(residue: Residue, most: int) -> int:
    """How many low bits are 0 in every thread; ``most`` if all of them are."""
    union = residue if type(residue) is int else residue.any  # type: ignore[union-attr]
    return (union & -union).bit_length() - 1 if union else most


class Numbers:
    """Operations on residues. Each is worked out once for the same vectors."""

    __slots__ = ("_known", "_lanes", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._lanes: dict[tuple[int, ...], Lanes] = {}
        self._known: dict[tuple[object, ...], Residue] = {}

    def residue(self, values: tuple[int, ...]) -> Residue:
        """The residue of these values: an int where they are all the same."""
        first = values[0]
        if values.count(first) == len(values):
            return first
        known = self._lanes.get(values)
        if known is None:
            known = self._lanes[values] = Lanes(values)
        return known

    def values(self, residue: Residue) -> tuple[int, ...]:
        """One value for each thread."""
        return (residue,) * self.size if isinstance(residue, int) else residue.values

    def one(self, f: Callable[[int, int], int], a: Residue, n: int) -> Residue:
        """``f(a, n)`` in each thread."""
        if isinstance(a, int):
            return f(a, n)
        key = (f, a, n)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self.residue(tuple([f(x, n) for x in a.values]))
        return known

    def two(self, f: Callable[[int, int, int], int], a: Residue, b: Residue, n: int) -> Residue:
        """``f(a, b, n)`` in each thread."""
        if isinstance(a, int) and isinstance(b, int):
            return f(a, b, n)
        key = (f, a, b, n)
        known = self._known.get(key)
        if known is None:
            pairs = zip(self.values(a), self.values(b), strict=True)
            known = self._known[key] = self.residue(tuple([f(x, y, n) for x, y in pairs]))
        return known

    def cut(self, state: State, k: int) -> State:
        """The state modulo at most ``2**k``."""
        if state[0] <= k and state[0] != EXACT:
            return state
        k = min(state[0], k)
        return (k, self.one(_low, state[1], k), state[2]) if k else UNKNOWN

    def join(self, a: State, b: State) -> State:
        """What holds of a value that is one or the other."""
        if a[1] is b[1] or (a[1] == b[1] and type(a[1]) is int):
            k = min(a[0], b[0])
            if a[0] == b[0]:
                return (k, a[1], a[2] | b[2])
            return self.cut((max(a[0], b[0]), a[1], a[2] | b[2]), k)
        k = min(a[0], b[0], zeros(self.two(_xor, a[1], b[1], 0), EXACT))
        if not k:
            return UNKNOWN
        return (k, self.one(_low, a[1], k), a[2] | b[2])

    def of_any(self, state: State) -> State:
        """What holds of a value that is that of some thread, not known which."""
        k, residue, bits = state
        if isinstance(residue, int):
            return state
        first = residue.values[0]
        union = 0
        for value in residue.values:
            union |= value ^ first
        k = min(k, zeros(union, k))
        return (k, first & mask(k), bits) if k else UNKNOWN

    def integer(self, state: State, width: int, signed: bool) -> State:
        """A register's value as an integer: exact if all its bits are known."""
        if state[0] < width:
            return state
        return (EXACT, self.one(as_signed if signed else _low, state[1], width), state[2])

    def add(self, a: State, b: State) -> State:
        """The sum, as integers."""
        k = min(a[0], b[0])
        return (k, self.two(_add, a[1], b[1], k), a[2] | b[2]) if k else UNKNOWN

    def negative(self, a: State) -> State:
        """The value with its sign changed, as an integer."""
        return (a[0], self.one(_minus, a[1], a[0]), a[2])

    def multiply(self, a: State, b: State) -> State:
        """The product, as integers: each factor's unknown part times the other's known zeros."""
        k = min(a[0] + zeros(b[1], b[0]), b[0] + zeros(a[1], a[0]), a[0] + b[0], EXACT)
        return (k, self.two(_times, a[1], b[1], k), a[2] | b[2]) if k else UNKNOWN

    def right(self, a: State, count: int) -> State:
        """An integer shifted right; the bits above are its sign's."""
        if a[0] == EXACT:
            return (EXACT, self.one(_right, a[1], count), a[2])
        k = a[0] - count
        return (k, self.one(_right, a[1], count), a[2]) if k > 0 else UNKNOWN

    def pack(self, low: State, high: State, width: int) -> State:
        """``high`` above the ``width`` bits of ``low``."""
        if low[0] < width:
            return low
        k = width + high[0] if high[0] != EXACT else EXACT
        bits = low[2] | high[2] if high[0] else low[2]
        return (k, self.two(_above, low[1], high[1], width), bits)

    def bitwise(self, table: int, sources: tuple[State, ...], width: int) -> State:
        """A function of each bit: bit (a*4 + b*2 + c) of ``table``, the last two left out for
        fewer sources.

        Where some sources are known further than others, both values of those are tried.
        """
        bits = 0
        for source in sources:
            bits |= source[2]
        alike: State | None = None
        for choice in range(1 << len(sources)):
            tried = []
            for i, (k, residue, _) in enumerate(sources):
                if choice >> i & 1 and k >= width:
                    break
                tried.append(self.one(_ones_above, residue, k) if choice >> i & 1 else residue)
            else:
                result = (width, self._bits(table, tried, width), bits)
                alike = result if alike is None else self.join(alike, result)
        return alike or UNKNOWN

    def _bits(self, table: int, tried: list[Residue], width: int) -> Residue:
        a = tried[0]
        b = tried[1] if len(tried) > 1 else 0
        c = tried[2] if len(tried) > 2 else 0
        if isinstance(a, int) and isinstance(b, int) and isinstance(c, int):
            return _by_table(table, a, b, c, width)
        key = ("bits", table, a, b, c, width)
        known = self._known.get(key)
        if known is None:
            threads = zip(self.values(a), self.values(b), self.values(c), strict=True)
            known = self.residue(tuple([_by_table(table, *each, width) for each in threads]))
            self._known[key] = known
        return known


def _by_table(table: int, a: int, b: int, c: int, width: int) -> int:
    result = 0
    full = mask(width)
    for row in range(8):
        if table >> row & 1:
            term = a if row & 4 else ~a
            term &= b if row & 2 else ~b
            term &= c if row & 1 else ~c
            result |= term
    return result & full


def _low(a: int, k: int) -> int:
    return a & ((1 << k) - 1)


def _minus(a: int, k: int) -> int:
    return -a if k == EXACT else -a & ((1 << k) - 1)


def _right(a: int, count: int) -> int:
    return a >> count


def _ones_above(a: int, k: int) -> int:
    return a | -1 << k


def _add(a: int, b: int, k: int) -> int:
    return a + b if k == EXACT else (a + b) & ((1 << k) - 1)


def _times(a: int, b: int, k: int) -> int:
    return a * b if k == EXACT else (a * b) & ((1 << k) - 1)


def _above(low: int, high: int, width: int) -> int:
    return low | high << width


def _xor(a: int, b: int, _: int) -> int:
    return a ^ b
