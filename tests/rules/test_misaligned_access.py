"""PTX301: what an address must be a multiple of, which addresses are known, and the silence."""

from __future__ import annotations

import pytest

from ptxlint import Severity

from .snippets import found, kernel

OBJECTS = """\
.global .align 128 .b8 table[1024];
.shared .align 128 .b8 tile[1024];
.extern .shared .align 16 .b8 pool[];
.weak .global .align 16 .b8 spare[64];
.global .align 4 .b8 words[64];
.global .align 1 .v4 .f32 rows[4];
"""

# A statement with {} for the offset, and the multiple that hardware holds it to.
NEEDS = [
    ("ld.global.u16 %rs1, [table+{}];", 2),
    ("ld.volatile.global.f32 %f1, [table+{}];", 4),
    ("ld.global.nc.L1::evict_last.L2::128B.v2.f32 {{%f1, %f2}}, [table+{}];", 8),
    ("ld.global.v2.u64 {{%rd1, %rd2}}, [table+{}];", 16),
    ("ldu.global.v4.u32 {{%r1, %r2, %r3, %r4}}, [table+{}];", 16),
    ("st.relaxed.gpu.global.u64 [table+{}], %rd1;", 8),
    ("st.shared.v4.u8 [tile+{}], {{%rs1, %rs1, %rs1, %rs1}};", 4),
    ("atom.shared.cas.b64 %rd1, [tile+{}], %rd2, %rd3;", 8),
    ("red.global.add.noftz.f16x2 [table+{}], %r1;", 4),
    ("red.relaxed.gpu.global.add.v4.f32 [table+{}], {{%f1, %f1, %f1, %f1}};", 16),
    ("cp.async.ca.shared.global [tile+{}], [table], 4;", 4),
    ("cp.async.cg.shared.global [tile], [table+{}], 16, %r1;", 16),
    ("cp.async.mbarrier.arrive.shared.b64 [tile+{}];", 8),
    ("cp.async.bulk.prefetch.L2.global [table+{}], 256;", 16),
    ("cp.async.bulk.global.shared::cta.bulk_group [table], [tile+{}], 256;", 16),
    ("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [table+{}], [tile], 64;", 16),
    ("cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {{%r1}}], [tile+{}];", 128),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {{%r1}}, [tile+{}];", 16),
    ("stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile+{}], {{%r1}};", 16),
    ("mbarrier.try_wait.parity.shared.b64 %p1, [tile+{}], 0;", 8),
    ("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [tile], %r1, [tile+{}];", 8),
]


@pytest.mark.parametrize(("statement", "multiple"), NEEDS)
def test_half_of_what_is_needed_is_an_error_and_multiples_are_silent(
    statement: str, multiple: int
) -> None:
    for offset in (0, multiple, 256):
        assert found(kernel(statement.format(offset), OBJECTS), "PTX301") == []
    for offset in (multiple // 2, multiple + multiple // 2, multiple - 1, 256 + multiple // 2):
        (finding,) = found(kernel(statement.format(offset), OBJECTS), "PTX301")
        assert finding.severity is Severity.ERROR
        assert (finding.data["needs"], finding.data["offset"]) == (multiple, offset)


@pytest.mark.parametrize(
    "statements",
    [
        "mov.u64 %rd1, table; ld.global.u32 %r1, [%rd1+6];",
        "mov.u64 %rd1, table+6; ld.global.u32 %r1, [%rd1];",
        "mov.u64 %rd1, table; add.s64 %rd2, %rd1, 6; ld.global.u32 %r1, [%rd2];",
        "mov.u64 %rd1, table; add.s64 %rd2, 6, %rd1; ld.global.u32 %r1, [%rd2];",
        "mov.u64 %rd1, table; sub.s64 %rd2, %rd1, 2; ld.global.u32 %r1, [%rd2+8];",
        "cvta.global.u64 %rd1, table; mov.b64 %rd2, %rd1; ld.u32 %r1, [%rd2+6];",
        "mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; ld.u32 %r1, [%rd2+6];",
        "cvta.global.u64 %rd1, table; cvta.to.global.u64 %rd2, %rd1; ld.global.u32 %r1, [%rd2+6];",
        "mov.u32 %r1, tile; mapa.shared::cluster.u32 %r2, %r1, 0;"
        " ld.shared::cluster.u32 %r3, [%r2+6];",
        "mov.u32 %r1, tile; add.u32 %r2, %r1, 0xfffffffe; ld.shared.u32 %r3, [%r2+8];",
        "@%p1 mov.u32 %r1, tile; ld.shared.u32 %r3, [%r1+6];",
        # Defined further down than used: what a loop's second turn reads.
        "L: @%p1 ld.shared.u32 %r3, [%r1+6]; mov.u32 %r1, tile; @%p2 bra L;",
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [rows+24];",
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [words+6];",
    ],
)
def test_addresses_are_followed_through_registers(statements: str) -> None:
    (finding,) = found(kernel(statements, OBJECTS), "PTX301")
    assert finding.severity is Severity.ERROR


@pytest.mark.parametrize(
    "statements",
    [
        # Two definitions: which one holds depends on the path.
        "mov.u32 %r1, tile+6; @%p1 mov.u32 %r1, tile; ld.shared.u32 %r3, [%r1];",
        "mov.u32 %r1, tile+6; add.u32 %r1, %r1, 2; ld.shared.u32 %r3, [%r1];",
        "mov.u32 %r1, tile+6; mov.b64 {%r1, %r2}, %rd1; ld.shared.u32 %r3, [%r1];",
        "mov.u32 %r1, tile+6; shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1; ld.shared.u32 %r3, [%r1];",
        # A distance, or a place, that a parameter or memory decides.
        "ld.param.u32 %r2, [p_out]; mov.u32 %r1, tile; mad.lo.u32 %r1, %r2, 2, %r1;"
        " ld.shared.u32 %r3, [%r1];",
        "ld.global.u32 %r1, [table]; ld.shared.u32 %r3, [%r1+6];",
        # Where the object's own alignment is the question: PTX302's.
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [words+4];",
        "ld.global.v2.f32 {%f1, %f2}, [words];",
        # No access, and copies whose size is not a constant.
        "prefetch.global.L2 [table+3];",
        "ld.global.u8 %rs1, [table+3];",
        "mov.u64 %rd1, table+3;",
    ],
)
def test_what_is_not_known_is_not_reported(statements: str) -> None:
    assert found(kernel(statements, OBJECTS), "PTX301") == []


def test_a_register_of_another_scope_is_another_register() -> None:
    statements = (
        "{ .reg .b32 q; mov.u32 q, tile+6; } { .reg .b32 q; mov.u32 q, tile;"
        " ld.shared.u32 %r1, [q]; }"
    )
    assert found(kernel(statements, OBJECTS), "PTX301") == []


@pytest.mark.parametrize("name", ["pool", "spare"])
def test_an_alignment_that_is_assumed_is_a_warning_and_says_so(name: str) -> None:
    space = "shared" if name == "pool" else "global"
    text = kernel(f"ld.{space}.v4.f32 {{%f1, %f2, %f3, %f4}}, [{name}+8];", OBJECTS)
    (finding,) = found(text, "PTX301")
    assert finding.severity is Severity.WARNING
    assert f"`{name}`" in finding.assumptions[0] and "16" in finding.assumptions[0]


def test_the_variables_of_calls_are_silent_and_those_of_kernels_not() -> None:
    statements = "{ .param .align 1 .b8 a[8]; st.param.b32 [a+1], %r1; ld.param.b32 %r2, [a+2]; }"
    assert found(kernel(statements), "PTX301") == []
    assert found(kernel("ld.param.v2.u32 {%r1, %r2}, [p_out+4];"), "PTX301") == []
    (finding,) = found(kernel("ld.param.u32 %r1, [p_out+2];"), "PTX301")
    assert finding.data["needs"] == 4


def test_one_fault_at_several_places_is_one_finding() -> None:
    statements = "\n".join("ld.shared.u32 %r1, [tile+6];" for _ in range(3))
    (finding,) = found(kernel(statements, OBJECTS), "PTX301")
    first = finding.span.start.line
    assert finding.data["lines"] == [first + 1, first + 2]
    assert f"at lines {first + 1}, {first + 2}" in " ".join(finding.notes)


def test_the_places_are_the_address_its_making_and_the_declaration() -> None:
    text = kernel("mov.u32 %r1, tile+2;\nld.shared.u32 %r2, [%r1+4];", OBJECTS)
    (finding,) = found(text, "PTX301")
    lines = text.split("\n")
    start, end = finding.span
    assert lines[start.line - 1][start.column - 1 : end.column - 1] == "[%r1+4]"
    places = [lines[label.span.start.line - 1] for label in finding.labels]
    assert places == [".shared .align 128 .b8 tile[1024];", "mov.u32 %r1, tile+2;"]
    assert "(.align 128)" in finding.message and "`tile`" in finding.message
