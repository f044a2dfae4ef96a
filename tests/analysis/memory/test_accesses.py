"""What each kind of instruction does to memory."""

from __future__ import annotations

import pytest

from ptxlint.analysis.memory.access import Access
from ptxlint.ptx.ir import Register, Vector

from .snippets import found

POINTERS = "ld.param.u64 %rd1, [a];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r9, tile;\n"


def one(instruction: str) -> list[Access]:
    """The accesses of an instruction after POINTERS."""
    return [a for a in found(POINTERS + instruction) if a.index >= 3]


def names(operand: object) -> list[str]:
    operands = operand.elements if isinstance(operand, Vector) else (operand,)
    return [o.name for o in operands if isinstance(o, Register)]


# instruction -> for each address: kind, role, space, bytes, base
KINDS = {
    "ld.global.f32 %f1, [%rd2];": ["read data global 4 a"],
    "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd2+16];": ["read data global 16 a"],
    "ld.param.u32 %r1, [n];": ["read data param 4 n"],
    "ld.const.u32 %r1, [limits+4];": ["read data const 4 limits"],
    "ldu.global.u64 %rd3, [%rd2];": ["read data global 8 a"],
    "st.shared.v2.b64 [%r9+32], {%rd1, %rd2};": ["write data shared 16 tile"],
    "st.local.b16 [stack+2], %h1;": ["write data local 2 stack"],
    "st.bulk.weak.shared::cta [%r9], 512, 0;": ["write data shared 512 tile"],
    "atom.global.cas.b32 %r1, [%rd2], %r2, %r3;": ["atomic data global 4 a"],
    "red.shared.add.u32 [tile], 1;": ["reduce data shared 4 tile"],
    "cp.async.ca.shared.global [%r9], [%rd2], 8;": [
        "async-write data shared 8 tile",
        "async-read data global 8 a",
    ],
    "cp.async.mbarrier.arrive.shared.b64 [bar];": ["async-reduce mbarrier shared 8 bar"],
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd2], 64, [bar];": [
        "async-write data shared 64 tile",
        "async-read data global 64 a",
        "async-reduce mbarrier shared 8 bar",
    ],
    "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r9], %r1;": [
        "async-write data global None a",
        "async-read data shared None tile",
    ],
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r9], 16;": [
        "async-reduce data global 16 a",
        "async-read data shared 16 tile",
    ],
    "cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes"
    " [%r9], [%rd1, {%r1, %r2}], [bar];": [
        "async-write data shared None tile",
        "async-read data global None a",
        "async-reduce mbarrier shared 8 bar",
    ],
    "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [%r9];": [
        "async-write data global None a",
        "async-read data shared None tile",
    ],
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r9];": ["read data shared 16 tile"],
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r9], {%r1};": ["write data shared 16 tile"],
    "wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4}, [%rd2], %r5;": [
        "read data global None a"
    ],
    "mbarrier.init.shared.b64 [bar], 1;": ["write mbarrier shared 8 bar"],
    "mbarrier.arrive.shared.b64 %rd3, [bar];": ["atomic mbarrier shared 8 bar"],
    "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;": ["read mbarrier shared 8 bar"],
    "prefetch.global.L2 [%rd2];": ["prefetch data global None a"],
    "discard.global.L2 [%rd2], 128;": ["write data global 128 a"],
    "tensormap.replace.tile.global_address.global.b1024.b64 [%rd2], %rd3;": [
        "write tensormap global 128 a"
    ],
    "multimem.red.relaxed.sys.global.add.u32 [%rd2], %r1;": ["reduce data global 4 a"],
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r9], %r1, [bar];": [
        "async-write data shared 4 tile",
        "async-reduce mbarrier shared 8 bar",
    ],
    "suld.b.1d.b32.trap %r1, [%rd3, {%r2}];": ["read data surface None None"],
    "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r9], 32;": [
        "write data shared 4 tile"
    ],
    "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];": ["async-read data tensor None None"],
    "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd3, %rd4, %r2, %p1;": [
        "async-reduce data tensor None None",
        "async-read descriptor shared None None",
        "async-read descriptor shared None None",
    ],
}


@pytest.mark.parametrize("instruction", KINDS)
def test_kinds(instruction: str) -> None:
    shown = []
    for access in one(instruction):
        variable = None if access.base is None else access.base.variable
        name = None if variable is None else variable.name
        shown.append(f"{access.kind} {access.role} {access.space} {access.size} {name}")
    assert shown == KINDS[instruction]


# instruction -> order, scope, cache
ORDERS = {
    "ld.global.u32 %r1, [%rd2];": ("weak", "", ()),
    "ld.relaxed.gpu.global.u32 %r1, [%rd2];": ("relaxed", "gpu", ()),
    "ld.acquire.sys.global.u32 %r1, [%rd2];": ("acquire", "sys", ()),
    "st.release.cluster.global.u32 [%rd2], 1;": ("release", "cluster", ()),
    "ld.volatile.global.u32 %r1, [%rd2];": ("volatile", "sys", ()),
    "ld.mmio.relaxed.sys.global.u32 %r1, [%rd2];": ("mmio.relaxed", "sys", ()),
    "atom.acq_rel.cta.global.add.u32 %r1, [%rd2], 1;": ("acq_rel", "cta", ()),
    "atom.global.add.u32 %r1, [%rd2], 1;": ("relaxed", "gpu", ()),
    "mbarrier.arrive.shared.b64 _, [bar];": ("release", "cta", ()),
    "ld.global.nc.L1::no_allocate.L2::128B.u32 %r1, [%rd2];": (
        "weak",
        "",
        ("nc", "L1::no_allocate", "L2::128B"),
    ),
    "st.global.cs.u32 [%rd2], 1;": ("weak", "", ("cs",)),
}


@pytest.mark.parametrize("instruction", ORDERS)
def test_orders(instruction: str) -> None:
    (access,) = one(instruction)
    assert (access.order, access.scope, access.cache) == ORDERS[instruction]


# instruction -> registers loaded, stored
REGISTERS = {
    "ld.global.v2.u32 {%r1, %r2}, [%rd2];": (["%r1", "%r2"], []),
    "st.global.u32 [%rd2], %r1;": ([], ["%r1"]),
    "atom.global.cas.b32 %r1, [%rd2], %r2, %r3;": (["%r1"], ["%r2", "%r3"]),
    "red.global.add.u32 [%rd2], %r1;": ([], ["%r1"]),
    "atom.global.add.u32 %r1, [%rd2], %r2;": (["%r1"], ["%r2"]),
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r9];": (["%r1", "%r2"], []),
    "st.shared.v2.u32 [tile], {%r1, %r2};": ([], ["%r1", "%r2"]),
    "prefetch.global.L2 [%rd2];": ([], []),
}


@pytest.mark.parametrize("instruction", REGISTERS)
def test_registers(instruction: str) -> None:
    (access,) = one(instruction)
    stored = [name for operand in access.stored for name in names(operand)]
    assert (names(access.loaded), stored) == REGISTERS[instruction]


def test_guard_and_place() -> None:
    (access,) = one("@!%p1 ld.global.u32 %r1, [%rd2+8];")
    assert access.guard is not None and access.guard.negated
    assert (access.index, access.offset, access.element, access.elements) == (3, 8, 4, 1)


CALLEES = """.func (.param .b32 r) pure(.param .b32 x)
{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; st.param.b32 [r], %r1; ret; }
.func reads(.param .b64 x)
{ .reg .b32 %r<3>; .reg .b64 %rd<3>; ld.param.b64 %rd1, [x]; ld.u32 %r1, [%rd1]; ret; }
.func outer(.param .b64 x)
{ { .param .b64 y; call reads, (y); } ret; }
.extern .func unknown(.param .b64 x);
"""


@pytest.mark.parametrize(
    ("call", "effect"),
    [
        ("{ .param .b32 x; .param .b32 r; call (r), pure, (x); }", (False, False)),
        ("{ .param .b64 x; call reads, (x); }", (True, False)),
        ("{ .param .b64 x; call outer, (x); }", (True, False)),
        ("{ .param .b64 x; call unknown, (x); }", (True, True)),
    ],
)
def test_calls(call: str, effect: tuple[bool, bool]) -> None:
    *arguments, callee = found(call, CALLEES)
    assert callee.kind == "call"
    assert (callee.reads, callee.writes) == effect
    assert [(a.kind, a.space) for a in arguments if a.kind == "read"] == [("read", "param")]
    assert all(a.size in (4, 8) for a in arguments)


def test_what_lanes_address() -> None:
    body = "mad.wide.u32 %rd4, %r1, 4, %rd2;\nld.global.u32 %r2, [%rd4+8];"
    (access,) = [a for a in found(f"mov.u32 %r1, %tid.x;\n{POINTERS}{body}") if a.index == 5]
    assert access.pattern is not None and not access.pattern.is_uniform
    assert access.congruence is not None and access.congruence.bits >= 2
    descriptor = one("tcgen05.cp.cta_group::1.128x256b [%r1], %rd3;")[-1]
    assert (descriptor.role, descriptor.pattern, descriptor.congruence) == (
        "descriptor",
        None,
        None,
    )
