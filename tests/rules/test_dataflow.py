"""PTX601, 603 and 606: what they find in any spelling, and the right code that looks like it."""

from __future__ import annotations

import pytest

from ptxlint import Severity

from .snippets import found, kernel

START = "ld.param.u64 %rd1, [p_out]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x;"
STORE = " st.global.u32 [%rd1], {};"


def of(code: str, statements: str, module: str = "", **options: str) -> list[tuple[str, int]]:
    text = kernel(START + "\n" + statements, module, **options)
    findings = found(text, code)
    assert all(finding.severity is Severity.WARNING for finding in findings)
    return [(str(f.data.get("register")), f.span.start.line) for f in findings]


OBSERVED = [
    ("a store", "st.global.u32 [%rd1], %r2;"),
    ("an address", "st.global.u32 [%rd2], %r1;"),
    ("a load's address", "ld.global.u32 %r3, [%rd2+4];"),
    ("arithmetic", "add.s32 %r3, %r2, 1;" + STORE.format("%r3")),
    ("a guard", "@%p1 st.global.u32 [%rd1], %r1;"),
    ("a negated guard", "@!%p1 st.global.u32 [%rd1], %r1;"),
    ("a branch", "@%p1 bra L; st.global.u32 [%rd1], %r1; L:"),
    ("a member mask", "shfl.sync.idx.b32 %r3, %r1, 0, 31, %r2;"),
    ("a barrier", "bar.sync %r2;"),
    ("an atomic's operand", "red.global.add.u32 [%rd1], %r2;"),
    ("one of four elements", "st.global.v4.u32 [%rd1], {%r1, %r2, %r1, %r1};"),
    ("all elements", "st.global.v2.u32 [%rd1], {%r2, %r2};"),
    ("a byte that was computed", "cvt.u16.u32 %rs1, %r2; add.s16 %rs2, %rs1, 1;"
     " st.global.u8 [%rd1], %rs2;"),
    ("a size of cp.async", "cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;"),
    ("a shifted half", "mov.b64 %rd3, {%r1, %r2}; shr.u64 %rd4, %rd3, 32; cvt.u32.u64 %r3, %rd4;"
     + STORE.format("%r3")),
    ("the byte that prmt takes", "prmt.b32 %r3, %r1, %r2, 0x7210;" + STORE.format("%r3")),
    ("what a mask leaves", "and.b32 %r3, %r2, 255;" + STORE.format("%r3")),
    ("a selection's predicate", "selp.b32 %r3, 1, 0, %p1;" + STORE.format("%r3")),
    ("a counter", "mov.b32 %r4, 0; L: add.s32 %r2, %r2, 1; add.s32 %r4, %r4, 1;"
     " setp.lt.s32 %p2, %r4, 9; @%p2 bra L;" + STORE.format("%r2")),
    ("a whole fragment", "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4},"
     " {%r2, %r3}, {%r1}, {0f00000000, 0f00000000, 0f00000000, 0f00000000};"
     " st.global.f32 [%rd1], %f1;"),
    ("both of a selection", "setp.eq.s32 %p2, %r1, 0; selp.b32 %r4, %r2, %r3, %p2;"
     + STORE.format("%r4")),
    ("converted", "cvt.rn.f16x2.f32 %r2, %f1, %f1; prmt.b32 %r3, %r2, %r2, 0x3210;"
     " st.global.v2.u32 [%rd1], {%r1, %r3};"),
    ("through a join", "setp.eq.s32 %p2, %r1, 0; mov.b32 %r3, 1; @%p2 bra L;"
     " mul.lo.s32 %r3, %r2, 3; L:" + STORE.format("%r3")),
    ("a copied accumulator", "mov.f32 %f2, %f1; fma.rn.f32 %f3, %f2, %f2, %f2;"
     " st.global.f32 [%rd1], %f3;"),
]  # fmt: skip


@pytest.mark.parametrize("statements", [s for _, s in OBSERVED], ids=[name for name, _ in OBSERVED])
def test_an_undefined_value_that_is_observed_is_found(statements: str) -> None:
    assert len(of("PTX601", statements)) == 1


QUIET = [
    ("moved only", "mov.b32 %r3, %r2;"),
    ("a half that is dropped", "mov.b64 %rd3, {%r1, %r2}; cvt.u32.u64 %r3, %rd3;"
     + STORE.format("%r3")),
    ("a half that sums leave alone", "mov.b64 %rd3, {%r1, %r2}; add.s64 %rd4, %rd3, %rd3;"
     " cvt.u32.u64 %r3, %rd4;" + STORE.format("%r3")),
    ("a half taken apart", "mov.b64 %rd3, {%r1, %r2}; mov.b64 {%r3, _}, %rd3;"
     + STORE.format("%r3")),
    ("masked away", "mov.b64 %rd3, {%r1, %r2}; and.b64 %rd4, %rd3, 255;"
     " st.global.u64 [%rd1], %rd4;"),
    ("masked by a register", "mov.b64 %rd3, {%r1, %r2}; mov.b64 %rd2, 255;"
     " and.b64 %rd4, %rd3, %rd2; st.global.u64 [%rd1], %rd4;"),
    ("shifted away", "shl.b32 %r3, %r2, 32;" + STORE.format("%r3")),
    ("not in the table of lop3", "lop3.b32 %r3, %r1, %r2, %r1, 0xF0;" + STORE.format("%r3")),
    ("xor with itself", "xor.b32 %r3, %r2, %r2;" + STORE.format("%r3")),
    ("less itself", "sub.s32 %r3, %r2, %r2;" + STORE.format("%r3")),
    ("times zero", "mul.lo.s32 %r3, %r2, 0;" + STORE.format("%r3")),
    ("the byte of an empty class", "st.global.u8 [%rd1], %rs1;"),
    ("low bytes", "cvt.u16.u32 %rs1, %r1; mov.b32 %r3, {%rs1, %rs2}; st.global.u16 [%rd1], %r3;"),
    ("overwritten under a guard", "setp.eq.s32 %p1, %r1, 0; @%p1 mov.b32 %r2, 1;"
     " @%p1 st.global.u32 [%rd1], %r2;"),
    ("one arm writes it", "setp.eq.s32 %p1, %r1, 0; @%p1 bra L; mov.b32 %r2, 1; L:"
     + STORE.format("%r2")),
    ("selected with a real one", "setp.eq.s32 %p1, %r1, 0; selp.b32 %r3, %r2, %r1, %p1;"
     + STORE.format("%r3")),
    ("written in the turn before", "mov.b32 %r4, 0; L: setp.eq.s32 %p1, %r4, 0; @%p1 bra M;"
     + STORE.format("%r2") + " M: mov.b32 %r2, 5; add.s32 %r4, %r4, 1;"
     " setp.lt.s32 %p2, %r4, 9; @%p2 bra L;"),
    ("never reached", "ret; add.s32 %r3, %r2, 1;" + STORE.format("%r3")),
    ("used by nothing", "add.s32 %r3, %r2, 1; mul.lo.s32 %r4, %r3, %r3;"),
    ("the end of a stored vector", "st.global.v4.u32 [%rd1], {%r1, %r1, %r1, %r2};"),
    ("in code that was not read", "foo.bar %r2 ] 1;\n" + STORE.format("%r2")),
    ("a branch to a register", "bra %r1; L:" + STORE.format("%r2")),
]  # fmt: skip


@pytest.mark.parametrize("statements", [s for _, s in QUIET], ids=[name for name, _ in QUIET])
def test_what_is_not_observed_on_every_path_is_not_reported(statements: str) -> None:
    assert of("PTX601", statements) == []


def test_the_first_read_is_named_and_the_later_definition() -> None:
    text = kernel(START + "\nadd.s32 %r3, %r2, 1;\nmov.b32 %r2, 4;\nst.global.u32 [%rd1], %r3;")
    (finding,) = found(text, "PTX601")
    line = finding.span.start.line
    assert "`%r2`" in finding.message and "`add.s32`" in finding.message
    assert [label.span.start.line - line for label in finding.labels] == [1, 2]
    assert "1 line below" in finding.labels[0].message


def test_registers_of_parameter_lists_have_values() -> None:
    module = ".func (.reg .b32 q) old(.reg .b32 a) { add.s32 q, a, 1; ret; }"
    assert of("PTX601", "", module, version="2.3", target="sm_20") == []


def test_wgmma_may_ignore_its_accumulator_and_mma_may_not() -> None:
    accumulator = "{%f1, %f2, %f3, %f4}"
    after = " st.global.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};"
    form = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16"
    wgmma = f"{form} {accumulator}, %rd2, %rd3, 0, 1, 1, 0, 0;"
    assert [r for r, _ in of("PTX601", wgmma, target="sm_90a")] == ["%rd2", "%rd3"]
    define = "mov.b64 %rd2, 0; mov.b64 %rd3, 0;"
    assert of("PTX601", define + wgmma + after, target="sm_90a") == []
    mma = (
        f"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {accumulator}, {{%r1, %r1}}, {{%r1}},"
        f" {accumulator};"
    )
    registers = [register for register, _ in of("PTX601", mma + after)]
    assert registers == ["%f1", "%f2", "%f3", "%f4"]


CARRIES = [
    ("add.cc.u32 %r2, %r1, 1; addc.u32 %r3, %r1, 0;", []),
    ("sub.cc.u32 %r2, %r1, 1; mov.u32 %r4, 1; subc.cc.u32 %r3, %r1, 0; subc.u32 %r5, 0, 0;", []),
    ("mad.lo.cc.u32 %r2, %r1, %r1, 1; madc.hi.u32 %r3, %r1, %r1, 0;", []),
    # A label that nothing jumps to ends nothing.
    ("add.cc.u32 %r2, %r1, 1; $L__tmp1: addc.u32 %r3, %r1, 0;", []),
    ("setp.eq.u32 %p1, %r1, 0; @%p1 add.cc.u32 %r2, %r1, 1; @%p1 addc.u32 %r3, %r1, 0;", []),
    ("ret; addc.u32 %r3, %r1, 0;", []),
    ("addc.u32 %r3, %r1, 0;", ["nothing"]),
    ("add.u32 %r2, %r1, 1; addc.cc.u32 %r3, %r1, 0; addc.u32 %r3, %r1, 0;", ["nothing"]),
    ("add.cc.u32 %r2, %r1, 1; call f; addc.u32 %r3, %r1, 0;", ["call"]),
    ("setp.eq.u32 %p1, %r1, 0; add.cc.u32 %r2, %r1, 1; @%p1 bra L; addc.u32 %r3, %r1, 0; L:",
     ["block"]),
    ("setp.eq.u32 %p1, %r1, 0; add.cc.u32 %r2, %r1, 1; L: addc.cc.u32 %r3, %r1, 0; @%p1 bra L;",
     ["block"]),
]  # fmt: skip


@pytest.mark.parametrize(("statements", "why"), CARRIES)
def test_a_carry_comes_from_the_same_run_of_code(statements: str, why: list[str]) -> None:
    findings = found(kernel(START + statements, ".func f() { ret; }"), "PTX603")
    assert len(findings) == len(why)
    for finding, word in zip(findings, why, strict=True):
        assert word in finding.message


LOAD = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r2, %r3, %r4, %r5}, [%r1];"
MMA = (
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{%f1, %f2, %f3, %f4}}, {{{}}},"
    " {{%r6, %r7}}, {{%f1, %f2, %f3, %f4}};"
)


@pytest.mark.parametrize(
    ("load", "fragment", "unused"),
    [
        (LOAD, "%r2, %r3, %r3, %r5", ["%r4"]),
        (LOAD, "%r2, %r2, %r2, %r2", ["%r3", "%r4", "%r5"]),
        ("ld.shared.v4.b32 {%r2, %r3, %r4, %r5}, [%r1];", "%r2, %r3, %r4, %r4", ["%r5"]),
        (LOAD + "mov.b32 %r8, %r3;", "%r2, %r8, %r8, %r5", ["%r4"]),
        # Each once; a zero; a neighbour that is used elsewhere; one that a computation made.
        (LOAD, "%r2, %r3, %r4, %r5", None),
        (LOAD + "mov.b32 %r8, 0;", "%r2, %r8, %r3, %r8", None),
        (LOAD + "st.global.u32 [%rd1], %r4;", "%r2, %r3, %r3, %r5", None),
        (LOAD + "xor.b32 %r8, %r3, 1;", "%r2, %r8, %r8, %r5", None),
        ("ld.shared.v2.b32 {%r2, %r3}, [%r1];", "%r2, %r3, %r2, %r3", None),
    ],
)
def test_a_register_twice_and_its_neighbour_never(
    load: str, fragment: str, unused: list[str] | None
) -> None:
    findings = found(kernel(START + load + MMA.format(fragment)), "PTX606")
    assert [finding.data["unused"] for finding in findings] == ([] if unused is None else [unused])
