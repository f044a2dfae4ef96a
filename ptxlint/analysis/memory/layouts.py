"""Another layout of an object in shared memory, in which its accesses do not meet in banks.

What ``better_layouts`` proposes was tried with the model of ``banks`` on all accesses of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import NamedTuple, Union

from ..values.pattern import Pattern
from .banks import BANKS, WORD, wavefronts
from .requests import KNOWN, Request, matrices

_LINE = BANKS * WORD
_MOST_PITCH = 1 << 14
_MOST_STARTS = 256


class Padding(NamedTuple):
    """``pad`` bytes more after each ``pitch`` bytes."""

    pitch: int
    pad: int

    @property
    def period(self) -> int:
        """Adding a multiple of it to an offset changes no more than which row is meant."""
        return self.pitch

    def moved(self, offset: int) -> int:
        """Where the byte at an offset comes to lie."""
        return offset + offset // self.pitch * self.pad


class Swizzle(NamedTuple):
    """Chunks of ``unit`` bytes, a power of two, change places in their row of 128 bytes: the
    number of the chunk is xored with the ``bits`` bits of the offset from bit ``shift`` on.
    """

    unit: int
    bits: int
    shift: int

    @property
    def period(self) -> int:
        """As of ``Padding``."""
        return 1 << (self.shift + self.bits)

    @property
    def mask(self) -> int:
        """The bits of an offset that change."""
        return ((1 << self.bits) - 1) * self.unit

    @property
    def right(self) -> int:
        """By how much the offset is shifted right before the mask applies."""
        return self.shift - self.unit.bit_length() + 1

    def moved(self, offset: int) -> int:
        """Where the byte at an offset comes to lie."""
        return offset ^ (offset >> self.right & self.mask)


Layout = Union[Padding, Swizzle]


def better_layouts(requests: list[Request]) -> list[Layout]:
    """The first padding (by 4, 8 or 16 bytes) and the first swizzle in which each of the requests
    takes the least that it can; either may be missing.

    ``requests`` are all that go to one object. Nothing where one of them is not known.
    """
    if not requests or any(r.state != KNOWN or r.wavefronts is None for r in requests):
        return []
    widest = max(r.size or 1 for r in requests)
    found = []
    for candidates in (_paddings(requests, widest), _swizzles(widest)):
        for layout in candidates:
            if all(_is_least(request, layout) for request in requests):
                found.append(layout)
                break
    return found


def _paddings(requests: list[Request], widest: int) -> Iterator[Layout]:
    pitches = {pitch for request in requests for pitch in _pitches(request)}
    for pitch in sorted(pitches):
        for pad in (4, 8, 16):
            if pad % widest == 0 and pitch % widest == 0:
                yield Padding(pitch, pad)


def _swizzles(widest: int) -> Iterator[Layout]:
    for unit in (16, 8, 4):
        if unit >= widest:
            bits = (_LINE // unit).bit_length() - 1
            for shift in range(7, 13):
                yield Swizzle(unit, bits, shift)
                if bits > 2:
                    yield Swizzle(unit, bits - 1, shift)


def _pitches(request: Request) -> Iterator[int]:
    """How far lanes that meet lie apart, if that could be the length of a row."""
    if request.wavefronts is None or request.wavefronts.total == request.wavefronts.minimum:
        return
    offsets = sorted({offset for _, offset in request.lanes})
    apart = 0
    by_bank: dict[int, int] = {}
    for offset in offsets:
        bank = offset // WORD % BANKS
        if bank in by_bank:
            apart = gcd(apart, offset - by_bank[bank])
        by_bank[bank] = offset
    for pitch in (apart, offsets[1] - offsets[0] if len(offsets) > 1 else 0, _LINE):
        if 32 <= pitch <= _MOST_PITCH:
            yield pitch


def _is_least(request: Request, layout: Layout) -> bool:
    """Whether a request takes its minimum in a layout, in every warp."""
    pattern, now = request.pattern, request.wavefronts
    if pattern is None or now is None:
        return False
    starts = _starts(pattern, layout.period)
    size = request.size or 1
    for start in starts:
        for lanes in request.every_warp:
            places = [(lane, layout.moved(start + offset)) for lane, offset in lanes]
            if any(place % size for _, place in places):
                return False
            found = wavefronts(places, size, request.kind, matrices(request.access))
            if found.total > found.minimum:
                return False
    return bool(starts)


def _starts(pattern: Pattern, period: int) -> list[int]:
    """Where lane 0's address may lie in a period of the layout; none where there are too many.

    What is symbolic, the object's own address apart, may be any multiple of what it is known to
    be a multiple of.
    """
    step = period
    for symbol, factor in pattern.terms:
        if symbol.kind != "base":
            step = gcd(step, factor << symbol.zeros)
    if period // step > _MOST_STARTS:
        return []
    return [pattern.const + start for start in range(0, period, step)]
