"""Kernels whose lanes reach shared and global memory in the ways that real ones do.

``kernels()`` gives always the same ones: each makes one element number out of %tid and uses it for
loads and stores of 1 to 16 bytes in both spaces. Every element of every load is used, so that the
assembler keeps the accesses as they are.
"""

from __future__ import annotations

from typing import NamedTuple

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
SHARED = 32768
_TYPES = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}


class Kernel(NamedTuple):
    """A kernel ``k`` with the parameters ``data`` and ``out``, launched with ``block``."""

    name: str
    ptx: str
    block: tuple[int, int, int]


# Name, block, and the statements that make %e of %x, %y (tid) and %l (lane); %t0..%t3 are free.
_SHAPES: tuple[tuple[str, tuple[int, int, int], str], ...] = (
    ("row", (64, 1, 1), "mov.u32 %e, %x;"),
    ("backwards", (64, 1, 1), "sub.u32 %e, 63, %x;"),
    ("stride_2", (64, 1, 1), "shl.b32 %e, %x, 1;"),
    ("stride_3", (64, 1, 1), "mul.lo.u32 %e, %x, 3;"),
    ("stride_4", (64, 1, 1), "shl.b32 %e, %x, 2;"),
    ("stride_8", (64, 1, 1), "shl.b32 %e, %x, 3;"),
    ("column_of_32", (32, 1, 1), "shl.b32 %e, %x, 5;"),
    ("column_of_33", (32, 1, 1), "mul.lo.u32 %e, %x, 33;"),
    ("column_of_36", (32, 1, 1), "mul.lo.u32 %e, %x, 36;"),
    ("pairs", (64, 1, 1), "shr.u32 %e, %x, 1;"),
    ("quads", (64, 1, 1), "shr.u32 %e, %x, 2;"),
    ("one_for_all", (64, 1, 1), "shr.u32 %e, %x, 6;"),
    ("half_again", (64, 1, 1), "and.b32 %e, %x, 15;"),
    (
        "quad_rows_of_8",
        (64, 1, 1),
        "shr.u32 %t0, %x, 2; and.b32 %t1, %x, 3; mad.lo.u32 %e, %t0, 8, %t1;",
    ),
    (
        "quad_rows_of_9",
        (64, 1, 1),
        "shr.u32 %t0, %x, 2; and.b32 %t1, %x, 3; mad.lo.u32 %e, %t0, 9, %t1;",
    ),
    (
        "quad_rows_of_20",
        (64, 1, 1),
        "shr.u32 %t0, %x, 2; and.b32 %t1, %x, 3; mad.lo.u32 %e, %t0, 20, %t1;",
    ),
    (
        "eight_by_four",
        (32, 1, 1),
        "and.b32 %t0, %x, 7; shr.u32 %t1, %x, 3; mad.lo.u32 %e, %t0, 32, %t1;",
    ),
    (
        "eight_by_four_padded",
        (32, 1, 1),
        "and.b32 %t0, %x, 7; shr.u32 %t1, %x, 3; mad.lo.u32 %e, %t0, 36, %t1;",
    ),
    ("swizzled_rows", (64, 1, 1), "shr.u32 %t0, %x, 3; and.b32 %t0, %t0, 7; xor.b32 %e, %x, %t0;"),
    (
        "swizzled_columns",
        (64, 1, 1),
        "and.b32 %t0, %x, 7; shr.u32 %t1, %x, 3; xor.b32 %t1, %t1, %t0;"
        " mad.lo.u32 %e, %t0, 8, %t1;",
    ),
    (
        "swizzled_twice",
        (128, 1, 1),
        "and.b32 %t0, %x, 15; shr.u32 %t1, %x, 4; shr.u32 %t2, %t0, 1; and.b32 %t2, %t2, 3;"
        " xor.b32 %t1, %t1, %t2; mad.lo.u32 %e, %t0, 8, %t1;",
    ),
    ("rows_of_16", (16, 8, 1), "mad.lo.u32 %e, %y, 16, %x;"),
    ("rows_of_16_padded", (16, 8, 1), "mad.lo.u32 %e, %y, 17, %x;"),
    ("columns_of_16", (16, 8, 1), "mad.lo.u32 %e, %x, 16, %y;"),
    ("columns_of_8", (8, 16, 1), "mad.lo.u32 %e, %x, 17, %y;"),
    ("rows_of_32", (32, 4, 1), "mad.lo.u32 %e, %y, 32, %x;"),
    ("lower_half", (64, 1, 1), "mov.u32 %e, %x; setp.lt.u32 %p, %l, 16;"),
    ("every_fourth", (64, 1, 1), "shl.b32 %e, %x, 3; and.b32 %t0, %l, 3; setp.eq.u32 %p, %t0, 0;"),
    ("one_lane", (64, 1, 1), "mov.u32 %e, %x; setp.eq.u32 %p, %l, 5;"),
    ("ring", (64, 1, 1), "mad.lo.u32 %t0, %x, 5, 3; and.b32 %e, %t0, 63;"),
    (
        "fields",
        (64, 1, 1),
        "bfe.u32 %t0, %x, 1, 3; and.b32 %t1, %x, 1; mad.lo.u32 %e, %t0, 6, %t1;",
    ),
    ("thirds", (96, 1, 1), "div.u32 %t0, %x, 3; rem.u32 %t1, %x, 3; mad.lo.u32 %e, %t0, 4, %t1;"),
)


def kernels() -> list[Kernel]:
    """All of them."""
    found = [Kernel(name, _ptx(statements), block) for name, block, statements in _SHAPES]
    return [*found, *_matrices()]


def _ptx(statements: str) -> str:
    """Loads and stores of every width at element %e."""
    guard = "@%p " if "%p," in statements else ""
    lines = []
    for width, type_ in _TYPES.items():
        lines.append(f"mul.lo.u32 %o, %e, {width}; add.u32 %s, %base, %o;")
        lines.append("cvt.u64.u32 %w, %o; add.u64 %g, %data, %w;")
        for space, address in (("shared", "%s"), ("global", "%g")):
            data = ", ".join(f"%v{i}" for i in range(max(1, width // 4)))
            data = f"{{{data}}}" if width > 4 else data
            lines.append(f"{guard}st.{space}.{type_} [{address}], {data};")
            lines.append("bar.sync 0;")
            lines.append(f"{guard}ld.{space}.{type_} {data}, [{address}];")
            lines += [f"xor.b32 %sum, %sum, %v{i};" for i in range(max(1, width // 4))]
            lines.append("bar.sync 0;")
    return _body(statements, lines)


def _matrices() -> list[Kernel]:
    """ldmatrix and stmatrix with rows of several pitches, and swizzled."""
    pitches = (16, 64, 80, 128, 144, 256)
    found = [(f"matrix_{pitch}", f"mul.lo.u32 %o, %l, {pitch};") for pitch in pitches]
    swizzle = "shl.b32 %o, %l, 7; and.b32 %t0, %l, 7; shl.b32 %t0, %t0, 4; xor.b32 %o, %o, %t0;"
    found.append(("matrix_swizzled", swizzle))
    half = (
        "and.b32 %t0, %l, 15; shr.u32 %t1, %l, 4; and.b32 %t2, %t0, 7; xor.b32 %t1, %t1, %t2;"
        " shl.b32 %t1, %t1, 4; mad.lo.u32 %o, %t0, 128, %t1;"
    )
    found.append(("matrix_halves_swizzled", half))
    out = []
    for name, statements in found:
        lines = [f"{statements} add.u32 %s, %base, %o;"]
        for count in (1, 2, 4):
            data = ", ".join(f"%v{i}" for i in range(count))
            for trans in ("", ".trans"):
                shape = f"sync.aligned.m8n8.x{count}{trans}.shared.b16"
                lines += [f"ldmatrix.{shape} {{{data}}}, [%s];"]
                lines += [f"xor.b32 %sum, %sum, %v{i};" for i in range(count)]
                lines += [f"stmatrix.{shape} [%s], {{{data}}};", "bar.sync 0;"]
        out.append(Kernel(name, _body("", lines), (32, 1, 1)))
    return out


def _body(statements: str, lines: list[str]) -> str:
    inside = "\n  ".join(lines)
    return f"""{HEAD}
.visible .entry k(.param .u64 data, .param .u64 out)
{{
  .shared .align 1024 .b8 buffer[{SHARED}];
  .reg .b32 %x, %y, %l, %e, %o, %s, %base, %sum, %n, %t<4>, %v<4>;
  .reg .b64 %w, %g, %data, %out;
  .reg .pred %p;
  ld.param.u64 %data, [data];
  ld.param.u64 %out, [out];
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  mov.u32 %l, %laneid;
  mov.u32 %n, %ntid.x;
  mov.u32 %base, buffer;
  mov.u32 %sum, 0;
  mov.u32 %v0, %x;
  mov.u32 %v1, %y;
  mov.u32 %v2, %l;
  mov.u32 %v3, %n;
  {statements}
  {inside}
  mad.lo.u32 %o, %y, %n, %x;
  mul.wide.u32 %w, %o, 4;
  add.u64 %out, %out, %w;
  st.global.u32 [%out], %sum;
  ret;
}}
"""
