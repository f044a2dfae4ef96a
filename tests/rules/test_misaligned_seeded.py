"""PTX301 on compilers' kernels with a fault put in: an offset that is half an access too far."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxlint import check_text
from ptxlint.analysis.facts import Facts
from ptxlint.analysis.memory.accesses import accesses
from ptxlint.analysis.memory.requirements import aligned_uses
from ptxlint.engine.options import Options
from ptxlint.ptx import parse

PTX = Path(__file__).resolve().parents[2] / "corpus" / "ptx"
FILES = [
    path
    for path in sorted(PTX.glob("sm_*/*.ptx"))
    if path.name.count(".") == 1 and path.stat().st_size < 60_000
]
_BRACKETS = re.compile(r"\[([^\]\n+]*)(?:\+(-?\d+))?\]")


def seeded(text: str) -> list[tuple[str, int, int]]:
    """The text with one access moved by half of what it needs, its line, and what is in error
    then; for the first access of each need and space.
    """
    module = parse(text)
    facts = Facts(module, Options())
    found: dict[tuple[int, str], tuple[str, int, int]] = {}
    for function in module.functions:
        if function.body is None:
            continue
        single = {}
        for access in facts.once(function, accesses):
            single[access.index] = access.index not in single
        for use in facts.once(function, aligned_uses):
            instruction, size = use.access.instruction, use.need.bytes
            places = list(_BRACKETS.finditer(text, instruction.start, instruction.end))
            # Nothing is assumed of what a device function is given, nor of wmma (see the page);
            # const is read by words; of two addresses in brackets it is not clear which to move.
            if use.base.kind == "argument" or not use.need.faults or use.access.space == "const":
                continue
            if not single[use.access.index] or len(places) != 1:
                continue
            offset = int(places[0][2] or 0) + size // 2
            start, end = places[0].span()
            moved = f"{text[:start]}[{places[0][1]}+{offset}]{text[end:]}"
            line = module.source.line_of(instruction.start)
            found.setdefault((size, use.access.space), (moved, line, size))
    return list(found.values())


@pytest.mark.parametrize("path", FILES, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_an_offset_half_an_access_too_far_is_found_at_its_line(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert [f for f in check_text(text) if f.code in ("PTX301", "PTX302")] == []
    for moved, line, size in seeded(text):
        (finding,) = [f for f in check_text(moved) if f.code == "PTX301"]
        assert finding.span.start.line == line
        assert finding.data["needs"] == size


def test_most_files_have_accesses_to_move() -> None:
    numbers = [len(seeded(path.read_text(encoding="utf-8"))) for path in FILES]
    assert sum(numbers) > 80
    assert sum(number > 0 for number in numbers) > len(FILES) // 2
