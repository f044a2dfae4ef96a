"""PTX401 to PTX409: what they say, with what numbers, and where they are silent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ptxlint
from ptxlint import Finding, Severity, check_text
from ptxlint.analysis.facts import Facts
from ptxlint.analysis.pressure import pressure
from ptxlint.engine.options import Options
from ptxlint.ptx import parse

CASES = Path(__file__).resolve().parents[2] / "corpus" / "cases"


def case(name: str) -> str:
    return (CASES / f"{name}.ptx").read_text(encoding="utf-8")


def only(text: str, code: str, **options: object) -> list[Finding]:
    return [finding for finding in check_text(text, **options) if finding.code == code]


def test_pressure_names_what_is_live() -> None:
    text = case("too-many-values.bad")
    (finding,) = only(text, "PTX401")
    assert finding.severity is Severity.WARNING and finding.data is not None
    module = parse(text)
    found = pressure(module.kernels[0], Facts(module, Options()))
    assert finding.data["most"] == 32 and finding.data["live"] == found.peak > 96
    low, middle, high = finding.data["estimate"]
    assert 32 < low < middle < high
    values = {each["register"]: each["line"] for each in finding.data["values"]}
    lines = text.splitlines()
    assert len(values) > 90
    assert all(f"{name}," in lines[line - 1] for name, line in values.items())


@pytest.mark.parametrize(
    ("block", "bounds", "shared", "code"),
    [
        ("1024", "", 16, 0),
        ("1025", "", 16, 1),
        ("256", ".maxntid 128, 1, 1", 16, 1),
        ("64,2,1", ".maxntid 128, 1, 1", 16, 0),
        ("64,2,1", ".reqntid 128, 1, 1", 16, 1),
        ("128", ".reqntid 128, 1, 1", 16, 0),
        ("128", "", 49_152, 0),
    ],
)
def test_launches(block: str, bounds: str, shared: int, code: int) -> None:
    text = f"""\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{bounds}
{{
.shared .align 16 .b8 tile[{shared}];
.reg .b32 %r1;
ld.shared.u32 %r1, [tile];
st.shared.u32 [tile+4], %r1;
ret;
}}
"""
    findings = only(text, "PTX402", block=block)
    assert [f.data["code"] for f in findings if f.data] == ([code] if code else [])
    assert only(text, "PTX402") == []  # nothing says what is launched
    for finding in findings:
        assert finding.severity is Severity.WARNING and finding.assumptions


def test_a_block_of_many_registers() -> None:
    text = case("too-many-values.good").replace(".maxntid 256, 1, 1", "")
    (finding,) = only(text, "PTX402", block="1024")
    assert finding.data is not None and finding.data["code"] == 701
    assert "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)" in finding.notes[0]
    assert only(text, "PTX402", block="128") == []
    # ptxas makes it fit, by spilling: PTX401's
    assert only(text.replace(")\n", ")\n.maxntid 1024, 1, 1\n", 1), "PTX402", block="1024") == []


def test_shared_memory_that_triton_asks_for(tmp_path: Path) -> None:
    text = """\
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 global_smem[];
.visible .entry k() {
.reg .b32 %r1;
ld.shared.u32 %r1, [global_smem];
st.shared.u32 [global_smem+4], %r1;
ret;
}
"""
    (tmp_path / "k.ptx").write_text(text)
    for size, count in ((160_000, 0), (170_000, 1)):
        metadata = {"name": "k", "num_warps": 4, "shared": size, "target": {"backend": "cuda"}}
        (tmp_path / "k.json").write_text(json.dumps(metadata))
        found = [f for f in ptxlint.check_path(str(tmp_path / "k.ptx")) if f.code == "PTX402"]
        assert len(found) == count
        assert all(f"{size:,} bytes" in f.message for f in found)


def test_registers_of_the_warpgroups_are_added_up() -> None:
    (finding,) = only(case("two-groups-over.bad"), "PTX408")
    assert finding.data == {"asked": [40, 232], "registers": 128, "threads": 256}
    assert "34,816" in finding.message and "32,768" in finding.message


def test_double_precision_by_target() -> None:
    text = case("double-literal.bad")
    (finding,) = only(text, "PTX801")
    assert "1/64" in finding.message and "1 value is" in finding.notes[0]
    for target in ("sm_80", "sm_90", "sm_100", "sm_121"):
        assert only(text, "PTX801", target=target) == []
    assert "1/32" in only(text, "PTX801", target="sm_75")[0].message


def test_bounds_are_asked_for_in_preview() -> None:
    text = case("row-and-column.good")
    assert only(text, "PTX406") == []
    assert len(only(text, "PTX406", extend_select="PTX406")) == 1
    bounded = text.replace("width)\n", "width)\n.maxntid 64, 1, 1\n")
    assert only(bounded, "PTX406", extend_select="PTX406") == []
