"""The states of the uniformity analysis, packed into ints.

A value is W + L: L takes the low ``k`` bits and may differ from lane to lane, W is the same in all
lanes of a warp, or in all threads of the block. k = 0 is a uniform value; k = 64 one of which
nothing is known. Bit 0 of a state is set where W may differ from warp to warp, bits 1 to 7 are k,
those above are the set of assumptions.
"""

from __future__ import annotations

WARP_VARIES = 1
LANES = 64 << 1  # nothing is known
_LOW = 0xFE
SHIFT = 8

CTA_UNIFORM, WARP_UNIFORM, LANE_DEPENDENT = range(3)


def level_of(state: int) -> int:
    """``CTA_UNIFORM``, ``WARP_UNIFORM`` or ``LANE_DEPENDENT``."""
    return LANE_DEPENDENT if state & _LOW else state & WARP_VARIES


def spread(state: int) -> int:
    """k: how many low bits may differ from lane to lane."""
    return (state & _LOW) >> 1


def with_spread(state: int, k: int) -> int:
    """The state with another k; nothing is known from 64 on."""
    return LANES if k >= 64 else state & ~_LOW | k << 1


def assumed(state: int) -> int:
    """The set of assumptions that a state rests on."""
    return state >> SHIFT


def join(a: int, b: int) -> int:
    """The state of a value that is one or the other, the same one in all lanes."""
    if (a | b) & LANES:
        return LANES
    low = max(a & _LOW, b & _LOW)
    return (a | b) & ~_LOW | low
