"""PTX302: objects whose declaration gives less alignment than accesses to them need."""

from __future__ import annotations

import pytest

from ptxlint import Severity

from .snippets import found, kernel

OBJECTS = """\
.global .align 4 .b8 words[256];
.shared .align 4 .b8 tile[1024];
.shared .align 16 .b8 vectors[1024];
.const .align 2 .b8 table[64];
.extern .shared .align 4 .b8 pool[];
.extern .global .align 4 .b8 other[64];
.global .f32 floats[16];
"""


@pytest.mark.parametrize(
    ("statements", "name", "needs"),
    [
        ("ld.global.u64 %rd1, [words];", "words", 8),
        ("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [words+4];", "words", 16),
        ("mov.u64 %rd1, words; ld.global.nc.v2.f32 {%f1, %f2}, [%rd1+16];", "words", 8),
        ("cvta.global.u64 %rd1, words; ld.u64 %rd2, [%rd1+8];", "words", 8),
        ("atom.shared.cas.b64 %rd1, [tile+8], %rd2, %rd3;", "tile", 8),
        ("cp.async.cg.shared.global [tile+16], [%rd1], 16;", "tile", 16),
        ("mbarrier.init.shared.b64 [tile], 1;", "tile", 8),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [tile+32];", "tile", 16),
        ("ld.const.u64 %rd1, [table];", "table", 4),  # 4 bytes at a time
        ("ld.global.v2.f32 {%f1, %f2}, [floats];", "floats", 8),
        (
            "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 3; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2;"
            " st.shared.u64 [%r3+8], %rd1;",
            "tile",
            8,
        ),
        (
            "ld.param.u32 %r1, [p_out]; shl.b32 %r2, %r1, 4; mov.u32 %r3, tile+4;"
            " add.u32 %r3, %r3, %r2; st.shared.v2.u64 [%r3], {%rd1, %rd2};",
            "tile",
            16,
        ),
    ],
)
def test_the_object_and_the_need_are_named(statements: str, name: str, needs: int) -> None:
    (finding,) = found(kernel(statements, OBJECTS), "PTX302")
    assert finding.severity is Severity.WARNING
    assert finding.data["needs"] == needs
    assert finding.message.startswith(f"`{name}` is declared")
    assert finding.data["requirement"]["base"] == name
    assert finding.help == f"declare `{name}` with .align {needs}"


@pytest.mark.parametrize(
    "statements",
    [
        "ld.global.u32 %r1, [words+4];",
        "ld.shared.v2.u64 {%rd1, %rd2}, [vectors+16];",
        "ld.const.u16 %rs1, [table+2];",
        # The launch decides where dynamic memory lies.
        "ld.shared.u64 %rd1, [pool];",
        # Wrong wherever the object lies: PTX301's.
        "ld.global.u64 %rd1, [words+2];",
        # A distance that may make up for it, and a start that is rounded up.
        "ld.param.u32 %r1, [p_out]; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2;"
        " st.shared.u64 [%r3], %rd1;",
        "mov.u32 %r1, tile; add.u32 %r2, %r1, 7; and.b32 %r3, %r2, -8; st.shared.u64 [%r3], %rd1;",
        # No object: a pointer, and the variables of calls.
        "ld.param.u64 %rd1, [p_out]; ld.global.u64 %rd2, [%rd1];",
        "{ .param .align 4 .b8 a[8]; st.param.b64 [a], %rd1; }",
        # wmma, which hardware lets pass.
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [tile],"
        " {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %r1;",
    ],
)
def test_silent(statements: str) -> None:
    assert found(kernel(statements, OBJECTS), "PTX302") == []


def test_what_another_file_may_declare_is_an_assumption() -> None:
    (finding,) = found(kernel("ld.global.u64 %rd1, [other];", OBJECTS), "PTX302")
    assert "`other` is .extern" in finding.assumptions[0]


def test_one_finding_for_each_object_at_what_needs_most() -> None:
    text = kernel(
        "ld.global.u64 %rd1, [words];\nld.global.v4.f32 {%f1, %f2, %f3, %f4}, [words+16];\n"
        "st.global.u64 [words+8], %rd1;\nst.shared.u64 [tile], %rd1;",
        OBJECTS,
    )
    words, tile = found(text, "PTX302")
    line = words.span.start.line
    assert (words.data["needs"], words.data["lines"]) == (16, [line - 1, line + 1])
    assert (tile.data["needs"], tile.span.start.line) == (8, line + 2)
