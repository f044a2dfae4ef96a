"""Wavefronts and sectors of whole kernels, as Nsight Compute counted them on a GPU."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.gpu.compare import Compared, compare, text_of

RECORD = json.loads((Path(__file__).parent / "kernels_sm90.json").read_text(encoding="utf-8"))
# Atomics of all lanes on one word: the source counters count its sector once, the counters of
# l1tex (requests_sm90.json) once for each lane, which is what the model gives.
ONCE = ("REDG.E.INC", "ATOMG.E.CAS", "ATOMG.E.EXCH", "REDG.E.ADD.64")


@pytest.fixture(scope="module")
def compared() -> list[Compared]:
    found: list[Compared] = []
    for kernel in RECORD["kernels"]:
        text = text_of(kernel, None)
        assert text is not None, kernel["source"]
        found += compare(kernel, text)
    return found


def test_what_was_counted_is_what_the_model_gives(compared: list[Compared]) -> None:
    wrong = [c for c in compared if c.verdict == "unequal" and not c.sass.startswith(ONCE)]
    assert wrong == []
    counts = Counter(c.verdict for c in compared)
    assert counts["equal"] > 1400
    assert counts["unequal"] <= len(ONCE)


def test_enough_kernels_and_ways_are_among_them(compared: list[Compared]) -> None:
    equal = [c for c in compared if c.verdict == "equal"]
    assert len({(c.source, c.kernel) for c in equal}) >= 90
    sass = {c.sass.partition(".")[0] for c in equal}
    assert {"LDS", "STS", "LDG", "STG", "LDSM", "STSM"} <= sass


def test_a_wrong_prediction_would_be_seen(compared: list[Compared]) -> None:
    kernel: dict[str, Any] = dict(RECORD["kernels"][0])
    row = list(kernel["accesses"][0])
    row[-2] += 1
    row[-1] += 1
    text = text_of(kernel, None)
    assert text is not None
    (found, *_) = compare({**kernel, "accesses": [row]}, text)
    assert found.verdict == "unequal"
