"""PTX202 to PTX205 and PTX207: what findings say, what they rest on, and the silence."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ptxlint import Finding, Severity, check_text

from .snippets import found, kernel

CORPUS = Path(__file__).parents[2] / "corpus" / "ptx" / "sm_80"
HALF = "mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; setp.lt.u32 %p1, %r2, 16; @!%p1 bra REST;\n"
REST = "\nREST: st.global.u32 [%rd1], %r3;"
WARPS = "blockDim.x is a multiple of 32"
LINE = "the block is one-dimensional"


def one(statements: str, code: str, **options: Any) -> Finding:
    """The one finding of a rule."""
    (finding,) = [f for f in check_text(kernel(statements), **options) if f.code == code]
    return finding


def test_absent_lanes_are_named_with_the_branch_and_the_assumptions() -> None:
    finding = one(HALF + "redux.sync.add.u32 %r3, %r1, 0x00ffffff;" + REST, "PTX202")
    assert finding.severity is Severity.WARNING
    assert "0x00ffffff" in finding.message and "lanes 16-23" in finding.message
    assert [label.message for label in finding.labels] == ["lanes part here"]
    assert set(finding.assumptions) == {WARPS, LINE}
    assert finding.help is not None and finding.help.endswith("0x0000ffff")
    assert finding.witness == {
        "warp": 0,
        "lane": 0,
        "mask": "0x00ffffff",
        "executing": "0x0000ffff",
    }


def test_a_told_block_is_no_assumption_and_a_short_warp_has_fewer_lanes() -> None:
    text = HALF + "redux.sync.add.u32 %r3, %r1, -1;" + REST
    assert WARPS not in one(text, "PTX202", block=(64, 1, 1)).assumptions
    assert "lanes 16-23" in one(text, "PTX202", block=(24, 1, 1)).message
    assert found(kernel(text).replace("p_out)\n", "p_out)\n.reqntid 16\n"), "PTX202") == []


def test_a_bound_check_above_is_assumed_to_agree() -> None:
    bound = "ld.param.u64 %rd2, [p_out]; ld.global.u32 %r5, [%rd2];\n"
    bound += "mov.u32 %r4, %tid.x; setp.ge.u32 %p2, %r4, %r5; @%p2 ret;\n"
    finding = one(bound + HALF + "redux.sync.add.u32 %r3, %r1, -1;" + REST, "PTX202")
    assert any("bound checks agree" in text for text in finding.assumptions)
    assert found(kernel(bound + "redux.sync.add.u32 %r3, %r1, 0xfffffffb;" + REST), "PTX203")
    # The check may leave just those that the mask names.
    assert found(kernel(bound + "redux.sync.add.u32 %r3, %r1, 0xffff;" + REST), "PTX203") == []


def test_the_width_of_a_block_matters_where_it_is_not_told() -> None:
    rows = "mov.u32 %r6, %tid.y; st.global.u32 [%rd1], %r6;\n"
    text = rows + HALF.replace("and.b32 %r2, %r1, 31", "mov.u32 %r2, %r1")
    text += "redux.sync.add.u32 %r3, %r1, -1;" + REST
    assert found(kernel(text), "PTX202") == []
    assert one(text, "PTX202", block=(32, 4, 1)).witness is not None
    by_lane = rows + HALF.replace("%tid.x", "%laneid") + "redux.sync.add.u32 %r3, %r1, -1;" + REST
    assert one(by_lane, "PTX202").severity is Severity.WARNING


def test_one_cause_is_one_finding() -> None:
    steps = "".join(f"shfl.sync.bfly.b32 %r3, %r1, {d}, 31, -1;\n" for d in (8, 4, 2, 1))
    finding = one(HALF + steps + REST, "PTX202")
    assert len(finding.data["lines"]) == 3
    assert any(note.startswith("3 more like it") for note in finding.notes)


def test_a_mask_that_fits_a_small_block_is_an_info_until_the_block_is_told() -> None:
    text = "mov.u32 %r1, %tid.x; vote.sync.ballot.b32 %r3, 1, {};" + REST
    assert one(text.format("0xff"), "PTX203").severity is Severity.INFO
    assert one(text.format("0xff"), "PTX203", block=(32, 1, 1)).severity is Severity.WARNING
    assert one(text.format("0xfe"), "PTX203").severity is Severity.WARNING
    assert "is 0" in one(text.format("0"), "PTX203").message


@pytest.mark.parametrize(
    "operation",
    [
        "shfl.sync.idx.b32 %r3, %r1, 0, 31, {};",
        "vote.sync.any.pred %p2, %p1, {};",
        "match.all.sync.b32 %r3, %r1, {};",
        "redux.sync.or.b32 %r3, %r1, {};",
        "elect.sync %r3|%p2, {};",
        "bar.warp.sync {};",
    ],
)
def test_all_operations_with_a_mask_are_looked_at(operation: str) -> None:
    start = "mov.u32 %r1, %tid.x; mov.u32 %r3, 0;\n"
    assert found(kernel(start + operation.format("0xefffffff") + REST), "PTX203")
    assert found(kernel(HALF + operation.format("-1") + REST), "PTX202")
    assert found(kernel(HALF + operation.format("0xffff") + REST), "PTX202") == []


def test_of_a_device_function_it_is_not_known_who_executes_it() -> None:
    body = "{ .reg .b32 %r<4>; .reg .pred %p<3>; mov.u32 %r1, %laneid; {} ret; }"
    head = ".version 8.0\n.target sm_90\n.address_size 64\n.func f()\n"
    zero = head + body.replace("{}", "redux.sync.add.u32 %r2, %r1, 0;")
    half = head + body.replace("{}", "redux.sync.add.u32 %r2, %r1, 0xffff;")
    assert [f.code for f in check_text(zero) if f.code == "PTX203"] == ["PTX203"]
    assert [f.code for f in check_text(half) if f.code == "PTX203"] == []


def test_a_value_is_followed_to_its_use() -> None:
    start = "mov.u32 %r1, %laneid; setp.gt.u32 %p1, %r1, 7; @%p1 ret;\n"
    start += "shfl.sync.down.b32 %r2, %r1, 4, 31, -1;\n"
    used = (
        "st.global.u32 [%rd1], %r2;",
        "add.u32 %r3, %r2, 1; ld.global.u32 %r4, [%rd1]; st.global.u32 [%rd1], %r3;",
        "setp.eq.u32 %p2, %r2, 0; @%p2 bra E; st.global.u32 [%rd1], %r1; E:",
        "cvt.u64.u32 %rd2, %r2; ld.global.u32 %r4, [%rd2];",
        "setp.lt.u32 %p2, %r1, 4; selp.u32 %r3, 0, %r2, %p2; st.global.u32 [%rd1], %r3;",
        "redux.sync.add.u32 %r3, %r2, -1;",
    )
    unused = (
        "",
        "add.u32 %r3, %r2, 1;",
        "setp.lt.u32 %p2, %r1, 4; @%p2 st.global.u32 [%rd1], %r2;",
        "setp.lt.u32 %p2, %r1, 4; selp.u32 %r3, %r2, 0, %p2; st.global.u32 [%rd1], %r3;",
        "shfl.sync.idx.b32 %r3, %r2, 2, 31, -1; st.global.u32 [%rd1], %r3;",
        "ld.global.u32 %r5, [%rd1]; setp.lt.u32 %p2, %r1, %r5; @%p2 st.global.u32 [%rd1], %r2;",
    )
    assert [text for text in used if not found(kernel(start + text), "PTX202")] == []
    assert [text for text in unused if found(kernel(start + text), "PTX202")] == []


def test_operand_c_is_packed_and_may_come_through_a_register() -> None:
    text = "mov.u32 %r1, %tid.x; mov.u32 %r4, {}; shfl.sync.{}.b32 %r2, %r1, {}, %r4, -1;"
    wrong = [("31", "up", 1), ("0x1800", "down", 2), ("0x101f", "up", 4), ("0x1000", "idx", 3)]
    right = [("0", "up", 1), ("0x181f", "down", 2), ("0x1000", "up", 4), ("0x1000", "idx", 16)]
    right += [("0x1f1f", "up", 1), ("31", "up", 0), ("0x1f00", "down", 1)]
    assert [w for w in wrong if not found(kernel(text.format(*w)), "PTX207")] == []
    assert [r for r in right if found(kernel(text.format(*r)), "PTX207")] == []
    twice = text.format("31", "up", 1).replace("shfl", "@%p1 mov.u32 %r4, 0; shfl")
    assert found(kernel(twice), "PTX207") == []


SEEDED = ["block_scan", "block_sum", "warp_votes", "layer_norm", "softmax_online"]


@pytest.mark.parametrize("name", SEEDED)
def test_a_mask_bit_lost_in_a_compiled_kernel_is_found(name: str) -> None:
    text = (CORPUS / f"{name}.ptx").read_text(encoding="utf-8")
    assert not [f for f in check_text(text) if f.code in ("PTX202", "PTX203", "PTX204")]
    masks = {m[1] for m in re.finditer(r"(?:shfl|vote|match|redux)\.[^;]*, (%r\d+);", text)}
    moves = [m for m in re.finditer(r"mov\.[bu]32\s+(%r\d+), -1;", text) if m[1] in masks]
    assert moves
    for move in moves[:3]:
        seeded = text[: move.start()] + f"mov.u32 {move[1]}, -5;" + text[move.end() :]
        codes = {f.code for f in check_text(seeded) if f.code[:5] == "PTX20"}
        assert "PTX203" in codes, f"{move[1]} without lane 2"
