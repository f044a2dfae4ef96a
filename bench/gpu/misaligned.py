"""Which misaligned accesses fault: one kernel for each access, width and way to make the address.

On a machine with a GPU:

    python bench/gpu/misaligned.py tests/analysis/memory/misaligned_sm90.json

runs each kernel in a process of its own (a fault spoils the context) and writes, by name, ``ok``,
the CUresult that it gave (716: misaligned address) or what else went wrong. ``cases()`` makes the
same texts anywhere.
"""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

DATA = 1 << 20
_CHILDREN = 12
INTEGER = 256  # what a parameter of a corpus kernel that is no pointer is
_LONGEST = 20  # seconds that one kernel may take


class Case(NamedTuple):
    """One kernel, launched with one block of ``block`` threads; ``parameters`` as in
    ``bench/gpu/kernels.py``: ``p`` for a pointer, else a type. ``twin`` is whether the address is
    as aligned as the access needs.
    """

    name: str
    ptx: str
    kernel: str
    block: tuple[int, int, int]
    parameters: tuple[str, ...]
    twin: bool


class _Access(NamedTuple):
    """``statements`` access ``{a}`` in ``space``, which must be a multiple of ``need``; what is
    loaded goes to %x0…%x3 (whole: ptxas narrows a vector of which not all is used).
    """

    name: str
    space: str
    need: int
    statements: str


def cases() -> dict[str, Case]:
    """All of them, by name, in the same order always."""
    found = [*_generated(), *_of_corpus()]
    return {case.name: case for case in found}


def _generated() -> Iterator[Case]:
    for access in _accesses():
        need = access.need
        for way in _ways(access):
            for off in dict.fromkeys((0, need // 2, need // 4 if need >= 8 else 0)):
                distance = off or (need if way == "lane" else 0)  # between lanes, or of the start
                name = f"{access.name}.{way}.{distance}"
                text = _kernel(access, way, distance)
                yield Case(name, text, "k", (32, 1, 1), ("p", "p"), not off)


def _ways(access: _Access) -> tuple[str, ...]:
    ways = ["constant", "lane", "loop"]
    if access.space in ("global", "generic"):
        ways.append("parameter")
    if access.name.startswith(("cp.async.bulk", "mbarrier")):
        return ("constant",)  # one thread does it
    return tuple(ways)


def _accesses() -> Iterator[_Access]:
    for width, type_ in ((2, "u16"), (4, "u32"), (8, "v2.u32"), (16, "v4.u32")):
        data = ", ".join(f"%x{i}" for i in range(max(1, width // 4)))
        data = f"{{{data}}}" if width > 4 else "%h" if width == 2 else data
        after = " cvt.u32.u16 %x0, %h;" if width == 2 else ""
        for space in ("global", "shared", "global.nc", ""):
            if width == 2 and space in ("global.nc", ""):
                continue
            dot = f".{space}" if space else ""
            where = space.partition(".")[0] or "generic"
            yield _Access(
                f"ld{dot}.{type_}", where, width, f"ld{dot}.{type_} {data}, [{{a}}];{after}"
            )
            if space != "global.nc":
                yield _Access(f"st{dot}.{type_}", where, width, f"st{dot}.{type_} [{{a}}], {data};")
    two = "mov.b64 {%x0, %x1}, %y0;"
    four = "mov.b64 {%x2, %x3}, %y1;"
    yield _Access("ld.global.u64", "global", 8, f"ld.global.u64 %y0, [{{a}}]; {two}")
    yield _Access("ld.global.nc.u64", "global", 8, f"ld.global.nc.u64 %y0, [{{a}}]; {two}")
    yield _Access(
        "ld.shared.v2.u64", "shared", 16, f"ld.shared.v2.u64 {{%y0, %y1}}, [{{a}}]; {two} {four}"
    )
    yield _Access("atom.global.add.u32", "global", 4, "atom.global.add.u32 %x0, [{a}], %x1;")
    yield _Access(
        "atom.global.add.u64", "global", 8, f"atom.global.add.u64 %y0, [{{a}}], %y1; {two}"
    )
    yield _Access("atom.shared.add.u32", "shared", 4, "atom.shared.add.u32 %x0, [{a}], %x1;")
    yield _Access(
        "atom.shared.cas.b64", "shared", 8, f"atom.shared.cas.b64 %y0, [{{a}}], %y0, %y1; {two}"
    )
    yield _Access("red.global.add.u32", "global", 4, "red.global.add.u32 [{a}], %x1;")
    yield _Access("red.global.add.u64", "global", 8, "red.global.add.u64 [{a}], %y1;")
    for size, how in ((4, "ca"), (8, "ca"), (16, "cg")):
        wait = "cp.async.wait_all; bar.sync 0; ld.shared.u32 %x0, [%s0];"
        copy = f"cp.async.{how}.shared.global"
        yield _Access(
            f"cp.async.{size}.from", "global", size, f"{copy} [%s0], [{{a}}], {size}; {wait}"
        )
        yield _Access(
            f"cp.async.{size}.to", "shared", size, f"{copy} [{{a}}], [%g0], {size}; {wait}"
        )
    for count in (1, 4):
        data = ", ".join(f"%x{i}" for i in range(count))
        shape = f"sync.aligned.m8n8.x{count}.shared.b16"
        yield _Access(f"ldmatrix.x{count}", "shared", 16, f"ldmatrix.{shape} {{{data}}}, [{{a}}];")
        yield _Access(f"stmatrix.x{count}", "shared", 16, f"stmatrix.{shape} [{{a}}], {{{data}}};")
    yield _Access("mbarrier.init", "shared", 8, "@%first mbarrier.init.shared.b64 [{a}], 1;")
    bulk = "cp.async.bulk.global.shared::cta.bulk_group"
    wait = "@%first cp.async.bulk.commit_group; @%first cp.async.bulk.wait_group 0;"
    yield _Access("cp.async.bulk.to", "global", 16, f"@%first {bulk} [{{a}}], [%s0], 256; {wait}")
    yield _Access("cp.async.bulk.from", "shared", 16, f"@%first {bulk} [%g0], [{{a}}], 256; {wait}")


def _kernel(access: _Access, way: str, distance: int) -> str:
    """The text of one kernel: ``distance`` is the offset, or the bytes between lanes."""
    shared = access.space == "shared"
    register = "%sa" if shared else "%ga"
    bits = 32 if shared else 64
    start = "tile" if shared else "table"
    setup = f"mov.u{bits} {register}, {start};"
    if access.space == "generic":
        setup = f"cvta.global.u64 {register}, table;"
    where, repeat = register, ""
    if way == "constant":
        where = f"{register}+{distance}" if distance else register
    elif way == "parameter":
        setup = "mov.u64 %ga, %data;"
        where = f"{register}+{distance}" if distance else register
    elif way == "lane":
        step = "mul.lo.u32 %s1, %t, {0}; add.u32 %sa, %sa, %s1;"
        if not shared:
            step = "mul.wide.u32 %g1, %t, {0}; add.u64 %ga, %ga, %g1;"
        setup += " " + step.format(distance)
    else:  # as far apart as they should be, from a start that is not
        setup += f" add.u{bits} {register}, {register}, {distance};"
        setup += " mov.u32 %turn, 0;\nAGAIN:"
        repeat = (
            f"add.u{bits} {register}, {register}, {max(16, access.need)};"
            " xor.b32 %sum, %sum, %x0;"
            " add.u32 %turn, %turn, 1; setp.lt.u32 %again, %turn, %n; @%again bra AGAIN;"
        )
    statements = access.statements.replace("{a}", where)
    return f""".version 8.0
.target sm_90
.address_size 64
.global .align 128 .b8 table[8192];
.shared .align 128 .b8 tile[8192];
.visible .entry k(.param .u64 data, .param .u64 out)
.reqntid 32
{{
  .reg .b16 %h;
  .reg .b32 %x<4>, %s<2>, %sa, %t, %sum, %turn, %n;
  .reg .b64 %y<2>, %g<2>, %ga, %data, %out;
  .reg .pred %first, %again;
  ld.param.u64 %data, [data];
  ld.param.u64 %out, [out];
  cvta.to.global.u64 %data, %data;
  cvta.to.global.u64 %out, %out;
  mov.u32 %t, %tid.x;
  mov.u32 %n, 4;
  setp.eq.u32 %first, %t, 0;
  mov.u32 %x0, %t; mov.u32 %x1, 1; mov.u32 %x2, 2; mov.u32 %x3, 3;
  mov.u64 %y0, 0; mov.u64 %y1, 1; cvt.u16.u32 %h, %t;
  mov.u32 %sum, 0;
  mov.u32 %s0, tile; mov.u64 %g0, table;
  {setup}
  {statements}
  {repeat}
  bar.sync 0; ld.shared.u32 %s1, [%s0]; xor.b32 %sum, %sum, %s1;
  xor.b32 %sum, %sum, %x0; xor.b32 %sum, %sum, %x1;
  xor.b32 %sum, %sum, %x2; xor.b32 %sum, %sum, %x3;
  mul.wide.u32 %g1, %t, 4;
  add.u64 %out, %out, %g1;
  st.global.u32 [%out], %sum;
  ret;
}}
"""


_VECTOR = re.compile(
    r"\.(?:global|shared)(?:\.nc)?\.v[24]\.[a-z]+(\d+)[^\[\n]*\[(%r[sd]?\d+)(\+\d+)?\]"
)
_CORPUS = (
    "bias_gelu_dropout",
    "cache_hints",
    "double_math",
    "half_math",
    "int8_dot",
    "layer_norm",
    "spill",
    "template_zoo",
    "wide_arithmetic",
)


def _of_corpus() -> Iterator[Case]:
    """Kernels of corpus/ptx with a vector access, as they are and with that moved by an element."""
    from bench.gpu.kernels import _DEBUG, _SECTION, _block, _kind
    from ptxlint import parse

    for stem in _CORPUS:
        path = ROOT / "corpus" / "ptx" / "sm_80" / f"{stem}.ptx"
        text = _SECTION.sub("", _DEBUG.sub("", path.read_text(encoding="utf-8")))
        for function in parse(text).kernels:
            kinds = [_kind(p, ".ptr" in text) for p in function.parameters]
            found = _VECTOR.search(text, function.start, function.end)
            if None in kinds or found is None:
                continue
            block, parameters = _block(function, text), tuple(str(k) for k in kinds)
            moved = int(found[3] or 0) + int(found[1]) // 8
            other = text[: found.end(2)] + f"+{moved}]" + text[found.end() :]
            name = f"{stem}.{function.name}"
            yield Case(name, text, function.name, block, parameters, True)
            yield Case(f"{name}.moved", other, function.name, block, parameters, False)


def launch() -> None:
    """Run the kernel that comes on standard input; its end says how it went."""
    from bench.gpu.children import RESULT
    from bench.gpu.driver import Device, DriverError

    case = Case(*json.load(sys.stdin))
    device = Device()
    try:
        function = device.function(device.load(case.ptx), case.kernel)
        parameters = []
        for kind in case.parameters:
            if kind == "p":
                parameters.append(struct.pack("<Q", device.memory(DATA)))
            elif kind.startswith("f"):
                parameters.append(struct.pack("<d" if kind == "f64" else "<f", 1.0))
            else:
                parameters.append(struct.pack("<q" if "64" in kind else "<i", INTEGER))
        device.launch(function, case.block, parameters)
    except DriverError as error:
        words = "" if error.code == 716 else " " + str(error)[:200].replace("\n", " ")
        print(f"{RESULT}{error.code}{words}", flush=True)
        return
    print(f"{RESULT}ok", flush=True)


if __name__ == "__main__":
    from bench.gpu.children import command_line

    command_line(__file__, __doc__ or "", launch, cases, _LONGEST, _CHILDREN)
