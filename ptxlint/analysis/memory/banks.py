"""Shared memory: how many wavefronts one request of a warp takes, and which lanes meet in a bank.

The model is what Nsight Compute counted on an H200 (sm_90) for 1,549 single requests, all equal
(tests/analysis/memory/requests_sm90.json; the counter has one wavefront more for each launch):

- 32 banks of 4 bytes; lanes that use the same word share it, those of an atomic do not;
- a warp goes in one group of lanes up to 4 bytes, in two for 8 and in four for 16; half as many
  groups for loads in which each lane has the same address as its neighbour (lane ^ 1, in the whole
  warp; or lane ^ 2), where lanes that take no part agree with all;
- ldmatrix and stmatrix: one group for each matrix, the rows that 8 lanes point to;
- a group takes as many wavefronts as the fullest bank has words.

cp.async is not modelled: one of 16 bytes past L1 (.cg) was counted at 4, wherever its lanes wrote;
one through L1 (.ca) depends on both of its addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LANES = 32
BANKS = 32
WORD = 4
_GROUPS = {8: 2, 16: 4}

Lanes = Sequence[tuple[int, int]]


class Meeting(NamedTuple):
    """Lanes of one group whose words lie in one bank; ``words`` are the different ones there."""

    bank: int
    lanes: tuple[int, ...]
    words: int


class Wavefronts(NamedTuple):
    """``total`` of a request; ``minimum`` is what it would take if no two words met in a bank."""

    total: int
    minimum: int

    @property
    def ways(self) -> float:
        """How many times the minimum."""
        return self.total / self.minimum


def wavefronts(lanes: Lanes, size: int, kind: str = "read", matrices: int = 0) -> Wavefronts:
    """The wavefronts of one request.

    ``lanes``: (lane, byte offset) of each lane that takes part, ascending; the offsets count from
    any multiple of 4. ``size``: bytes of each lane's access, 1 to 16. ``kind`` is ``read``,
    ``write``, or ``atomic``; ``matrices`` the number of an ldmatrix or stmatrix, whose ``size`` is
    that of a row: 16.
    """
    total = minimum = 0
    for group in groups(lanes, size, kind, matrices):
        fullest, least = _group(group, size, kind)
        total += fullest
        minimum += least
    return Wavefronts(total, minimum)


def groups(lanes: Lanes, size: int, kind: str, matrices: int = 0) -> list[Lanes]:
    """The lanes that are served together."""
    if matrices:
        rows = [lanes[8 * i : 8 * i + 8] for i in range(matrices)]
        return [row for row in rows if row]
    number = _GROUPS.get(size, 1)
    if number > 1 and kind == "read" and (_paired(lanes, 1) or _paired(lanes, 2)):
        number //= 2
    if number == 1:
        return [lanes] if lanes else []
    each = LANES // number
    found: list[list[tuple[int, int]]] = [[] for _ in range(number)]
    for lane, offset in lanes:
        found[lane // each].append((lane, offset))
    return [group for group in found if group]


def _paired(lanes: Lanes, apart: int) -> bool:
    """Whether each lane has the address of the lane with that bit flipped, where both take part."""
    offsets = dict(lanes)
    return all(offsets.get(lane ^ apart, offset) == offset for lane, offset in lanes)


def _group(group: Lanes, size: int, kind: str) -> tuple[int, int]:
    """(wavefronts, the fewest possible) of one group."""
    if kind == "atomic":
        words = [offset // WORD for _, offset in group]
        banks = [word % BANKS for word in words]
        fullest = max(map(banks.count, set(banks)))
        return fullest, max(map(words.count, set(words)))
    touched = {
        word
        for offset in {offset for _, offset in group}
        for word in range(offset // WORD, (offset + size - 1) // WORD + 1)
    }
    counts = [0] * BANKS
    for word in touched:
        counts[word % BANKS] += 1
    return max(counts), 1


def meeting(lanes: Lanes, size: int, kind: str = "read", matrices: int = 0) -> Meeting:
    """Of a request, the bank with the most words, and the lanes that meet there."""
    worst = Meeting(0, (), 0)
    for group in groups(lanes, size, kind, matrices):
        banks: dict[int, dict[int, list[int]]] = {}
        for lane, offset in group:
            last = (offset + size - 1) // WORD
            for word in range(offset // WORD, last + 1):
                banks.setdefault(word % BANKS, {}).setdefault(word, []).append(lane)
        for bank, words in sorted(banks.items()):
            if len(words) > worst.words:
                met = sorted({lane for each in words.values() for lane in each})
                worst = Meeting(bank, tuple(met), len(words))
    return worst
