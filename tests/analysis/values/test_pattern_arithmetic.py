"""Arithmetic of patterns: what is exact, what splits by bits, what wraps and what is assumed."""

from __future__ import annotations

import pytest

from .kernels import Kernel, exact, steps

TID = list(range(64))
NO_WRAP = "index arithmetic does not wrap around"


def stored(body: str, block: str | None = "64") -> object:
    return Kernel(f"{body}\n  st.shared.u32 [tile], %r20;", block).operand("%r20")


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("mul.lo.u32 %r20, %r3, 12;", [12 * t for t in TID]),
        ("sub.u32 %r20, 5, %r3;", [5 - t for t in TID]),
        ("shl.b32 %r20, %r3, 2;", [4 * t for t in TID]),
        ("shr.u32 %r20, %r3, 3;", [t >> 3 for t in TID]),
        ("xor.b32 %r20, %r3, 21;", [t ^ 21 for t in TID]),
        ("bfe.u32 %r20, %r3, 4, 2;", [t >> 4 & 3 for t in TID]),
        ("bfi.b32 %r20, %r3, 0, 5, 2;", [(t & 3) << 5 for t in TID]),
        ("div.u32 %r20, %r3, 3;", [t // 3 for t in TID]),
        ("rem.u32 %r20, %r3, 7;", [t % 7 for t in TID]),
        ("mul.hi.u32 %r20, %r3, -1431655765;", [t * 0xAAAAAAAB >> 32 for t in TID]),
        ("min.u32 %r20, %r3, 40;", [min(t, 40) for t in TID]),
        ("popc.b32 %r20, %r3;", [bin(t).count("1") for t in TID]),
        ("lop3.b32 %r20, %r3, 12, 5, 0x6a;", [(t & 12) ^ 5 for t in TID]),
        ("not.b32 %r20, %r3;", [~t for t in TID]),
        ("cvt.u8.u32 %r20, %r3;", TID),
        ("setp.lt.u32 %p1, %r3, 9; selp.b32 %r20, 100, %r3, %p1;", [100] * 9 + TID[9:]),
        ("setp.gt.s32 %p1, %r3, 9; @%p1 mov.u32 %r3, 0; mov.u32 %r20, %r3;", TID[:10] + [0] * 54),
        ("mov.u32 %r20, %laneid;", [t % 32 for t in TID]),
        ("mov.u32 %r20, %lanemask_lt;", [(1 << t % 32) - 1 for t in TID]),
        ("mov.b32 {%h1, %h2}, %r3; mov.b32 %r20, {%h2, %h1};", [t << 16 for t in TID]),
    ],
)
def test_exact_by_thread(body: str, values: list[int]) -> None:
    signed = [(v + (1 << 31)) % (1 << 32) - (1 << 31) for v in values]
    assert [(v + (1 << 31)) % (1 << 32) - (1 << 31) for v in exact(stored(body))] == signed


@pytest.mark.parametrize(
    "body",
    [
        "add.sat.s32 %r20, %r3, 2147483640;",
        "sub.sat.s32 %r20, -2147483640, %r3;",
        "mad.hi.sat.s32 %r20, %r3, %r3, 2147483640;",
        "min.relu.s32 %r20, %r3, 5;",
        "add.u32 %r6, %r3, 32760; add.u16x2 %r20, %r6, %r6;",
        "min.u16x2 %r20, %r3, 65541;",
        "mov.b32 {%h1, %h2}, %r3; add.bf16 %h1, %h1, %h1; mov.b32 %r20, {%h1, %h1};",
    ],
)
def test_clamped_packed_and_floating_results_are_no_integers(body: str) -> None:
    assert stored(body) is None


def test_low_bits_below_what_is_symbolic_split() -> None:
    body = "shl.b32 %r6, %r1, 6; add.u32 %r7, %r6, %r3;"
    assert exact(stored(f"{body} and.b32 %r20, %r7, 31;")) == [t & 31 for t in TID]
    assert steps(stored(f"{body} shr.u32 %r20, %r7, 2;")) == [t >> 2 for t in TID]
    assert steps(stored(f"{body} shr.u32 %r20, %r7, 6;")) == [0] * 64
    swizzled = stored(f"{body} xor.b32 %r20, %r7, 3;")
    assert [v + swizzled.const for v in steps(swizzled)] == [t ^ 3 for t in TID]


def test_what_does_not_split_is_unknown() -> None:
    # 1 + (thread 3) shifted right by 2 is not the sum of the shifts.
    body = "add.u32 %r7, %r1, %r3;"
    assert stored(f"{body} shr.u32 %r20, %r7, 2;") is None
    assert stored(f"{body} and.b32 %r20, %r7, 3;") is None
    assert (
        stored(f"shl.b32 %r6, %r1, 4; {body} add.u32 %r7, %r6, %r3; xor.b32 %r20, %r7, 16;") is None
    )


def test_or_is_a_sum_where_bits_are_disjoint() -> None:
    # The multiple of 64 lies above all bits of the thread; above what it may have, it does not.
    high = "and.b32 %r6, %r1, 7; shl.b32 %r6, %r6, 8;"
    assert steps(stored(f"{high} or.b32 %r20, %r6, %r3;")) == TID
    assert stored(f"{high} shl.b32 %r7, %r3, 5; or.b32 %r20, %r6, %r7;") is None
    # And below it: 512 x (thread / 32) beside at most 7 << 6.
    low = "and.b32 %r6, %r1, 7; shl.b32 %r6, %r6, 6; shr.u32 %r7, %r3, 5; shl.b32 %r7, %r7, 9;"
    assert steps(stored(f"{low} or.b32 %r20, %r6, %r7;")) == [512 * (t >> 5) for t in TID]


def test_widening_of_negative_threads() -> None:
    def wide(body: str, widening: str) -> Kernel:
        return Kernel(f"{body}\n  {widening} %rd2, %r6;\n  st.global.u32 [%rd2], %r3;")

    nothing = wide("sub.u32 %r6, %r3, 1;", "cvt.u64.u32").address()
    assert exact(nothing, 3) == [0xFFFFFFFF, 0, 1] and not nothing.assumed
    assert exact(wide("sub.u32 %r6, %r3, 1;", "cvt.s64.s32").address(), 3) == [-1, 0, 1]
    # With something unknown in it, that it does not wrap is an assumption, and said.
    unknown = wide("sub.u32 %r6, %r3, 1; add.u32 %r6, %r6, %r1;", "cvt.u64.u32").address()
    assert steps(unknown, 3) == [0, 1, 2] and NO_WRAP in unknown.assumed
    # What is bounded needs none.
    small = wide("and.b32 %r6, %r1, 255; add.u32 %r6, %r6, %r3;", "cvt.s64.s32").address()
    assert steps(small, 3) == [0, 1, 2] and not small.assumed


def test_a_sum_that_wraps_is_not_widened_as_if_it_did_not() -> None:
    # 0x40000000 x thread: from thread 2 on it has wrapped, wherever the unknown lies.
    body = "shl.b32 %r6, %r3, 30; add.u32 %r6, %r6, %r1; cvt.u64.u32 %rd2, %r6;"
    assert Kernel(f"{body}\n  st.global.u32 [%rd2], %r3;").address() is None


def test_narrow_registers_wrap() -> None:
    body = "cvt.u16.u32 %h1, %r3; mul.lo.u16 %h2, %h1, 2048; cvt.u32.u16 %r20, %h2;"
    assert exact(stored(body)) == [2048 * t % 65536 for t in TID]


def test_rows_of_an_unknown_stride() -> None:
    body = "shr.u32 %r6, %r3, 2; and.b32 %r7, %r3, 3; mad.lo.s32 %r20, %r6, %r1, %r7;"
    found = stored(body)
    ((symbol, rows),) = found.lanes
    assert symbol.kind == "parameter" and list(rows.values) == [t >> 2 for t in TID]
    assert list(found.vector.values) == [t & 3 for t in TID] and found.has_strides
    scaled = stored(body.replace("%r20", "%r8") + " shl.b32 %r20, %r8, 2;")
    assert list(scaled.lanes[0][1].values) == [(t >> 2) * 4 for t in TID]


def test_a_choice_by_thread_between_unknowns_is_a_stride() -> None:
    found = stored("setp.lt.u32 %p1, %r3, 16; selp.b32 %r20, %r1, %r2, %p1;")
    rows = {symbol.origin[0]: list(steps_.values) for symbol, steps_ in found.lanes}
    assert rows == {"n": [0] * 16 + [-1] * 48, "m": [0] * 16 + [1] * 48}


def test_the_sign_of_an_index() -> None:
    # nvcc's signed division by 32: the sign, shifted to what is to be added.
    body = "mad.lo.s32 %r6, %r4, %r5, %r3; shr.s32 %r7, %r6, 31; shr.u32 %r7, %r7, 27;"
    found = stored(f"{body} add.s32 %r8, %r6, %r7; shr.s32 %r20, %r8, 5;", None)
    assert steps(found) == [t >> 5 for t in TID]
    assert "indices are not negative" in found.assumed
    assert not stored("mov.u32 %r6, %r3; shr.s32 %r20, %r6, 31;").assumed


def test_the_shared_window_falls_out() -> None:
    body = "mov.u64 %rd2, tile; cvta.shared.u64 %rd3, %rd2; cvta.to.shared.u64 %rd4, %rd3;"
    found = Kernel(f"{body} cvt.u32.u64 %r20, %rd4;\n  st.shared.u32 [%r20], %r3;").address()
    ((symbol, factor),) = found.terms
    assert (symbol.kind, factor, found.zeros) == ("base", 1, 4)
