"""What the analyses claim holds when kernels run: ours in every run, the corpus where asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxlint.ptx import parse

from . import generate
from .study import Report, Study

KERNELS = sorted((Path(__file__).parent / "kernels").glob("*.ptx"))
CORPUS = Path(__file__).parents[2] / "corpus" / "ptx"
QUICK = ("warp_votes", "block_scan", "transpose_padded", "struct_params", "bitonic_step")
LARGEST = 3000


def reports(text: str, launches: int, max_steps: int, seconds: float = 60) -> Iterator[Report]:
    """The study of every kernel of a module that is not too long."""
    module = parse(text)
    study = Study(module, launches=launches, max_steps=max_steps, seconds=seconds)
    for kernel in module.kernels:
        if len(kernel.instructions) <= LARGEST:
            yield study.kernel(kernel)


def contradictions(found: list[Report]) -> list[str]:
    """All that were written out."""
    return [
        str(each)
        for report in found
        for tally in report.tallies.values()
        for each in tally.contradictions
    ]


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_our_kernels_contradict_nothing(path: Path) -> None:
    found = list(reports(path.read_text(encoding="utf-8"), launches=5, max_steps=700))
    assert contradictions(found) == []
    for report in found:
        assert report.launches == 5
        # Whoever is never started, or faults at once, tests nothing.
        assert report.statuses["done"] + report.statuses["steps"] == 5, report.faults
        assert report.supported == report.instructions


@pytest.mark.parametrize("seed", [0, 1000])
def test_random_kernels_contradict_nothing(seed: int) -> None:
    found = list(reports(generate.module(seed, 5), launches=5, max_steps=700))
    assert contradictions(found) == []


@pytest.mark.parametrize("name", QUICK)
def test_compiled_kernels_contradict_nothing(name: str) -> None:
    text = (CORPUS / "sm_80" / f"{name}.ptx").read_text(encoding="utf-8")
    found = list(reports(text, launches=5, max_steps=700))
    assert contradictions(found) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(CORPUS.rglob("*.ptx")), ids=lambda path: path.stem)
def test_the_corpus_contradicts_nothing(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = list(reports(text, launches=8, max_steps=3000, seconds=20))
    assert contradictions(found) == []


@pytest.mark.slow
def test_many_random_kernels_contradict_nothing() -> None:
    found = list(reports(generate.module(5000, 200), launches=10, max_steps=3000))
    assert contradictions(found) == []


def test_random_kernels_are_the_same_for_the_same_seed() -> None:
    assert generate.module(7, 3) == generate.module(7, 3)
    assert generate.module(7, 3) != generate.module(8, 3)
