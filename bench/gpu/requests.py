"""Wavefronts and sectors of single requests, as Nsight Compute counts them.

One warp makes one access, each lane at an offset of its own. On a GPU:

    python bench/gpu/requests.py --profile tests/analysis/memory/requests_sm90.json

runs this script under ``ncu`` and writes one row for each pattern of offsets: bytes of an access,
lanes that take part, their offsets, and by kind of access the counters that are not 0.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.gpu.driver import Device

ALL = 0xFFFFFFFF
WIDTHS = {1: "u8", 2: "u16", 4: "u32", 8: "v2.u32", 16: "v4.u32"}
# What is counted of which kinds; one counter a run of the profiler, so that it replays nothing.
COUNTERS = (
    (
        "wavefronts",
        "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
        r".*(shared|matrix|cp\.).*",
    ),
    ("sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", r"ld\.global.*"),
    ("sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", r"st\.global.*"),
    ("sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", r"red\.global.*"),
    ("sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", r"atom\.global.*"),
    (
        "sectors",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum",
        r"cp\.async\.(4|8)",
    ),
    (
        "sectors",
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_bypass.sum",
        r"cp\.async\.16",
    ),
)
SHARED_BYTES = 48 * 1024


def kernels() -> dict[str, str]:
    """The access of each kind, in terms of %a (its address), %x0…%x3 (data), %r9 (0)."""
    found = {}
    for width, type_ in WIDTHS.items():
        count = max(1, width // 4)
        data = ", ".join(f"%x{i}" for i in range(count))
        data = f"{{{data}}}" if count > 1 else data
        for space in ("shared", "global", "global.nc"):
            found[f"ld.{space}.{width}"] = f"ld.{space}.{type_} {data}, [%a];"
        for space in ("shared", "global"):
            found[f"st.{space}.{width}"] = f"st.{space}.{type_} [%a], {data};"
    for count in (1, 2, 4):
        data = ", ".join(f"%x{i}" for i in range(count))
        for trans in ("", ".trans"):
            shape = f"sync.aligned.m8n8.x{count}{trans}.shared.b16"
            found[f"ldmatrix.x{count}{trans}"] = f"ldmatrix.{shape} {{{data}}}, [%a];"
            found[f"stmatrix.x{count}{trans}"] = f"stmatrix.{shape} [%a], {{{data}}};"
    found["ld.shared.b64"] = "ld.shared.b64 %y, [%a]; mov.b64 {%x0, %x1}, %y;"
    found["atom.shared.add"] = "atom.shared.add.u32 %x0, [%a], %x1;"
    found["red.global.add"] = "red.global.add.u32 [%a], %x1;"
    found["atom.global.add"] = "atom.global.add.u32 %x0, [%a], %x1;"
    # The pattern is that of the global side, then (cp.to) that of the shared side.
    for size, how in ((4, "ca"), (8, "ca"), (16, "cg")):
        copy = f"cp.async.{how}.shared.global"
        found[f"cp.async.{size}"] = f"{copy} [%b], [%a], {size}; cp.async.wait_all;"
        found[f"cp.to.{size}"] = f"{copy} [%a], [%c], {size}; cp.async.wait_all;"
    return found


def ptx() -> str:
    """One module with a kernel for each kind."""
    text = [".version 8.0", ".target sm_90", ".address_size 64"]
    text.append(f".shared .align 1024 .b8 buffer[{SHARED_BYTES - 1024}];")
    for kind, access in kernels().items():
        space = "global" if "global" in kind or kind.startswith("cp.async") else "shared"
        base = "ld.param.u64 %base, [p];" if space == "global" else "mov.u64 %base, buffer;"
        text.append(f"""
.visible .entry {_name(kind)}(.param .u64 p, .param .u64 out, .param .u32 mask,
                              .param .align 4 .b8 offsets[128]) {{
  .reg .b32 %r<10>; .reg .b32 %x<4>; .reg .b64 %a, %b, %c, %base, %o, %y; .reg .pred %p, %q;
  mov.u32 %r0, %laneid; ld.param.u32 %r1, [mask];
  shr.u32 %r2, %r1, %r0; and.b32 %r2, %r2, 1; setp.ne.u32 %p, %r2, 0;
  mul.wide.u32 %a, %r0, 4; mov.u64 %o, offsets; add.u64 %a, %o, %a; ld.param.u32 %r3, [%a];
  {base} cvt.u64.u32 %a, %r3; add.u64 %a, %base, %a;
  mov.u64 %b, buffer; mul.wide.u32 %o, %r0, 16; add.u64 %b, %b, %o;
  ld.param.u64 %c, [p]; add.u64 %c, %c, %o;
  mov.u32 %x0, %r0; mov.u32 %x1, %r1; mov.u32 %x2, %r2; mov.u32 %x3, %r3;
  {_guarded(access)}
  ld.param.u64 %o, [out]; setp.eq.u64 %q, %o, 0;
  @%q bra DONE;
  xor.b32 %x0, %x0, %x1; xor.b32 %x2, %x2, %x3; xor.b32 %x0, %x0, %x2;
  mul.wide.u32 %y, %r0, 4; add.u64 %o, %o, %y; st.global.u32 [%o], %x0;
DONE: ret;
}}""")
    return "\n".join(text)


def _guarded(access: str) -> str:
    if "matrix" in access:
        return access  # all lanes must take part
    return " ".join(f"@%p {part.strip()};" for part in access.split(";") if part.strip())


def _name(kind: str) -> str:
    return kind.replace(".", "_")


def width_of(kind: str) -> int:
    """Bytes that a lane moves; of a matrix, the bytes of a row."""
    if "matrix" in kind:
        return 16
    last = kind.rpartition(".")[2]
    return int(last) if last.isdigit() else 8 if last == "b64" else 4


def patterns(width: int) -> Iterator[tuple[int, list[int]]]:
    """(lanes that take part, offset of each lane), all aligned to ``width``."""
    seed = random.Random(width)
    lanes = range(32)
    strides = {0, width, 2 * width, 3 * width, 4 * width, 8 * width, 32, 64, 128, 256, 1024}
    strides |= {128 + width, 64 + width, 256 + width, 512 + 16, 80, 144, 272}
    whole = [[lane * s for lane in lanes] for s in sorted(strides) if s % width == 0]
    whole += [[(lane >> n) * width for lane in lanes] for n in (1, 2, 3, 4)]
    whole += [[(lane & m) * width for lane in lanes] for m in (1, 3, 7, 15)]
    whole += [[(lane >> n) * 128 + (lane & 3) * width for lane in lanes] for n in (1, 2, 3)]
    for pitch in (64, 80, 128, 144, 272):
        whole.append([(lane >> 2) * pitch + (lane & 3) * width for lane in lanes])
        whole.append([(lane & 7) * pitch + (lane >> 3) * max(width, 4) for lane in lanes])
    whole.append([(lane * 128) ^ ((lane & 7) * 16) for lane in lanes])
    whole.append([(lane & 15) * 64 ^ ((lane >> 1 & 3) * 16) for lane in lanes])
    whole.append([(lane * 5 % 32) * width for lane in lanes])
    whole.append([(31 - lane) * width for lane in lanes])
    whole += [[4096 // 2 + 32 * 3 + width + lane * width for lane in lanes]]
    for reach in (128, 256, 512, 2048, 8192):
        for _ in range(2):
            whole.append([seed.randrange(reach // width) * width for _ in lanes])
    for offsets in whole:
        yield ALL, offsets
    masks = [1, 0xFFFF, 0xFFFF0000, 0xFF, 0x55555555, 0x0F0F0F0F, 0x11111111, seed.getrandbits(32)]
    for mask in masks:
        for stride in (width, 32, 128):
            if stride % width == 0:
                yield mask, [lane * stride for lane in lanes]
        yield mask, [seed.randrange(2048 // width) * width for _ in lanes]


def requests(kinds: str) -> Iterator[tuple[str, int, list[int]]]:
    """The requests of the kinds that match, in the order in which they are launched."""
    for kind in kernels():
        if not re.fullmatch(kinds, kind):
            continue
        for mask, offsets in patterns(width_of(kind)):
            if "matrix" in kind and mask != ALL:
                continue
            yield kind, mask, offsets


def launch(kinds: str) -> None:
    """Make the requests; meant to run under ncu."""
    device = Device()
    module = device.load(ptx())
    functions = {kind: device.function(module, _name(kind)) for kind in kernels()}
    memory = device.memory(1 << 20)
    out = device.memory(4096)
    for kind, mask, offsets in requests(kinds):
        where = out if kind.startswith(("ld", "atom")) else 0
        device.launch(
            functions[kind],
            (32, 1, 1),
            [
                struct.pack("<Q", memory),
                struct.pack("<Q", where),
                struct.pack("<I", mask),
                struct.pack("<32I", *offsets),
            ],
        )


def count(metric: str, kinds: str) -> list[int]:
    """What ncu counts for each request of those kinds."""
    command = ["ncu", "--csv", "--print-units", "base", "--clock-control", "none"]
    command += ["--metrics", metric, sys.executable, __file__, "--launch", kinds]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        sys.exit(done.stdout[-2000:] + done.stderr[-2000:])
    rows = csv.DictReader(lines[start:])
    return [int(float(row["Metric Value"].replace(",", ""))) for row in rows]


def profile(path: str) -> None:
    """Count all requests and write them."""
    rows: dict[tuple[int, int, tuple[int, ...]], dict[str, dict[str, int]]] = {}
    for name, metric, kinds in COUNTERS:
        counted = count(metric, kinds)
        for (kind, mask, offsets), value in zip(requests(kinds), counted, strict=True):
            row = rows.setdefault((width_of(kind), mask, tuple(offsets)), {})
            row.setdefault(name, {})[kind] = value
        print(metric, kinds, len(counted), flush=True)
        _write(path, rows)


def _write(path: str, rows: dict[tuple[int, int, tuple[int, ...]], dict[str, Any]]) -> None:
    head = {
        "gpu": Device().name(),
        "tool": "Nsight Compute",
        "made_by": "bench/gpu/requests.py",
        "columns": ["bytes", "lanes", "offsets", "wavefronts or sectors by kind"],
    }
    body = ",\n".join(json.dumps([*key, row], separators=(",", ":")) for key, row in rows.items())
    text = json.dumps(head)[:-1] + f', "requests": [\n{body}\n]}}\n'
    Path(path).write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--profile", metavar="FILE", help="count with ncu and write FILE")
    parser.add_argument("--launch", metavar="KINDS", default=".*", help="make these requests")
    arguments = parser.parse_args()
    if arguments.profile:
        profile(arguments.profile)
    else:
        launch(arguments.launch)


if __name__ == "__main__":
    main()
