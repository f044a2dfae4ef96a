"""Wavefronts and sectors of single requests, as Nsight Compute counted them on a GPU."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ptxlint.analysis.memory.banks import meeting, wavefronts
from ptxlint.analysis.memory.sectors import sectors

ROWS = json.loads((Path(__file__).parent / "requests_sm90.json").read_text(encoding="utf-8"))
# What the counter shows of every launch, a kernel without shared memory included.
OF_LAUNCH = 1


def counted(counter: str, kinds: tuple[str, ...]) -> Iterator[tuple[str, Any, int, int]]:
    """(kind, lanes, bytes, what was counted) of the requests of those kinds."""
    for size, mask, offsets, row in ROWS["requests"]:
        lanes = [(lane, offsets[lane]) for lane in range(32) if mask >> lane & 1]
        for kind, value in row.get(counter, {}).items():
            if kind.startswith(kinds):
                yield kind, lanes, size, value


def test_wavefronts_are_those_counted() -> None:
    number = 0
    for kind, lanes, size, value in counted("wavefronts", ("ld", "st", "atom")):
        matrices = int(kind.split(".")[1][1]) if "matrix" in kind else 0
        how = "atomic" if kind.startswith("atom") else "read" if kind.startswith("ld") else "write"
        found = wavefronts(lanes, size, how, matrices)
        assert found.total == value - OF_LAUNCH, (kind, lanes)
        assert 1 <= found.minimum <= found.total
        number += 1
    assert number > 1500


def test_sectors_are_those_counted() -> None:
    number = 0
    for kind, lanes, size, value in counted("sectors", ("ld", "st", "red", "atom")):
        how = "atomic" if kind.startswith(("red", "atom")) else "read"
        found = sectors(lanes, size, how)
        assert (found.low, found.high) == (value, value), (kind, lanes)
        assert found.minimum <= found.low
        number += 1
    assert number > 1400


@pytest.mark.parametrize(
    ("aligned", "low", "high", "lines"), [(128, 4, 4, 1), (32, 4, 4, 2), (16, 4, 5, 2)]
)
def test_a_base_known_less_well_gives_a_range(
    aligned: int, low: int, high: int, lines: int
) -> None:
    found = sectors([(lane, 4 * lane) for lane in range(32)], 4, aligned=aligned)
    assert (found.low, found.high, found.lines, found.least_lines) == (low, high, lines, 1)


def test_the_lanes_that_meet_are_named() -> None:
    met = meeting([(lane, 128 * lane + 8) for lane in range(32)], 4)
    assert (met.bank, met.words, met.lanes) == (2, 32, tuple(range(32)))
    rows = [(lane, 256 * (lane & 7)) for lane in range(32)]
    assert meeting(rows, 16, matrices=1).lanes == tuple(range(8))
