"""The rules on operands against ptxas: the same lines; what each says, and where it is silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxlint import check_text

from .snippets import found, kernel, verdict

CODES = ("PTX102", "PTX103", "PTX108", "PTX111", "PTX112")

WRONG = [
    ("add.u32 %r1, %r2;", "PTX102"),
    ("add.u32 %r1, %r2, %r3, %r4;", "PTX102"),
    ("setp.eq.u32 %r1, %r2;", "PTX102"),
    ("membar.gl %r1;", "PTX102"),
    ("add.u32 %r1, %rd1, 1;", "PTX103"),
    ("add.u32 %r1, %f1, 1;", "PTX103"),
    ("add.f32 %f1, %f2, 1;", "PTX103"),
    ("add.s32 %r1, %r2, 0f3F800000;", "PTX103"),
    ("add.s32 %r1, %r2, 1.5;", "PTX103"),
    ("mov.u32 %p1, %r1;", "PTX103"),
    ("mov.pred %p1, %r1;", "PTX103"),
    ("cvt.u64.u32 %rd1, %rs1;", "PTX103"),
    ("st.global.u64 [%rd1], %r1;", "PTX103"),
    ("ld.s8 %f1, [%rd1];", "PTX103"),
    ("setp.eq.u32 %r1, %r2, %r3;", "PTX103"),
    ("setp.eq.u32 %p1|%r1, %r2, %r3;", "PTX103"),
    ("mul.wide.u32 %r1, %r2, %r3;", "PTX103"),
    ("mov.u32 %r1, E; E:", "PTX103"),
    ("shfl.sync.idx.b32 %r1|%r2, %r3, 0, 31, -1;", "PTX103"),
    ("mov.u32 %r1, %clock64;", "PTX103"),
    ("ld.global.u32 %r1, [%p1];", "PTX103"),
    ("ld.global.u32 %r1, [E]; E:", "PTX103"),
    ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], %r2;", "PTX108"),
    ("ld.v2.u32 {%r1, %r2, %r3, %r4}, [%rd1];", "PTX108"),
    ("ld.v2.f32 {%f1, %rd1}, [%rd1];", "PTX108"),
    (".reg .u32 %u<2>; ld.v2.u32 {%u1, %f1}, [%rd1];", "PTX108"),
    ("mov.b64 %rd1, {%r1, %rs1};", "PTX108"),
    ("or.b32 %r1, {%rs1, %rs2}, %r2;", "PTX108"),
    ("ld.u64 %rd1, [p_out];", "PTX111"),
    ("st.param.u64 [p_out], %rd1;", "PTX111"),
    ("cvta.shared.u64 %rd1, p_out;", "PTX111"),
    ("mbarrier.init.shared.b64 [p_out], 1;", "PTX111"),
    ("bar.sync 16;", "PTX112"),
    ("barrier.sync 0, 33;", "PTX112"),
    ("bar.red.popc.u32 %r1, 16, %p1;", "PTX112"),
    ("bfe.u32 %r1, %r2, 256, 1;", "PTX112"),
]
RIGHT = [
    "add.s32 %r1, %r2, -1;",
    "add.u32 %r1, WARP_SZ, %r2;",
    "mov.b32 %r1, %f1;",
    "mov.b32 %r1, 0f3F800000;",
    "mov.b32 %r1, {%rs1, %rs2};",
    "mov.b64 {%r1, _}, %rd1;",
    "mov.u16 %rs1, %tid.x;",
    "ld.v2.u32 {%r1, %f1}, [%rd1];",
    "mov.u64 %rd1, %gridid;",
    "cvt.u64.u32 %rd1, %tid.x;",
    "ld.u8 %rd1, [%rd2];",
    "ld.global.v4.f32 {%f1, _, %r3, %r4}, [%rd1+16];",
    "atom.add.u32 _, [%rd1], 1;",
    "setp.eq.u32 %p1|_, %r1, %r2;",
    "setp.eq.and.u32 %p1, %r1, %r2, !%p2;",
    "selp.b32 %r1, %r2, 3, %p1;",
    "ld.shared.b32 %r1, [%r2];",
    "mad.wide.u32 %rd1, %r1, %r2, %rd2;",
    "bar.sync %r1, %r2;",
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];",
]


def codes(text: str) -> list[str]:
    return [finding.code for finding in check_text(text) if finding.code in CODES]


@pytest.mark.parametrize(("statement", "code"), WRONG)
def test_one_finding_where_ptxas_has_an_error(statement: str, code: str, tmp_path: Path) -> None:
    text = kernel(statement)
    assert codes(text) == [code]
    finding = found(text, code)[0]
    assert finding.severity.value == "error"
    said = verdict(text, tmp_path)
    assert not said.accepted and finding.span.start.line in said.lines


@pytest.mark.parametrize("statement", RIGHT)
def test_silent_where_ptxas_is(statement: str, tmp_path: Path) -> None:
    text = kernel(statement)
    assert codes(text) == []
    assert "mismatch" not in verdict(text, tmp_path).text


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("shl.b32 %r1, %r2, 32;", "that gives 0"),
        ("shr.s32 %r1, %r2, 40;", "the sign in all bits"),
        ("add.u16 %rs1, %rs2, 70000;", "4464 is used instead"),
        ("and.b32 %r1, %r2, 0x100000001;", "1 is used instead"),
    ],
)
def test_what_is_cut_silently_is_a_warning(statement: str, words: str, tmp_path: Path) -> None:
    text = kernel(statement)
    (finding,) = found(text, "PTX112")
    assert finding.severity.value == "warning" and words in finding.message
    assert verdict(text, tmp_path).accepted


def test_numbers_that_fit_signed_or_unsigned_are_left_alone() -> None:
    for number in ("-1", "65535", "0xffff", "-32768"):
        assert found(kernel(f"add.u16 %rs1, %rs2, {number};"), "PTX112") == []


def test_the_register_its_declaration_and_what_is_needed() -> None:
    (finding,) = found(kernel("add.u32 %r1, %rd3, 1;"), "PTX103")
    assert finding.message == (
        "operand a of `add.u32`: `%rd3`, a .b64 register (64 bits), where .u32 (32 bits) is needed"
    )
    assert finding.labels[0].message == "`%rd<9>` is declared .b64 here"
    assert finding.notes == ("a must be a register of .b32, .s32 or .u32",)
    assert (finding.span.start.column, finding.span.end.column) == (14, 18)


def test_the_operand_that_is_missing_or_too_many_is_named() -> None:
    assert found(kernel("mad.lo.s32 %r1, %r2, %r3;"), "PTX102")[0].message.endswith("c is missing")
    extra = found(kernel("ld.global.b32 %r1, [%rd1], %rd2;"), "PTX102")[0]
    assert extra.message.endswith("number 3 is one too many")
    policy = found(kernel("ld.global.L2::cache_hint.b32 %r1, [%rd1];"), "PTX102")[0]
    assert policy.help == "add cache-policy"


def test_the_missing_member_mask_is_the_other_rules() -> None:
    assert codes(kernel("shfl.sync.idx.b32 %r1, %r2, 0, 31;")) == []


def test_silent_on_names_that_are_not_declared() -> None:
    assert codes(kernel("add.u32 %rd1, nowhere, %f1;")) == []


def test_a_one_element_vector_is_offered() -> None:
    finding = found(kernel("ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r3, [%r4];"), "PTX108")[0]
    assert finding.help == "write `{%r3}`"


def test_narrow_v8_is_refused() -> None:
    text = kernel(
        "ld.global.v8.u16 {%rs1, %rs1, %rs1, %rs1, %rs1, %rs1, %rs1, %rs1}, [%rd1];",
        target="sm_100",
        version="8.8",
    )
    assert codes(text) == ["PTX108"]


def test_parameters_have_a_direction() -> None:
    text = (
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".func (.param .b32 out) f(.param .b32 in)\n{\n.reg .b32 %r<3>;\n"
        "ld.param.b32 %r1, [in];\nst.param.b32 [out], %r1;\n"
        "st.param.b32 [in], %r1;\nld.param.b32 %r2, [out];\nret;\n}\n"
    )
    lines = [f.span.start.line for f in check_text(text) if f.code == "PTX111"]
    assert lines == [9, 10]


def test_a_statement_over_several_lines_is_reported_at_its_first(tmp_path: Path) -> None:
    text = kernel("add.u32 %r1,\n    %r2,\n    %rd1;")
    (finding,) = found(text, "PTX103")
    assert finding.span.start.line in verdict(text, tmp_path).lines
