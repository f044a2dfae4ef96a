"""What a GPU computes, for the interpreter to be held against.

``cases()`` makes small kernels, always the same ones. On a machine with a GPU:

    python bench/gpu_execute.py tests/execute/gpu/results.json

runs them and keeps the bytes of their output buffers. Every kernel has the parameters ``out`` and
``data``; ``data`` begins with the operands a, b, c of each thread, 8 bytes each.
"""

from __future__ import annotations

import base64
import json
import random
import struct
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

THREADS = 64
HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"


@dataclass(frozen=True)
class Case:
    """A kernel ``k`` with one CTA of ``threads``; ``size`` counts the bytes of ``out``."""

    name: str
    ptx: str
    data: bytes
    size: int
    threads: int = THREADS


def _pool(kind: str) -> list[int]:
    """Operands at the edges of a type, as raw bits."""
    if kind in ("b16", "b32", "b64"):
        width = int(kind[1:])
        top = 1 << width
        edges = [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 255, 256]
        edges += [top - 1, top - 2, top - 7, top // 2, top // 2 - 1, top // 2 + 1]
        edges += [0xAAAA_AAAA_AAAA_AAAA % top, 0x1234_5678_9ABC_DEF0 % top]
        return edges
    exponent, fraction = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}[kind]
    bias, ones = (1 << exponent - 1) - 1, (1 << exponent) - 1
    one = bias << fraction
    found = [0, 1, 2, (1 << fraction) - 1, 1 << fraction, (1 << fraction) + 1]
    found += [
        one,
        one + 1,
        one - 1,
        one + (1 << fraction),
        one - (1 << fraction),
        one | 3 << fraction - 2,
    ]
    found += [ones << fraction, (ones << fraction) - 1, ones << fraction | 1 << fraction - 1]
    found += [
        ones << fraction | 1,
        (bias + fraction) << fraction | 1,
        (bias + fraction + 1) << fraction,
    ]
    found += [(bias + k) << fraction | 5 for k in (2, 7, 15, -1, -7, -14) if 0 < bias + k < ones]
    sign = 1 << exponent + fraction
    return found + [value | sign for value in found]


def _operands(kind: str, seed: int) -> list[tuple[int, int, int]]:
    """Three operands for each thread: edges, near ones, and anything."""
    source = random.Random(seed)
    base = kind.removesuffix("x2")
    width = {"b16": 16, "f16": 16, "bf16": 16, "b32": 32, "f32": 32, "b64": 64, "f64": 64}[base]
    pool = _pool(base)

    def pick() -> int:
        if source.random() < 0.65:
            return source.choice(pool)
        value = source.getrandbits(width)
        if base in ("f32", "f64") and source.random() < 0.7:
            # Near 1, so that sums and products round.
            fraction = 23 if base == "f32" else 52
            bias = 127 if base == "f32" else 1023
            value &= (1 << fraction) - 1 | 1 << width - 1
            value |= (bias + source.randint(-4, 4)) << fraction
        return value

    def one() -> int:
        return pick() | pick() << width if kind.endswith("x2") else pick()

    return [(one(), one(), one()) for _ in range(THREADS)]


_REGISTERS = {"b16": "%h", "b32": "%r", "b64": "%d", "pred": "%p"}


def table(name: str, kind: str, rows: Iterable[tuple[str, str]], seed: int) -> Case:
    """A kernel that runs each row on a, b, c and keeps the result.

    A row is an instruction with ``{d}`` for the result, and the result's register class.
    """
    rows = list(rows)
    bits = {"b16": "b16", "f16": "b16", "bf16": "b16", "b64": "b64", "f64": "b64"}.get(kind, "b32")
    letter = _REGISTERS[bits]
    body = [
        "ld.param.u64 %d0,[out]; cvta.to.global.u64 %d0,%d0;",
        "ld.param.u64 %d1,[data]; cvta.to.global.u64 %d1,%d1; mov.u32 %r0,%tid.x;",
        "mul.wide.u32 %d2,%r0,24; add.u64 %d1,%d1,%d2; mul.wide.u32 %d3,%r0,8; add.u64 %d0,%d0,%d3;",
        f"ld.global.{bits} {letter}1,[%d1]; ld.global.{bits} {letter}2,[%d1+8];".replace(
            "%d1]", "%d1]"
        ),
        f"ld.global.{bits} {letter}3,[%d1+16];",
    ]
    if bits == "b64":
        body[3] = body[3].replace("%d1,[%d1]", "%d11,[%d1]").replace("%d2,[", "%d12,[")
        body[4] = body[4].replace("%d3,[", "%d13,[")
    a, b, c = (f"{letter}{i + (10 if bits == 'b64' else 0)}" for i in (1, 2, 3))
    body.append(
        "ld.global.b32 %r21,[%d1]; ld.global.b32 %r22,[%d1+8]; ld.global.b32 %r23,[%d1+16];"
    )
    for i, (text, result) in enumerate(rows):
        target = {"b16": "%h9", "b32": "%r9", "b64": "%d9", "pred": "%p9"}[result]
        body.append(text.format(d=target, a=a, b=b, c=c, x="%r21", y="%r22", z="%r23"))
        if result == "pred":
            body.append("selp.b64 %d8,1,0,%p9;")
        elif result == "b64":
            body.append("mov.b64 %d8,%d9;")
        else:
            body.append(f"cvt.u64.u{result[1:]} %d8,{target};")
        body.append(f"st.global.b64 [%d0+{i * THREADS * 8}],%d8;")
    ptx = _kernel(body)
    data = b"".join(struct.pack("<3Q", *row) for row in _operands(kind, seed))
    return Case(name, ptx, data, len(rows) * THREADS * 8)


def _kernel(body: Iterable[str], before: str = "") -> str:
    declarations = ".reg .pred %p<20>; .reg .b16 %h<40>; .reg .b32 %r<80>; .reg .b64 %d<40>;"
    lines = "\n".join(body)
    return (
        f"{HEAD}{before}.visible .entry k(.param .u64 out, .param .u64 data)\n"
        f"{{\n{declarations}\n{lines}\nret;\n}}\n"
    )


def _integers() -> Iterator[Case]:
    for width in (16, 32, 64):
        rows = []
        b = f"b{width}"
        for t in (f"u{width}", f"s{width}"):
            for name in ("add", "sub", "min", "max", "div", "rem"):
                rows.append((f"{name}.{t} {{d}},{{a}},{{b}};", b))
            rows.append((f"mul.lo.{t} {{d}},{{a}},{{b}};", b))
            rows.append((f"mul.hi.{t} {{d}},{{a}},{{b}};", b))
            rows.append((f"mad.lo.{t} {{d}},{{a}},{{b}},{{c}};", b))
            rows.append((f"mad.hi.{t} {{d}},{{a}},{{b}},{{c}};", b))
            rows.append((f"sad.{t} {{d}},{{a}},{{b}},{{c}};", b))
            if width < 64:
                rows.append((f"mul.wide.{t} {{d}},{{a}},{{b}};", f"b{2 * width}"))
        rows += [(f"abs.s{width} {{d}},{{a}};", b), (f"neg.s{width} {{d}},{{a}};", b)]
        yield table(f"integer{width}", b, rows, width)
        logic = [(f"{n}.{b} {{d}},{{a}},{{b}};", b) for n in ("and", "or", "xor")]
        logic += [(f"{n}.{b} {{d}},{{a}};", b) for n in ("not", "cnot")]
        for t in (f"u{width}", f"s{width}"):
            logic.append((f"shr.{t} {{d}},{{a}},{{y}};", b))
        logic += [(f"shl.{b} {{d}},{{a}},{{y}};", b), (f"shl.{b} {{d}},{{a}},5;", b)]
        logic += [(f"shl.{b} {{d}},{{a}},{width};", b)]
        for op in ("eq", "ne", "lt", "le", "gt", "ge"):
            logic.append((f"setp.{op}.s{width} {{d}},{{a}},{{b}};", "pred"))
            logic.append((f"set.{op}.u32.u{width} {{d}},{{a}},{{b}};", "b32"))
        for op in ("lo", "ls", "hi", "hs"):
            logic.append((f"setp.{op}.u{width} {{d}},{{a}},{{b}};", "pred"))
        logic.append(
            (
                f"setp.lt.s{width} %p1,{{a}},{{b}}; setp.gt.and.u{width} {{d}}|%p2,{{b}},{{c}},%p1;",
                "pred",
            )
        )
        logic.append((f"setp.lt.xor.u{width} %p3|{{d}},{{b}},{{c}},!%p1;", "pred"))
        logic.append((f"selp.{b} {{d}},{{a}},{{c}},%p1;", b))
        logic.append((f"slct.{b}.s32 {{d}},{{a}},{{b}},{{z}};", b))
        logic.append((f"set.lt.or.f32.s{width} {{d}},{{a}},{{b}},%p1;", "b32"))
        yield table(f"logic{width}", b, logic, width + 1)
    yield table("integer32x", "b32", _more32(), 5)
    yield table("fields32", "b32", _fields(32), 6)
    yield table("fields64", "b64", _fields(64), 7)
    yield table("permute", "b32", _permutes(), 8)
    yield table("carry", "b32", _carries(32), 9)
    yield table("carry64", "b64", _carries(64), 10)
    yield table("packed16", "b32", _packed16(), 11)


def _more32() -> Iterator[tuple[str, str]]:
    for t in ("u32", "s32"):
        for part in ("lo", "hi"):
            yield f"mul24.{part}.{t} {{d}},{{a}},{{b}};", "b32"
            yield f"mad24.{part}.{t} {{d}},{{a}},{{b}},{{c}};", "b32"
        yield f"mad.wide.{t} {{d}},{{a}},{{b}},%d1;".replace("%d1", "%d3"), "b64"
        for other in ("u32", "s32"):
            yield f"dp4a.{t}.{other} {{d}},{{a}},{{b}},{{c}};", "b32"
            yield f"dp2a.lo.{t}.{other} {{d}},{{a}},{{b}},{{c}};", "b32"
            yield f"dp2a.hi.{t}.{other} {{d}},{{a}},{{b}},{{c}};", "b32"
    yield "add.sat.s32 {d},{a},{b};", "b32"
    yield "sub.sat.s32 {d},{a},{b};", "b32"
    yield "mad.hi.sat.s32 {d},{a},{b},{c};", "b32"
    yield "mad24.hi.sat.s32 {d},{a},{b},{c};", "b32"
    yield "add.u16x2 {d},{a},{b};", "b32"
    yield "min.relu.s32 {d},{a},{b};", "b32"
    yield "max.relu.s32 {d},{a},{b};", "b32"


def _packed16() -> Iterator[tuple[str, str]]:
    for t in ("u16x2", "s16x2"):
        for name in ("add", "min", "max"):
            yield f"{name}.{t} {{d}},{{a}},{{b}};", "b32"
    yield "min.relu.s16x2 {d},{a},{b};", "b32"
    yield "max.relu.s16x2 {d},{a},{b};", "b32"
    for t in ("u8", "s8", "u16", "s16"):
        yield (
            f"cvt.pack.sat.{t}.s32{'.b32' if '8' in t else ''} {{d}},{{a}},{{b}}{',{c}' if '8' in t else ''};",
            "b32",
        )


def _fields(width: int) -> Iterator[tuple[str, str]]:
    b = f"b{width}"
    for t in (f"u{width}", f"s{width}"):
        yield f"bfe.{t} {{d}},{{a}},{{y}},{{z}};", b
        yield f"bfe.{t} {{d}},{{a}},3,7;", b
        yield f"and.b32 %r30,{{y}},31; and.b32 %r31,{{z}},15; bfe.{t} {{d}},{{a}},%r30,%r31;", b
        yield f"bfind.{t} {{d}},{{a}};", "b32"
        yield f"bfind.shiftamt.{t} {{d}},{{a}};", "b32"
    yield f"bfi.{b} {{d}},{{a}},{{b}},{{y}},{{z}};", b
    yield f"bfi.{b} {{d}},{{a}},{{b}},%r30,%r31;", b
    yield f"brev.{b} {{d}},{{a}};", b
    yield f"clz.{b} {{d}},{{a}};", "b32"
    yield f"popc.{b} {{d}},{{a}};", "b32"
    if width == 32:
        yield "and.b32 %r32,{c},7; sub.s32 %r32,%r32,3; fns.b32 {d},{a},%r30,%r32;", "b32"
        for mode in ("clamp", "wrap"):
            yield f"bmsk.{mode}.b32 {{d}},{{a}},{{b}};", "b32"
            for t in ("u32", "s32"):
                yield f"szext.{mode}.{t} {{d}},{{a}},{{b}};", "b32"


def _permutes() -> Iterator[tuple[str, str]]:
    yield "prmt.b32 {d},{a},{b},{c};", "b32"
    yield "prmt.b32 {d},{a},{b},0x4d2f;", "b32"
    yield "add.u32 %r30,{a},{b}; bfind.u32 %r31,%r30; shf.l.wrap.b32 {d},{a},%r30,%r31;", "b32"
    for mode in ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"):
        yield f"prmt.b32.{mode} {{d}},{{a}},{{b}},{{c}};", "b32"
    for side in "lr":
        for mode in ("wrap", "clamp"):
            yield f"shf.{side}.{mode}.b32 {{d}},{{a}},{{b}},{{c}};", "b32"
    for value in (0x1B, 0xE8, 0x96, 0xCA, 0x80, 0x57):
        yield f"lop3.b32 {{d}},{{a}},{{b}},{{c}},{value};", "b32"
    yield "mov.b64 %d20,{{{a},{b}}}; mov.b64 {{_,{d}}},%d20;", "b32"
    yield "mov.b32 {{%h1,%h2}},{a}; mov.b32 {d},{{%h2,%h1}};", "b32"


def _carries(width: int) -> Iterator[tuple[str, str]]:
    for t in (f"u{width}", f"s{width}"):
        b = f"b{width}"
        yield f"add.cc.{t} {{d}},{{a}},{{b}}; addc.cc.{t} {{d}},{{b}},{{c}};", b
        yield f"addc.{t} {{d}},0,0;", b
        yield f"sub.cc.{t} {{d}},{{a}},{{b}}; subc.cc.{t} {{d}},{{b}},{{c}};", b
        yield f"subc.{t} {{d}},0,0;", b
        yield f"mad.lo.cc.{t} {{d}},{{a}},{{b}},{{c}}; madc.hi.cc.{t} {{d}},{{a}},{{b}},{{c}};", b
        yield f"addc.{t} {{d}},0,0;", b
        yield f"mad.hi.cc.{t} {{d}},{{a}},{{b}},{{c}}; madc.lo.{t} {{d}},{{b}},{{b}},{{c}};", b


def _float_rows(t: str, b: str) -> Iterator[tuple[str, str]]:
    for mode in ("rn", "rz", "rm", "rp"):
        for suffix in ("", ".ftz") if t == "f32" else ("",):
            for name in ("add", "mul"):
                yield f"{name}.{mode}{suffix}.{t} {{d}},{{a}},{{b}};", b
            yield f"fma.{mode}{suffix}.{t} {{d}},{{a}},{{b}},{{c}};", b
    yield f"sub.rn.{t} {{d}},{{a}},{{b}};", b
    for mode in ("rn", "rz", "rm", "rp"):
        yield f"div.{mode}.{t} {{d}},{{a}},{{b}};", b
        yield f"rcp.{mode}.{t} {{d}},{{a}};", b
        yield f"sqrt.{mode}.{t} {{d}},{{a}};", b
    if t == "f32":
        yield "sqrt.rn.ftz.f32 {d},{a};", b
        yield "div.rn.ftz.f32 {d},{a},{b};", b
        for name in ("add", "mul"):
            yield f"{name}.sat.f32 {{d}},{{a}},{{b}};", b
        yield "fma.rn.sat.f32 {d},{a},{b},{c};", b


def _float_tests(t: str, b: str) -> Iterator[tuple[str, str]]:
    for name in ("min", "max"):
        yield f"{name}.{t} {{d}},{{a}},{{b}};", b
        if t == "f32":
            for suffix in (".ftz", ".NaN", ".ftz.NaN", ".NaN.xorsign.abs"):
                yield f"{name}{suffix}.f32 {{d}},{{a}},{{b}};", b
    for name in ("abs", "neg"):
        yield f"{name}.{t} {{d}},{{a}};", b
    yield f"copysign.{t} {{d}},{{a}},{{b}};", b
    for test in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        yield f"testp.{test}.{t} {{d}},{{a}};", "pred"
    names = ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu")
    for op in (*names, "num", "nan"):
        yield f"setp.{op}.{t} {{d}},{{a}},{{b}};", "pred"
    yield f"set.ltu.f32.{t} {{d}},{{a}},{{b}};", "b32"
    yield f"set.gt.s32.{t} {{d}},{{a}},{{b}};", "b32"
    if t == "f32":
        yield "abs.ftz.f32 {d},{a};", b
        yield "neg.ftz.f32 {d},{a};", b
        yield "setp.lt.ftz.f32 {d},{a},{b};", "pred"
        yield "slct.b32.f32 {d},{a},{b},{c};", b
        yield "slct.ftz.b32.f32 {d},{a},{b},{c};", b


def _half_rows(t: str) -> Iterator[tuple[str, str]]:
    b = "b32" if t.endswith("x2") else "b16"
    base = t.removesuffix("x2")
    suffixes = ("", ".ftz", ".sat") if base == "f16" else ("",)
    for suffix in suffixes:
        for name in ("add", "sub", "mul"):
            yield f"{name}.rn{suffix}.{t} {{d}},{{a}},{{b}};", b
        yield f"fma.rn{suffix}.{t} {{d}},{{a}},{{b}},{{c}};", b
    yield f"fma.rn.relu.{t} {{d}},{{a}},{{b}},{{c}};", b
    for name in ("min", "max"):
        for suffix in ("", ".NaN", ".xorsign.abs"):
            yield f"{name}{suffix}.{t} {{d}},{{a}},{{b}};", b
    yield f"abs.{t} {{d}},{{a}};", b
    yield f"neg.{t} {{d}},{{a}};", b
    if not t.endswith("x2"):
        for op in ("eq", "lt", "geu", "nan", "ne"):
            yield f"setp.{op}.{t} {{d}},{{a}},{{b}};", "pred"
        yield f"set.gt.u32.{t} {{d}},{{a}},{{b}};", "b32"
    else:
        yield f"setp.lt.{t} {{d}}|%p2,{{a}},{{b}};", "pred"
        yield f"setp.geu.{t} %p2|{{d}},{{a}},{{b}};", "pred"
        yield f"set.ne.u32.{t} {{d}},{{a}},{{b}};", "b32"
        yield f"set.le.{t}.{t} {{d}},{{a}},{{b}};", "b32"


def _floats() -> Iterator[Case]:
    for t, b in (("f32", "b32"), ("f64", "b64")):
        yield table(f"arithmetic.{t}", t, _float_rows(t, b), 20)
        yield table(f"arithmetic2.{t}", t, _float_rows(t, b), 21)
        yield table(f"tests.{t}", t, _float_tests(t, b), 22)
    for t in ("f16", "bf16", "f16x2", "bf16x2"):
        yield table(f"half.{t}", t, _half_rows(t), 23)
    yield _nans("f64")
    yield _nans("f32")
    yield table("approximate", "f32", _approximate(), 24)


def _nans(t: str) -> Case:
    """Which NaN comes out where several go in."""
    b = "b64" if t == "f64" else "b32"
    rows = [(f"{n}.rn.{t} {{d}},{{a}},{{b}};", b) for n in ("add", "sub", "mul", "div")]
    rows.append((f"fma.rn.{t} {{d}},{{a}},{{b}},{{c}};", b))
    rows += [(f"{n}.{t} {{d}},{{a}},{{b}};", b) for n in ("min", "max")]
    rows += [
        (f"{n}.{t} {{d}},{{a}};", b) for n in ("abs", "neg", "rcp.rn", "sqrt.rn", "cvt.rni." + t)
    ]
    if t == "f64":
        rows += [(f"cvt.{m}.f32.f64 {{d}},{{a}};", "b32") for m in ("rn", "rz")]
        rows += [("cvt.rn.f16.f64 {d},{a};", "b16"), ("cvt.rzi.u16.f64 {d},{a};", "b16")]
        pool = [0x7FF0_0000_0000_0012, 0xFFF0_0345_0000_0001, 0x7FF8_1234_0000_0000]
        pool += [0xFFF8_0000_0000_4321, 0x3FF0_0000_0000_0000, 0x7FF0_0000_0000_0000]
    else:
        rows += [("cvt.f64.f32 {d},{a};", "b64"), ("cvt.ftz.f64.f32 {d},{a};", "b64")]
        rows += [(f"cvt.{m}.tf32.f32 {{d}},{{a}};", "b32") for m in ("rna", "rn", "rz")]
        pool = [0x7F80_0012, 0xFF80_3401, 0x7FC1_2340, 0xFFC0_0321, 0x3F80_0000, 0x7F80_0000]
    case = table(f"nan.{t}", t, rows, 1)
    source = random.Random(7)
    data = b"".join(struct.pack("<3Q", *source.choices(pool, k=3)) for _ in range(THREADS))
    return Case(case.name, case.ptx, data, case.size)


def _approximate() -> Iterator[tuple[str, str]]:
    for name in ("rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"):
        yield f"{name}.approx.f32 {{d}},{{a}};", "b32"
    yield "div.full.f32 {d},{a},{b};", "b32"
    yield "div.approx.f32 {d},{a},{b};", "b32"
    yield "rcp.approx.ftz.f32 {d},{a};", "b32"
    yield "ex2.approx.ftz.f32 {d},{a};", "b32"


def _conversions() -> Iterator[Case]:
    for width in (16, 32, 64):
        yield table(f"convert.b{width}", f"b{width}", _from_integer(width), 30 + width)
    for t in ("f16", "bf16", "f32", "f64"):
        yield table(f"convert.{t}", t, _from_float(t), 31)
    yield table("convert.more", "f32", _from_f32(), 32)
    yield table("convert.f8", "b16", _from_f8(), 33)


def _from_integer(width: int) -> Iterator[tuple[str, str]]:
    for sign in "us":
        source = f"{sign}{width}"
        for other in (8, 16, 32, 64):
            for to in (f"u{other}", f"s{other}"):
                if to == source:
                    continue
                b = f"b{max(other, 16)}"
                yield f"cvt.{to}.{source} {{d}},{{a}};", b
                wider = other > width and (sign == "u" or to[0] == "s")
                if not wider:
                    yield f"cvt.sat.{to}.{source} {{d}},{{a}};", b
        for to, b in (("f16", "b16"), ("f32", "b32"), ("f64", "b64"), ("bf16", "b16")):
            for mode in ("rn", "rz", "rm", "rp") if to in ("f32", "f64") else ("rn",):
                yield f"cvt.{mode}.{to}.{source} {{d}},{{a}};", b
    if width > 16:
        yield "cvt.u32.u8 {d},{x};", "b32"
        yield "cvt.s64.s16 {d},%h1;".replace("%h1", "{x}"), "b64"


def _from_float(t: str) -> Iterator[tuple[str, str]]:
    for mode in ("rni", "rzi", "rmi", "rpi"):
        for to in ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"):
            if t == "bf16" and to[1:] == "8":
                continue
            b = f"b{max(int(to[1:]), 16)}"
            yield f"cvt.{mode}.{to}.{t} {{d}},{{a}};", b
    if t == "bf16":
        yield "cvt.f32.bf16 {d},{a};", "b32"
        return
    own = {"f16": "b16", "f32": "b32", "f64": "b64"}
    for mode in ("rni", "rzi", "rmi", "rpi"):
        yield f"cvt.{mode}.{t}.{t} {{d}},{{a}};", own[t]
    for to in own:
        narrower = int(to[1:]) < int(t[1:])
        for mode in ("rn", "rz", "rm", "rp") if narrower and to != "f16" else ("rn",):
            text = f".{mode}" if narrower else ""
            if to != t:
                yield f"cvt{text}.{to}.{t} {{d}},{{a}};", own[to]
                yield f"cvt{text}.sat.{to}.{t} {{d}},{{a}};", own[to]
    if t == "f32":
        yield "cvt.rzi.ftz.s32.f32 {d},{a};", "b32"
        yield "cvt.rpi.ftz.s32.f32 {d},{a};", "b32"
        yield "cvt.ftz.f64.f32 {d},{a};", "b64"
        yield "cvt.rn.ftz.f16.f32 {d},{a};", "b16"
        yield "cvt.rpi.ftz.f32.f32 {d},{a};", "b32"
        yield "cvt.sat.f32.f32 {d},{a};", "b32"
    if t == "f64":
        yield "cvt.rn.ftz.f32.f64 {d},{a};", "b32"
    if t == "f16":
        yield "cvt.ftz.f32.f16 {d},{a};", "b32"


def _from_f32() -> Iterator[tuple[str, str]]:
    for mode in ("rn", "rz"):
        for relu in ("", ".relu"):
            yield f"cvt.{mode}{relu}.f16.f32 {{d}},{{a}};", "b16"
            yield f"cvt.{mode}{relu}.bf16.f32 {{d}},{{a}};", "b16"
            yield f"cvt.{mode}{relu}.f16x2.f32 {{d}},{{a}},{{b}};", "b32"
            yield f"cvt.{mode}{relu}.bf16x2.f32 {{d}},{{a}},{{b}};", "b32"
    yield "cvt.rna.tf32.f32 {d},{a};", "b32"
    yield "cvt.rn.tf32.f32 {d},{a};", "b32"
    yield "cvt.rz.tf32.f32 {d},{a};", "b32"
    for f8 in ("e4m3x2", "e5m2x2"):
        for relu in ("", ".relu"):
            yield f"cvt.rn.satfinite{relu}.{f8}.f32 {{d}},{{a}},{{b}};", "b16"
            yield f"cvt.rn.satfinite{relu}.{f8}.f16x2 {{d}},{{a}};", "b16"


def _from_f8() -> Iterator[tuple[str, str]]:
    for f8 in ("e4m3x2", "e5m2x2"):
        yield f"cvt.rn.f16x2.{f8} {{d}},{{a}};", "b32"
        yield f"cvt.rn.relu.f16x2.{f8} {{d}},{{a}};", "b32"


_START = [
    "ld.param.u64 %d0,[out]; cvta.to.global.u64 %d0,%d0;",
    "ld.param.u64 %d1,[data]; cvta.to.global.u64 %d1,%d1; mov.u32 %r0,%tid.x;",
    "mul.wide.u32 %d2,%r0,24; add.u64 %d2,%d1,%d2; mul.wide.u32 %d3,%r0,8; add.u64 %d10,%d0,%d3;",
    "ld.global.b32 %r21,[%d2]; ld.global.b32 %r22,[%d2+8]; ld.global.b32 %r23,[%d2+16];",
]


def program(name: str, body: Iterable[str], rows: int, before: str = "", seed: int = 99) -> Case:
    """A kernel of free form: ``[%d10 + 512 * i]`` is the thread's place in row i of ``out``."""
    data = b"".join(struct.pack("<3Q", *row) for row in _operands("b32", seed))
    return Case(name, _kernel([*_START, *body], before), data, rows * THREADS * 8)


def _keep(index: int, register: str, bits: str = "b32") -> str:
    return f"st.global.{bits} [%d10+{512 * index}],{register};"


def _warp_cases() -> Iterator[Case]:
    body: list[str] = ["mov.u32 %r40,%laneid; and.b32 %r41,%r22,31;"]
    count = 0
    for mode in ("up", "down", "bfly", "idx"):
        clamps = ["0", "0x1800", "0x1c00"] if mode == "up" else ["31", "0x181f", "0x1c1f", "7"]
        for clamp in clamps:
            for offset in ("%r41", "1", "5", "16"):
                body.append(f"shfl.sync.{mode}.b32 %r1|%p1,%r21,{offset},{clamp},-1;")
                body.append("selp.b32 %r2,1,0,%p1; mov.b64 %d20,{%r1,%r2};")
                body.append(_keep(count, "%d20", "b64"))
                count += 1
    yield program("shuffle", body, count)
    yield program("votes", *_votes())
    yield program("partial", *_partial())


def _votes() -> tuple[list[str], int]:
    body = ["setp.lt.u32 %p1,%r21,%r22; and.b32 %r30,%r21,3; cvt.u64.u32 %d20,%r30;"]
    count = 0
    for name in ("all", "any", "uni"):
        for p in ("%p1", "!%p1"):
            body.append(f"vote.sync.{name}.pred %p2,{p},-1; selp.b32 %r1,1,0,%p2;")
            body.append(_keep(count, "%r1"))
            count += 1
    for text in (
        "vote.sync.ballot.b32 %r1,%p1,-1;",
        "match.any.sync.b32 %r1,%r30,-1;",
        "match.any.sync.b64 %r1,%d20,-1;",
        "match.all.sync.b32 %r1|%p2,%r30,-1;",
        "mov.u32 %r31,5; match.all.sync.b32 %r1|%p2,%r31,-1;",
        *(
            f"redux.sync.{op}.{t} %r1,%r21,-1;"
            for op in ("add", "min", "max")
            for t in ("u32", "s32")
        ),
        *(f"redux.sync.{op}.b32 %r1,%r21,-1;" for op in ("and", "or", "xor")),
        "elect.sync %r1|%p2,-1; selp.b32 %r1,1,0,%p2;",
        "activemask.b32 %r1;",
        *(f"mov.u32 %r1,%lanemask_{k};" for k in ("eq", "lt", "le", "gt", "ge")),
    ):
        body += [text, _keep(count, "%r1")]
        count += 1
    return body, count


def _partial() -> tuple[list[str], int]:
    """Halves of a warp in different branches, each with its own member mask."""
    body = [
        "mov.u32 %r40,%laneid; setp.lt.u32 %p1,%r40,11; mov.u32 %r1,0; mov.u32 %r2,0; mov.u32 %r3,0; mov.u32 %r4,0;"
    ]
    body.append("@%p1 bra A;")
    for mask, label in (("0xfffff800", "B"), ("0x7ff", "A")):
        body.append("B:" if label == "B" else "A:")
        source = "12" if label == "B" else "3"
        body += [
            f"shfl.sync.idx.b32 %r1,%r21,{source},31,{mask};",
            f"setp.gt.s32 %p2,%r21,%r22; vote.sync.ballot.b32 %r2,%p2,{mask};",
            f"redux.sync.add.s32 %r3,%r21,{mask};",
            f"elect.sync %r4|%p3,{mask}; @%p3 add.s32 %r4,%r4,100;",
            "bra C;",
        ]
    body += ["C:", "bar.warp.sync -1;"]
    body += [_keep(i, f"%r{i + 1}") for i in range(4)]
    return body, 4


def _memory_cases() -> Iterator[Case]:
    yield _shared_case()
    yield _matrix_case()
    yield _atomic_case()
    yield _atomic_float_case()
    yield _async_case()
    yield _mbarrier_case()
    yield _bulk_case()
    yield _narrow_case()
    yield _barrier_case()


def _shared_case() -> Case:
    body = [
        ".shared .align 16 .b8 s[1024]; mov.u32 %r5,s; shl.b32 %r6,%r0,2; add.u32 %r5,%r5,%r6;",
        "st.shared.b32 [%r5],%r21; bar.sync 0; mov.u32 %r7,s; mov.u32 %r9,0; mov.u32 %r8,32;",
        # A tree of sums over 64 threads.
        "L: setp.lt.u32 %p1,%r0,%r8; shl.b32 %r10,%r8,2; add.u32 %r11,%r5,%r10;",
        "@%p1 ld.shared.b32 %r12,[%r11]; @%p1 ld.shared.b32 %r13,[%r5];",
        "@%p1 add.u32 %r13,%r13,%r12; @%p1 st.shared.b32 [%r5],%r13;",
        "bar.sync 0; shr.u32 %r8,%r8,1; setp.ne.u32 %p2,%r8,0; @%p2 bra L;",
        "ld.shared.b32 %r14,[s]; xor.b32 %r15,%r0,37; shl.b32 %r15,%r15,2; add.u32 %r15,%r7,%r15;",
        "ld.shared.b32 %r16,[%r15];",
        "and.b32 %r17,%r0,15; shl.b32 %r17,%r17,4; add.u32 %r17,%r7,%r17;",
        "ld.shared.v4.b32 {%r30,%r31,%r32,%r33},[%r17]; xor.b32 %r30,%r30,%r31; add.u32 %r30,%r30,%r32;",
        "sub.u32 %r30,%r30,%r33;",
        _keep(0, "%r14"), _keep(1, "%r16"), _keep(2, "%r30"),
    ]  # fmt: skip
    return program("shared", body, 3)


def _matrix_case() -> Case:
    body = [
        ".shared .align 16 .b8 s[2048]; mov.u32 %r5,s; shl.b32 %r6,%r0,4; add.u32 %r6,%r5,%r6;",
        "st.shared.v4.b32 [%r6],{%r21,%r22,%r23,%r0}; bar.sync 0; mov.u32 %r40,%laneid;",
        "xor.b32 %r7,%r40,5; shl.b32 %r7,%r7,4; add.u32 %r7,%r5,%r7;",
    ]
    count = 0
    for trans in ("", ".trans"):
        for n in (1, 2, 4):
            registers = ",".join(f"%r{50 + i}" for i in range(n))
            body.append(f"ldmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16 {{{registers}}},[%r7];")
            for i in range(n):
                body.append(_keep(count, f"%r{50 + i}"))
                count += 1
    body.append("movmatrix.sync.aligned.m8n8.trans.b16 %r60,%r21;")
    body.append(_keep(count, "%r60"))
    count += 1
    body.append("shr.u32 %r41,%r0,5; shl.b32 %r41,%r41,10; add.u32 %r8,%r7,%r41;")
    for trans in ("", ".trans"):
        for n in (1, 2, 4):
            given = ",".join(f"%r{i}" for i in (21, 22, 23, 40)[:n])
            body.append("bar.sync 0;")
            body.append(f"stmatrix.sync.aligned.m8n8.x{n}{trans}.shared.b16 [%r8],{{{given}}};")
            body.append("bar.sync 0; ld.shared.v2.b64 {%d20,%d21},[%r6];")
            body.append(_keep(count, "%d20", "b64") + _keep(count + 1, "%d21", "b64"))
            count += 2
    return program("matrices", body, count)


def _atomic_case() -> Case:
    """Sums and logic are the same in any order; the rest is one thread's own place."""
    body = [".shared .align 8 .b8 s[64]; setp.lt.u32 %p1,%r0,16; shl.b32 %r6,%r0,2; mov.u32 %r5,s;"]
    body.append("add.u32 %r6,%r5,%r6; @%p1 st.shared.b32 [%r6],%r22; bar.sync 0;")
    for i, text in enumerate(
        ("add.u32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32")
    ):
        body.append(f"red.shared.{text} [s+{4 * i}],%r21;")
    body.append("red.shared.add.u64 [s+40],%d3;")
    body.append("bar.sync 0; @%p1 ld.shared.b32 %r7,[%r6]; @!%p1 mov.u32 %r7,0;" + _keep(0, "%r7"))
    count = 1
    for text in ("inc.u32", "dec.u32", "exch.b32", "add.s32", "min.s32", "max.u32", "xor.b32"):
        for i in range(2):
            body.append(f"st.global.b32 [%d10+{512 * count}],%r2{1 + i};")
            body.append(f"atom.global.{text} %r7,[%d10+{512 * count}],%r23;")
            body.append(f"st.global.b32 [%d10+{512 * count + 4}],%r7;")
            count += 1
    body.append(f"st.global.b32 [%d10+{512 * count}],%r0; and.b32 %r30,%r0,62;")
    body.append(f"atom.global.cas.b32 %r7,[%d10+{512 * count}],%r30,%r21;")
    body.append(f"st.global.b32 [%d10+{512 * count + 4}],%r7;")
    return program("atomics", body, count + 1)


def _atomic_float_case() -> Case:
    body, count = [], 0
    for t, b, r in (
        ("f32", "b32", "%r"),
        ("f16x2", "b32", "%r"),
        ("bf16x2", "b32", "%r"),
        ("f64", "b64", "%d"),
    ):
        if t == "f64":
            body.append("ld.global.b64 %d21,[%d2]; ld.global.b64 %d23,[%d2+16];")
        flag = ".noftz" if "16" in t else ""
        body.append(f"st.global.{b} [%d10+{512 * count}],{r}21;")
        body.append(f"red.global.add{flag}.{t} [%d10+{512 * count}],{r}23;")
        count += 1
    body.append(
        ".shared .align 8 .b8 s[512]; mov.u32 %r5,s; shl.b32 %r6,%r0,3; add.u32 %r5,%r5,%r6;"
    )
    body.append(
        "st.shared.b32 [%r5],%r21; atom.shared.add.f32 %r7,[%r5],%r23; ld.shared.b32 %r8,[%r5];"
    )
    body.append("mov.b64 %d20,{%r7,%r8};" + _keep(count, "%d20", "b64"))
    data = b""
    for (a, b_, c), (d, e, f) in zip(_operands("f32", 3), _operands("f16x2", 4), strict=True):
        del b_, e
        data += struct.pack("<3Q", a | (d << 32), 0, c | (f << 32))
    return Case("atomic_floats", _kernel([*_START, *body]), data, (count + 1) * THREADS * 8)


def _async_case() -> Case:
    body = [
        ".shared .align 16 .b8 s[2048]; mov.u32 %r5,s; shl.b32 %r6,%r0,4; add.u32 %r5,%r5,%r6;",
        "mul.wide.u32 %d5,%r0,16; add.u64 %d5,%d1,%d5; mul.wide.u32 %d6,%r0,8; add.u64 %d6,%d1,%d6;",
        "cp.async.cg.shared.global [%r5],[%d5],16; cp.async.commit_group;",
        "cp.async.ca.shared.global [%r5+1024],[%d6],8,5; cp.async.commit_group;",
        "cp.async.wait_group 1; bar.sync 0; xor.b32 %r7,%r6,48; mov.u32 %r8,s; add.u32 %r7,%r8,%r7;",
        "ld.shared.v2.b64 {%d20,%d21},[%r7];" + _keep(0, "%d20", "b64") + _keep(1, "%d21", "b64"),
        "cp.async.wait_all; bar.sync 0; ld.shared.b64 %d22,[%r7+1024];" + _keep(2, "%d22", "b64"),
    ]
    return program("async", body, 3)


def _mbarrier_case() -> Case:
    body = [
        ".shared .align 8 .b8 m[16]; .shared .align 8 .b8 s[512]; mov.u32 %r5,m; mov.u32 %r6,s;",
        "setp.eq.u32 %p1,%r0,0; @%p1 mbarrier.init.shared.b64 [%r5],64; bar.sync 0;",
        "shl.b32 %r7,%r0,3; add.u32 %r7,%r6,%r7; st.shared.b32 [%r7],%r21;",
        "mbarrier.arrive.shared.b64 %d20,[%r5];",
        "W: mbarrier.test_wait.shared.b64 %p2,[%r5],%d20; @!%p2 bra W;",
        "xor.b32 %r8,%r0,45; shl.b32 %r8,%r8,3; add.u32 %r8,%r6,%r8; ld.shared.b32 %r9,[%r8];",
        _keep(0, "%r9"),
        "mbarrier.arrive.shared.b64 %d20,[%r5];",
        "V: mbarrier.try_wait.parity.shared.b64 %p2,[%r5],1; @!%p2 bra V;",
        "ld.shared.b32 %r9,[%r7];" + _keep(1, "%r9"),
    ]
    return program("mbarrier", body, 2)


def _bulk_case() -> Case:
    body = [
        ".shared .align 8 .b8 m[8]; .shared .align 128 .b8 s[1024]; mov.u32 %r5,m; mov.u32 %r6,s;",
        "setp.eq.u32 %p1,%r0,0; @%p1 mbarrier.init.shared.b64 [%r5],1;",
        "@%p1 fence.proxy.async; bar.sync 0; @!%p1 bra W;",
        "mbarrier.arrive.expect_tx.shared.b64 %d20,[%r5],1024;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6],[%d1],1024,[%r5];",
        "W: mbarrier.try_wait.parity.shared.b64 %p2,[%r5],0; @!%p2 bra W;",
        "shl.b32 %r7,%r0,4; add.u32 %r7,%r6,%r7; ld.shared.v2.b64 {%d22,%d23},[%r7];",
        _keep(0, "%d22", "b64") + _keep(1, "%d23", "b64"),
        "add.u64 %d22,%d22,1; st.shared.b64 [%r7],%d22; fence.proxy.async; bar.sync 0; @!%p1 bra X;",
        "add.u64 %d24,%d0,1024; cp.async.bulk.global.shared::cta.bulk_group [%d24],[%r6],1024;",
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;",
        "X: bar.sync 0;",
    ]
    return program("bulk", body, 4)


def _narrow_case() -> Case:
    body, count = [], 0
    for t in ("u8", "s8", "u16", "s16"):
        for r, b in (("%h1", "b16"), ("%r1", "b32"), ("%d20", "b64")):
            body.append(f"ld.global.{t} {r},[%d2+2];" + _keep(count, r, b))
            count += 1
    body.append("st.local.b8 [l+3],%r21; st.local.u16 [l+6],%r22; st.local.b32 [l+8],%r23;")
    body.insert(
        0,
        ".local .align 8 .b8 l[16]; mov.u64 %d30,0; st.local.b64 [l],%d30; st.local.b64 [l+8],%d30;",
    )
    body.append(
        "ld.local.v2.b64 {%d20,%d21},[l];"
        + _keep(count, "%d20", "b64")
        + _keep(count + 1, "%d21", "b64")
    )
    body.append(
        "mov.u64 %d31,l; cvta.local.u64 %d31,%d31; ld.b16 %h2,[%d31+6];"
        + _keep(count + 2, "%h2", "b16")
    )
    body.append(
        "ld.const.b32 %r30,[c+8]; mov.u64 %d32,g; cvta.global.u64 %d32,%d32; ld.v2.b32 {%r31,%r32},[%d32];"
    )
    body.append("add.u32 %r30,%r30,%r31; add.u32 %r30,%r30,%r32;" + _keep(count + 3, "%r30"))
    before = (
        ".const .align 4 .b32 c[4]={11,22,33,44};\n.global .align 8 .b32 g[2]={0xdeadbeef,-5};\n"
    )
    return program("narrow", body, count + 4, before)


def _barrier_case() -> Case:
    body = [
        "setp.lt.u32 %p1,%r21,%r22;",
        "barrier.red.popc.aligned.u32 %r1,1,%p1;" + _keep(0, "%r1"),
        "barrier.red.and.aligned.pred %p2,2,%p1; selp.b32 %r2,1,0,%p2;" + _keep(1, "%r2"),
        "barrier.red.or.aligned.pred %p2,3,!%p1; selp.b32 %r2,1,0,%p2;" + _keep(2, "%r2"),
        ".shared .align 4 .b8 s[256]; mov.u32 %r5,s; shl.b32 %r6,%r0,2; add.u32 %r5,%r5,%r6;",
        "setp.lt.u32 %p3,%r0,32; @%p3 bra P; bar.sync 4,64; ld.shared.b32 %r7,[%r5+-128]; bra E;",
        "P: mul.lo.u32 %r7,%r21,3; st.shared.b32 [%r5],%r7; bar.arrive 4,64;",
        "E:" + _keep(3, "%r7"),
    ]
    return program("barriers", body, 4)


def _control_cases() -> Iterator[Case]:
    yield program("loops", *_loops())
    yield program("switch", *_switch())
    before = (
        ".func (.param .b32 r) f(.param .b32 a, .param .align 4 .b8 s[8])\n{.reg .b32 %x<9>;"
        " .reg .pred %q; .local .align 4 .b8 t[8]; ld.param.b32 %x1,[a]; ld.param.b32 %x2,[s+4];\n"
        " .reg .b64 %y<4>; setp.gt.u32 %q,%x1,1; @!%q bra Z; sub.u32 %x3,%x1,1; st.local.b32 [t],%x1;\n"
        " {.param .b32 p0; .param .align 4 .b8 p1[8]; .param .b32 q0; st.param.b32 [p0],%x3;\n"
        " st.param.b32 [p1],%x3; st.param.b32 [p1+4],%x2; call.uni (q0),f,(p0,p1); ld.param.b32 %x4,[q0];}\n"
        " ld.local.b32 %x5,[t]; mad.lo.u32 %x4,%x4,%x5,%x2; st.param.b32 [r],%x4; ret;\n"
        "Z: st.param.b32 [r],%x2; ret;}\n"
        ".func (.param .b32 r) g(.param .b32 a, .param .align 4 .b8 s[8])\n{.reg .b32 %x<9>;\n"
        " ld.param.b32 %x1,[a]; ld.param.b32 %x2,[s]; xor.b32 %x1,%x1,%x2; st.param.b32 [r],%x1; ret;}\n"
    )
    yield program("calls", *_calls(), before=before)


def _loops() -> tuple[list[str], int]:
    body = [
        "and.b32 %r30,%r21,63; mov.u32 %r1,0; mov.u32 %r2,1; setp.ne.u32 %p3,%r0,%r0;",
        "L: setp.ge.u32 %p1,%r1,%r30; @%p1 bra D; and.b32 %r3,%r1,3; setp.eq.u32 %p2,%r3,2;",
        "@%p2 bra N; mad.lo.u32 %r2,%r2,5,%r1; setp.gt.u32 %p3,%r2,0xf0000000; @%p3 bra D;",
        "N: add.u32 %r1,%r1,1; bra L;",
        "D:" + _keep(0, "%r1") + _keep(1, "%r2"),
        # Collatz steps, nested in a loop of two.
        "mov.u32 %r4,0; mov.u32 %r5,0; or.b32 %r6,%r22,1; and.b32 %r6,%r6,0xfff;",
        "O: add.u32 %r7,%r6,%r5;",
        "C: setp.le.u32 %p4,%r7,1; @%p4 bra F; and.b32 %r8,%r7,1; setp.eq.u32 %p5,%r8,0;",
        "@%p5 bra H; mad.lo.u32 %r7,%r7,3,1; add.u32 %r4,%r4,1; bra C;",
        "H: shr.u32 %r7,%r7,1; add.u32 %r4,%r4,1; bra C;",
        "F: add.u32 %r5,%r5,1; setp.lt.u32 %p6,%r5,2; @%p6 bra O;",
        _keep(2, "%r4"),
        "vote.sync.ballot.b32 %r9,%p3,-1;" + _keep(3, "%r9"),
    ]
    return body, 4


def _switch() -> tuple[list[str], int]:
    body = [
        "T: .branchtargets A,B,C,B;",
        "and.b32 %r30,%r21,3; mov.u32 %r1,7; brx.idx %r30,T;",
        "A: add.u32 %r1,%r1,%r22; bra E;",
        "B: mul.lo.u32 %r1,%r1,%r22;",
        "C: xor.b32 %r1,%r1,%r23;",
        "E:" + _keep(0, "%r1"),
    ]
    return body, 1


def _calls() -> tuple[list[str], int]:
    body = [
        "and.b32 %r30,%r21,7; mov.u64 %d20,f; mov.u64 %d21,g; and.b32 %r31,%r0,1;",
        "setp.eq.u32 %p1,%r31,0; selp.b64 %d22,%d20,%d21,%p1;",
        "{.param .b32 p0; .param .align 4 .b8 p1[8]; .param .b32 q0; st.param.b32 [p0],%r30;",
        "st.param.v2.b32 [p1],{%r22,%r23};".replace(".v2.b32 [p1],{%r22,%r23}", ".b32 [p1],%r22"),
        "st.param.b32 [p1+4],%r23; call (q0),f,(p0,p1); ld.param.b32 %r1,[q0];}",
        _keep(0, "%r1"),
        "{.param .b32 p0; .param .align 4 .b8 p1[8]; .param .b32 q0; st.param.b32 [p0],%r30;",
        "st.param.b32 [p1],%r22; st.param.b32 [p1+4],%r23;",
        "P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 4 .b8 _[8]);",
        "call (q0),%d22,(p0,p1),P; ld.param.b32 %r2,[q0];}",
        _keep(1, "%r2"),
    ]
    return body, 2


def cases() -> list[Case]:
    """All kernels, in a fixed order."""
    makers = (_integers, _floats, _conversions, _warp_cases, _memory_cases, _control_cases)
    return [case for maker in makers for case in maker()]


def pack(data: bytes) -> str:
    """Bytes for a JSON file."""
    return base64.b85encode(zlib.compress(data, 9)).decode()


def unpack(text: str) -> bytes:
    """Bytes from a JSON file."""
    return zlib.decompress(base64.b85decode(text))


def on_gpu(chosen: Iterable[Case]) -> tuple[str, dict[str, bytes]]:
    """The GPU's name, and the output of each case; a case that fails is reported and left out."""
    from bench.gpu.driver import Device, DriverError

    device = Device()
    name = device.name()
    found = {}
    for case in chosen:
        try:
            function = device.function(device.load(case.ptx), "k")
            out, data = device.memory(case.size), device.memory(len(case.data), case.data)
            parameters = [struct.pack("<Q", address) for address in (out, data)]
            device.launch(function, (case.threads, 1, 1), parameters)
            found[case.name] = device.read(out, case.size)
        except DriverError as error:
            print(f"{case.name}: {error}", file=sys.stderr)
            if error.code >= 700:
                device.close()
                device = Device()
    device.close()
    return name, found


def main() -> int:
    """Run all on the GPU of this machine and write the file."""
    name, found = on_gpu(cases())
    rows = {case: pack(data) for case, data in found.items()}
    text = json.dumps({"gpu": name, "outputs": rows}, indent=0)
    Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
    print(f"{name}: {len(rows)} kernels")
    return 0


if __name__ == "__main__":
    sys.exit(main())
