"""The benchmarks that have a right answer: each of them gives it on the corpus."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import reading, reference, roundtrip, speed
from bench.common import CORPUS, File, arch_of, child, files, percent, ptxas, table
from ptxlint import Module, parse
from ptxlint.ptx.printer import print_module

# One of each kind: plain, -lineinfo, -G, tensor maps, calls, initialisers.
HANDFUL = (
    "sm_80/block_sum.ptx",
    "sm_80/block_sum.debug.ptx",
    "sm_80/checked_call.lineinfo.ptx",
    "sm_80/constant_lookup.ptx",
    "sm_80/jump_table.ptx",
    "sm_80/virtual_call.ptx",
    "sm_90a/tma_tensor_2d.ptx",
    "faulty/duplicate_register.ptx",
)
LENGTHS = [pytest.param(False, id="handful"), pytest.param(True, id="all", marks=pytest.mark.slow)]


def corpus(whole: bool) -> list[File]:
    found = files([CORPUS])
    return found if whole else [file for file in found if file.name in HANDFUL]


@pytest.fixture
def assembler() -> str:
    tool = ptxas()
    if tool is None:
        pytest.skip("no ptxas")
    return tool


@pytest.mark.parametrize("whole", LENGTHS)
def test_reading(whole: bool, assembler: str) -> None:
    found = corpus(whole)
    result = reading.figures(reading.read(found, assembler))
    total = result["total"]
    assert total["files"] == len(found)
    assert total["reject"] == total["syntax"] == total["error"] == 1
    assert total["accept"] == total["full"] == len(found) - 1
    assert total["lined"] == total["on line"] == 1
    assert not result["crashes"]
    assert not result["accepted, with a gap or problem"]
    listed = [place for entry in result["at error"].values() for place in entry["places"]]
    assert all(place.startswith("faulty/") for place in listed)
    assert "total" in reading.tables(result, 3)


def test_reading_without_ptxas() -> None:
    result = reading.figures(reading.read(corpus(False)))
    assert result["total"]["unknown"] == len(HANDFUL)
    assert result["total"]["statements"] > 1000


@pytest.mark.parametrize("whole", LENGTHS)
def test_roundtrip(whole: bool, assembler: str) -> None:
    found = corpus(whole)
    result = roundtrip.compare(found, assembler)
    total = result["total"]
    assert result["differing"] == []
    assert total["files"] == len(found)
    assert total["compared"] == total["identical"] == len(found) - 1
    assert total["rejected"] == 1
    assert "total" in roundtrip.tables(result)


def test_a_difference_is_seen(
    assembler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty(module: Module) -> str:
        return print_module(module).replace("add.s32", "sub.s32", 1)

    monkeypatch.setattr(roundtrip, "print_module", faulty)
    (tmp_path / "a.ptx").write_text((CORPUS / "sm_80/block_sum.ptx").read_text())
    result = roundtrip.compare(files([tmp_path]), assembler)
    assert result["total"]["differ"] == 1
    assert ".text." in result["differing"][0]


@pytest.mark.parametrize("whole", LENGTHS)
def test_reference(whole: bool) -> None:
    found = corpus(whole)
    result = reference.compare(found)
    total = result["total"]
    assert result["differing"] == []
    assert total["equal"] == total["files"] == len(found)
    assert total["ratio"] > 1
    assert json.dumps(result)


def test_parsing_is_measured() -> None:
    (row,) = speed.parsing([CORPUS / "sm_80/checked_call.debug.ptx"], 1)
    assert (row["form"], row["parsed"]) == ("-G", "full")
    assert row["best"] >= row["cold"] > 0


def test_a_module_several_times_over(tmp_path: Path) -> None:
    text = (CORPUS / "sm_80/virtual_call.ptx").read_text(encoding="utf-8")
    out = tmp_path / "out.ptx"
    child("repeat", str(CORPUS / "sm_80/virtual_call.ptx"), "3", str(out))
    module = parse(out.read_text(encoding="utf-8"))
    assert module.parsed == "full"
    assert not module.name_problems
    assert len(module.kernels) == 3 * len(parse(text).kernels)


def test_labels(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("sub/a.ptx", "b.ptx", "c.ptx"):
        (tmp_path / name).write_text("")
    (tmp_path / "labels.tsv").write_text(
        "file\tarch\tverdict\tptxas_lines\tmessage\tflags\n"
        'sub/a.ptx\tsm_75\treject\t3,17\tsome "words\t-O1 target=sm_30\n'
        "b.ptx\tsm_90a\taccept\t\t\t\n"
    )
    a, b, c = sorted(files([tmp_path]), key=lambda file: file.path.name)
    assert (a.arch, a.verdict, a.flags) == ("sm_75", "reject", ("-O1",))
    assert a.lines == frozenset({3, 17})
    assert (a.group, b.group) == ("sub", tmp_path.name)
    assert (b.verdict, b.flags, b.lines) == ("accept", (), frozenset())
    assert (c.verdict, c.lines) == (None, None)


def test_labels_with_line_and_message(tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text("")
    (tmp_path / "labels.tsv").write_text(
        "file\tarch\tverdict\tptxas_line_and_message\n"
        "a.ptx\tsm_80\treject\t8; syntax error || -; aborted || 12; Unknown symbol 'x'\n"
    )
    assert files([tmp_path])[0].lines == frozenset({8, 12})


@pytest.mark.parametrize(
    ("text", "arch"),
    [
        (".target sm_90a", "sm_90a"),
        ("// .target sm_90\n.target compute_80, debug", "sm_80"),
        (".version 4.0\n.target sm_20", "sm_75"),
        ("", "sm_75"),
    ],
)
def test_arch(text: str, arch: str) -> None:
    assert arch_of(text) == arch


def test_table() -> None:
    rows = table(("what", "n"), [("a", 1), ("bc", None), ("d", 1.5)]).splitlines()
    assert rows[1:] == ["|------|-----:|", "| a    |    1 |", "| bc   |    – |", "| d    | 1.50 |"]


def test_percent() -> None:
    assert percent(9999, 10000) == "99.9 %"
    assert percent(7, 7) == "100.0 %"
    assert percent(0, 0) is None
