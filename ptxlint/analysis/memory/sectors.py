"""Global memory: how many 32-byte sectors and 128-byte lines one request of a warp touches.

Equal to what Nsight Compute counted on an H200 (sm_90) for 1,413 single requests
(tests/analysis/memory/requests_sm90.json): a load or store touches each sector once; an atomic
touches a sector as often as the most lanes use one word of it.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from .banks import WORD, Lanes

SECTOR = 32
LINE = 128


class Sectors(NamedTuple):
    """Sectors of a request: from ``low`` to ``high``, by where its base lies; ``minimum`` is what
    as many bytes take at best. ``lines``: 128-byte lines, at worst; ``least_lines``: at best.
    """

    low: int
    high: int
    minimum: int
    lines: int
    least_lines: int


def sectors(lanes: Lanes, size: int, kind: str = "read", aligned: int = SECTOR) -> Sectors:
    """The sectors of one request.

    ``lanes``: (lane, byte offset) of each lane that takes part. ``size``: bytes of each lane's
    access. The offsets count from a base of which no more is known than that it is a multiple
    of ``aligned``, a power of two.
    """
    offsets = [offset for _, offset in lanes]
    step = min(aligned, LINE)
    counts = [_touched(offsets, size, kind, base, SECTOR) for base in range(0, SECTOR, step)]
    rows = [_touched(offsets, size, "read", base, LINE) for base in range(0, LINE, step)]
    used = _bytes(offsets, size)
    minimum = -(-used // SECTOR)
    if kind == "atomic" and offsets:
        minimum = max(minimum, max(Counter(offset // WORD for offset in offsets).values()))
    return Sectors(min(counts), max(counts), minimum, max(rows), -(-used // LINE))


def _touched(offsets: list[int], size: int, kind: str, base: int, unit: int) -> int:
    if kind == "atomic":
        words = Counter((base + offset) // WORD for offset in offsets)
        most: dict[int, int] = {}
        for word, count in words.items():
            sector = word * WORD // unit
            most[sector] = max(most.get(sector, 0), count)
        return sum(most.values())
    return len(
        {
            place
            for offset in offsets
            for place in range((base + offset) // unit, (base + offset + size - 1) // unit + 1)
        }
    )


def _bytes(offsets: list[int], size: int) -> int:
    """How many different bytes are touched."""
    total, end = 0, None
    for offset in sorted(set(offsets)):
        start = offset if end is None else max(offset, end)
        total += max(0, offset + size - start)
        end = offset + size if end is None else max(end, offset + size)
    return total
