"""Lines of machine code, against those that nvdisasm prints and that the PTX has."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ptxlint.inputs.cubin import Cubin
from ptxlint.inputs.lineprogram import (
    PTX_TEXT,
    SASS_TO_PTX,
    SASS_TO_SOURCE,
    Lines,
    Place,
    Row,
    lines,
    ptx_text,
)
from ptxlint.inputs.source import Damaged

from .. import tools

ROOT = Path(__file__).parents[2]
BINARIES = ROOT / "corpus" / "binaries"
NAMES = {"checked_call.lineinfo.cubin": "checked_call", "half_math.lineinfo.cubin": "half_math"}

_SECTION = re.compile(r"\s*\.section\s+(\.text\.[^\s,]+),")
_INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s")
_PLACE = re.compile(r'## File "(.*?)", line (\d+)')


def printed(path: Path, flag: str) -> dict[tuple[str, int], list[tuple[str, int]] | None]:
    """Section and offset of each instruction → its place and those of the calls, innermost first.

    nvdisasm prints them where the innermost one changes: None where it does not.
    """
    nvdisasm = tools.find("nvdisasm")
    assert nvdisasm is not None
    command = [nvdisasm, "-c", flag, str(path)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found: dict[tuple[str, int], list[tuple[str, int]] | None] = {}
    section = ""
    fresh: list[tuple[str, int]] = []
    for line in text.splitlines():
        if match := _SECTION.match(line):
            section = match[1]
        elif match := _PLACE.search(line):
            fresh.append((match[1], int(match[2])))
        elif match := _INSTRUCTION.match(line):
            found[section, int(match[1], 16)] = fresh or None
            fresh = []
    return found


def pairs(places: list[Place]) -> list[tuple[str, int]]:
    return [(place.file, place.line) for place in places]


@tools.needed("nvdisasm")
@pytest.mark.parametrize("flag", ["-gp", "-gi"])
@pytest.mark.parametrize("name", NAMES)
def test_every_instruction_has_the_line_that_nvdisasm_prints(name: str, flag: str) -> None:
    cubin = Cubin((BINARIES / name).read_bytes())
    table = lines(cubin, SASS_TO_PTX if flag == "-gp" else SASS_TO_SOURCE)
    expected = printed(BINARIES / name, flag)
    assert len(expected) > 100
    last: tuple[str, int] | None = None
    chains = 0
    for (section, offset), places in expected.items():
        row = table.at(section, offset)
        assert row is not None
        ours = pairs(table.chain(row))
        if places is None:
            assert ours[0] == last, (section, hex(offset))
        else:
            assert ours == places, (section, hex(offset))
            chains += len(places) > 1
        last = ours[0]
    assert chains > 10 or (name, flag) != ("half_math.lineinfo.cubin", "-gi")


@pytest.mark.parametrize("name", NAMES)
def test_lines_lead_to_the_instructions_of_the_ptx(name: str) -> None:
    cubin = Cubin((BINARIES / name).read_bytes())
    text = (ROOT / "corpus/ptx/sm_80" / f"{NAMES[name]}.lineinfo.ptx").read_text().splitlines()
    table = lines(cubin, SASS_TO_PTX)
    kept = ptx_text(cubin)
    for kernel in cubin.kernels:
        section = cubin.sections[kernel.section].name
        for offset in kernel.exits:
            row = table.at(section, offset)
            assert row is not None
            assert row.place.file == PTX_TEXT
            line = text[row.place.line - 1]
            assert re.search(r"\b(ret|exit|trap|bra)\b", line), line
            assert kept[row.place.line - 1].split() == line.split()


def test_a_place_in_cuda_and_its_ptx_agree() -> None:
    """The .loc in force at the PTX line of an instruction is the line that the other table has."""
    cubin = Cubin((BINARIES / "half_math.lineinfo.cubin").read_bytes())
    text = (ROOT / "corpus/ptx/sm_80/half_math.lineinfo.ptx").read_text().splitlines()
    to_ptx, to_source = lines(cubin, SASS_TO_PTX), lines(cubin, SASS_TO_SOURCE)
    agreed = 0
    for kernel in cubin.kernels:
        section = cubin.sections[kernel.section].name
        for offset in range(0, kernel.size, 16):
            ptx, source = to_ptx.at(section, offset), to_source.at(section, offset)
            assert ptx is not None and source is not None
            above = reversed(text[: ptx.place.line - 1])
            loc = next((line for line in above if ".loc" in line), "")
            match = re.search(r"\.loc\s+\d+\s+(\d+)", loc)
            agreed += match is not None and int(match[1]) == source.place.line
    assert agreed > 0.9 * sum(kernel.size // 16 for kernel in cubin.kernels)


def test_without_tables_there_are_no_lines() -> None:
    cubin = Cubin((BINARIES / "spill.cubin").read_bytes())
    assert lines(cubin, SASS_TO_PTX).at(".text.spill", 0) is None
    assert ptx_text(cubin) == []


def test_chains_end() -> None:
    table = Lines([Row(0, Place("a", 1, 0), 0)], {"s": [0]})
    row = table.at("s", 0)
    assert row is not None
    assert len(table.chain(row)) < 100


def test_of_rows_at_one_address_the_last_one_holds() -> None:
    rows = [Row(0, Place("a", n, 0), None) for n in range(3)] + [Row(16, Place("a", 9, 0), None)]
    table = Lines(rows, {"s": [0, 1, 2, 3]})
    assert [table.at("s", at) for at in (0, 15, 16, 999)] == [rows[2], rows[2], rows[3], rows[3]]
    assert table.at("s", -1) is None
    assert table.at("t", 0) is None


def test_damaged_tables() -> None:
    data = (BINARIES / "half_math.lineinfo.cubin").read_bytes()
    whole = Cubin(data)
    for table in (SASS_TO_PTX, SASS_TO_SOURCE):
        for name in (table, f".rela{table}"):
            section = whole.by_name[name]
            for at in range(section.offset, section.offset + section.size, 3):
                broken = bytearray(data)
                broken[at] ^= 0xA5
                try:
                    lines(Cubin(bytes(broken)), table)
                except Damaged as error:
                    assert "\n" not in str(error)
