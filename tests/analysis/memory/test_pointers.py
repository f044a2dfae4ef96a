"""What addresses are based on, and which space they are in."""

from __future__ import annotations

import pytest

from ptxlint.analysis.memory.accesses import accesses

from .snippets import HEAD, found, parsed

# kernel -> of its last access: space, kind of base, base, offset
CASES = {
    "a parameter": (
        "ld.param.u64 %rd1, [a];\nld.u32 %r1, [%rd1+4];",
        "generic parameter a 4",
    ),
    "a parameter, converted": (
        "ld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd2, %rd1;\nst.u32 [%rd2+4], 1;",
        "global parameter a 4",
    ),
    "a parameter that is converted elsewhere": (
        "ld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd2, %rd1;\nst.u32 [%rd1+4], 1;",
        "global parameter a 4",
    ),
    "not where the kernel asks": (
        "ld.param.u64 %rd1, [a];\nisspacep.global %p1, %rd1;\ncvta.to.global.u64 %rd2, %rd1;\n"
        "st.u32 [%rd1+4], 1;",
        "generic parameter a 4",
    ),
    "a pointer in a struct": (
        "ld.param.v2.u64 {%rd1, %rd2}, [s+8];\ncvta.to.global.u64 %rd3, %rd2;\n"
        "ld.global.u32 %r1, [%rd3];",
        "global parameter s+16 0",
    ),
    "a struct by its address": (
        "mov.b64 %rd1, s;\nadd.s64 %rd2, %rd1, 8;\nld.param.u64 %rd3, [%rd2+8];\n"
        "ld.u32 %r1, [%rd3];",
        "generic parameter s+16 0",
    ),
    "an index": (
        "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
        "add.s64 %rd3, %rd2, %rd1;\nld.global.u32 %r2, [%rd3+8];",
        "global parameter a None",
    ),
    "an index from memory": (
        "ld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd2, %rd1;\nld.global.u64 %rd3, [%rd2];\n"
        "add.s64 %rd4, %rd2, %rd3;\nld.global.u32 %r2, [%rd4];",
        "global parameter a None",
    ),
    "a parameter used as address elsewhere": (
        "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.global.u32 %r1, [%rd1];\n"
        "add.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3];",
        "global parameter a None",
    ),
    "two that may both be pointers": (
        "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nadd.s64 %rd3, %rd1, %rd2;\n"
        "ld.global.u32 %r2, [%rd3];",
        "global None None None",
    ),
    "the distance of two pointers": (
        "ld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd2, %rd1;\nld.param.u64 %rd3, [b];\n"
        "cvta.to.global.u64 %rd4, %rd3;\nsub.s64 %rd5, %rd4, %rd2;\nadd.s64 %rd6, %rd2, %rd5;\n"
        "ld.global.u32 %r2, [%rd6];",
        "global None None None",
    ),
    "a loaded pointer": (
        "ld.param.u64 %rd1, [a];\nld.u64 %rd2, [%rd1];\nst.u32 [%rd2+4], 1;",
        "generic loaded None None",
    ),
    "a shared object": (
        "mov.u32 %r1, tile;\nadd.s32 %r2, %r1, 0xfffffff0;\nst.shared.u32 [%r2+64], 1;",
        "shared variable tile 48",
    ),
    "a place in a shared object": (
        "mov.u32 %r1, tile+8;\nst.shared.u32 [%r1+4], 1;",
        "shared variable tile 12",
    ),
    "shared as generic": (
        "mov.u64 %rd1, tile;\ncvta.shared.u64 %rd2, %rd1;\nst.u32 [%rd2+8], 1;",
        "shared variable tile 8",
    ),
    "shared to generic and back, in 32 bits": (
        "mov.u64 %rd1, tile;\ncvta.shared.u64 %rd2, %rd1;\ncvta.to.shared.u64 %rd3, %rd2;\n"
        "cvt.u32.u64 %r1, %rd3;\nst.shared.u32 [%r1], 1;",
        "shared variable tile 0",
    ),
    "raw shared as generic: a fault": (
        "mov.u64 %rd1, tile;\nst.u32 [%rd1], 1;",
        "generic variable tile 0",
    ),
    "a global object as it is": (
        "mov.u64 %rd1, table;\nst.u32 [%rd1+8], 1;",
        "global variable table 8",
    ),
    "the stack": (
        "mov.u64 %rd1, stack;\ncvta.local.u64 %rd2, %rd1;\nadd.u64 %rd3, %rd2, 16;\n"
        "st.u32 [%rd3], 1;",
        "local stack stack 16",
    ),
    "aligned down": (
        "ld.param.u64 %rd1, [a];\nand.b64 %rd2, %rd1, -128;\nld.global.u32 %r2, [%rd2];",
        "global parameter a None",
    ),
    "what is left over of aligning": (
        "ld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd7, %rd1;\nand.b64 %rd2, %rd7, 127;\n"
        "ld.param.u64 %rd3, [b];\ncvta.to.global.u64 %rd4, %rd3;\nadd.s64 %rd5, %rd4, %rd2;\n"
        "ld.global.u32 %r2, [%rd5];",
        "global parameter b None",
    ),
    "bits turned inside the alignment": (
        "mov.u32 %r1, tile;\nxor.b32 %r2, %r1, 8;\nld.shared.u32 %r3, [%r2];",
        "shared variable tile None",
    ),
    "bits turned beyond it": (
        "mov.u32 %r1, tile;\nxor.b32 %r2, %r1, 64;\nld.shared.u32 %r3, [%r2];",
        "shared None None None",
    ),
    "one of two places of an object": (
        "ld.param.u64 %rd1, [a];\nadd.s64 %rd2, %rd1, 64;\nsetp.eq.s32 %p1, %r1, 0;\n"
        "selp.b64 %rd3, %rd1, %rd2, %p1;\nld.global.u32 %r2, [%rd3];",
        "global parameter a None",
    ),
    "one of two objects": (
        "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nselp.b64 %rd3, %rd1, %rd2, %p1;\n"
        "ld.global.u32 %r2, [%rd3];",
        "global None None None",
    ),
    "under a guard, from the same object": (
        "ld.param.u64 %rd1, [a];\n@%p1 add.s64 %rd1, %rd1, 16;\nld.global.u32 %r2, [%rd1];",
        "global parameter a None",
    ),
    "under a guard, from another": (
        "ld.param.u64 %rd1, [a];\n@%p1 ld.param.u64 %rd1, [b];\nld.global.u32 %r2, [%rd1];",
        "global None None None",
    ),
    "along a loop": (
        "ld.param.u64 %rd1, [a];\nL: add.s64 %rd1, %rd1, 4;\nld.global.u32 %r2, [%rd1];\n"
        "setp.ne.s32 %p1, %r2, 0;\n@%p1 bra L;\nst.global.u32 [%rd1+4], %r2;",
        "global parameter a None",
    ),
    "along a loop that swaps": (
        "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nL: mov.u64 %rd3, %rd1;\n"
        "mov.u64 %rd1, %rd2;\nmov.u64 %rd2, %rd3;\nld.global.u32 %r2, [%rd1];\n"
        "setp.ne.s32 %p1, %r2, 0;\n@%p1 bra L;\nst.global.u32 [%rd1+4], %r2;",
        "global None None None",
    ),
    "where branches agree": (
        "ld.param.u64 %rd1, [a];\n@%p1 bra L;\nadd.s64 %rd2, %rd1, 4;\nbra M;\n"
        "L: mov.u64 %rd2, %rd1;\nM: st.global.u32 [%rd2], %r2;",
        "global parameter a None",
    ),
    "another CTA's": (
        "mov.u32 %r1, tile;\nmapa.shared::cluster.u32 %r2, %r1, 1;\n"
        "st.shared::cluster.u32 [%r2], 1;",
        "shared remote None None",
    ),
    "packed from halves": (
        "ld.param.v2.u32 {%r1, %r2}, [s];\nmov.b64 %rd1, {%r1, %r2};\nld.global.u32 %r3, [%rd1];",
        "global None None None",
    ),
    "from another lane": (
        "shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nld.shared.u32 %r3, [%r2];",
        "shared value None None",
    ),
    "a number": ("ld.global.u32 %r3, [16];", "global None None None"),
}


@pytest.mark.parametrize("name", CASES)
def test_bases(name: str) -> None:
    body, wanted = CASES[name]
    access = found(body)[-1]
    base = access.base
    kind = base.kind if base is not None else None
    shown = None if base is None or base.variable is None else str(base)
    assert f"{access.space} {kind} {shown} {access.offset}" == wanted


def test_annotated_pointers() -> None:
    """``.ptr`` with a space says where the parameter points."""
    (function,), facts = parsed(
        f"{HEAD}.entry k(.param .u64 .ptr .global .align 4 p) {{ .reg .b64 %rd<2>;"
        " ld.param.u64 %rd1, [p]; st.u32 [%rd1], 1; ret; }\n"
    )
    assert facts.once(function, accesses)[-1].space == "global"


def test_the_form_of_addresses() -> None:
    """What a rule on conversions asks: in which window the register's address is."""
    body = (
        "mov.u64 %rd1, tile;\nst.shared.u32 [%rd1], 1;\ncvta.shared.u64 %rd2, %rd1;\n"
        "st.u32 [%rd2], 1;\nld.param.u64 %rd3, [a];\nst.global.u32 [%rd3], 1;"
    )
    assert [a.form for a in found(body) if a.writes] == ["shared", "generic:shared", ""]


def test_arguments_of_device_functions() -> None:
    functions, facts = parsed(
        f"{HEAD}.func f(.reg .b64 %x, .param .b64 y) {{ .reg .b64 %rd<3>; ld.param.b64 %rd1, [y];"
        " st.u32 [%rd1+4], 1; st.u32 [%x+8], 1; ret; }\n"
    )
    second, third = facts.once(functions[0], accesses)[1:]
    assert second.base is not None and third.base is not None
    assert (second.base.kind, second.offset, third.base.kind) == ("argument", 4, "argument")
    assert second.base is not third.base


def test_unreachable_code_has_accesses() -> None:
    last = found("ld.param.u64 %rd1, [a];\nbra L;\nst.global.u32 [%rd1], 1;\nL:")[-1]
    assert (last.kind, last.space, last.base) == ("write", "global", None)
    assert found("bra L;\nst.shared.u32 [tile+4], 1;\nL:")[-1].offset == 4


def test_one_anchor() -> None:
    """Addresses that are constants apart name the same value and their distance from it."""
    body = (
        "ld.param.u64 %rd1, [a];\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
        "ld.global.u32 %r2, [%rd3];\nadd.s64 %rd4, %rd3, 64;\nld.global.u32 %r3, [%rd4+8];"
    )
    first, second = found(body)[1:]
    assert first.anchor == second.anchor
    assert (first.displacement, second.displacement) == (0, 72)
