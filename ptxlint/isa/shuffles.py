"""Which lane a ``shfl`` reads (PTX ISA, "Data Movement and Conversion Instructions: shfl.sync")."""

from __future__ import annotations

from typing import NamedTuple

MODES = ("up", "down", "bfly", "idx")
WARP_SIZE = 32
_LANES = WARP_SIZE - 1


class Clamp(NamedTuple):
    """Operand c: ``last`` (bits 0 to 4) is the clamp, ``segments`` (bits 8 to 12) the lane bits
    that a source shares with its reader.
    """

    last: int
    segments: int


def clamp_of(c: int) -> Clamp:
    """Operand c, unpacked."""
    return Clamp(c & _LANES, c >> 8 & _LANES)


def source_lane(mode: str, lane: int, b: int, c: int) -> int | None:
    """The lane whose value ``lane`` gets; None where that is out of range and it keeps its own.

    ``b`` is the lane or distance and ``c`` the packed clamp, of which 5 bits each count.
    """
    last, segments = clamp_of(c)
    b &= _LANES
    limit = lane & segments | last & ~segments
    if mode == "up":
        source = lane - b
        return source if source >= limit else None
    if mode == "down":
        source = lane + b
    elif mode == "bfly":
        source = lane ^ b
    else:
        source = lane & segments | b & ~segments
    return source if source <= limit else None
