"""What is printed from the IR assembles to the same code."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxlint.ptx import parse
from ptxlint.ptx.printer import print_module
from tests import ptxas

CORPUS = Path(__file__).parents[2] / "corpus" / "ptx"
FILES = [path for path in sorted(CORPUS.rglob("*.ptx")) if path.parent.name != "faulty"]
QUICK = [path for path in FILES if path.stat().st_size < 16_000]


def same_code(path: Path) -> None:
    text = path.read_text()
    target = path.parent.name
    before = ptxas.assemble(text, target)
    after = ptxas.assemble(print_module(parse(text)), target)
    assert before.accepted, before.output
    assert after.accepted, after.output
    assert before.code == after.code


@ptxas.needed
@pytest.mark.parametrize("path", QUICK, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_corpus(path: Path) -> None:
    same_code(path)


@ptxas.needed
@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_whole_corpus(path: Path) -> None:
    same_code(path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_printing_twice_prints_the_same(path: Path) -> None:
    printed = print_module(parse(path.read_text()))
    assert print_module(parse(printed)) == printed
