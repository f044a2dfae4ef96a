"""What shuffles and votes with wrong masks give on a GPU, and their right twins.

Each kernel reads ``in[tid]``, makes one warp operation, and stores what it got to ``out[tid]``.
On a GPU:

    python bench/gpu/shuffles.py --record tests/analysis/shuffles_sm90.json

runs each kernel in a process of its own, since a wrong mask may hang, and keeps for each its status
(``ok``, ``timeout`` or the driver's error) and the words of ``out``. The kernels are always the
same: tests make them again and hold the rules to what was seen.
"""

from __future__ import annotations

import argparse
import json
import struct
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

SECONDS = 10
AT_ONCE = 4
UNTOUCHED = 0xDDDDDDDD
"""What ``out`` holds before the launch."""
NOTHING = 0xEEEEEEEE
"""What a lane stores that did not execute the operation."""
FULL = "0xffffffff"


@dataclass(frozen=True)
class Case:
    """A kernel ``k`` for one block of ``threads``; ``code`` is what a rule says of it, "" if it
    is right.
    """

    name: str
    ptx: str
    threads: int
    code: str


def given(thread: int) -> int:
    """``in[thread]``."""
    return 1000 + thread


def kernel(body: str, threads: int = 32) -> str:
    """The kernel around a body, which turns %v (given) into %w; %lane and %t are set."""
    return f"""\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
.reqntid {threads}
{{
    .reg .pred %p<4>;
    .reg .b32 %t, %lane, %v, %w, %m<4>, %c;
    .reg .b64 %a<4>;
    ld.param.u64 %a0, [in];
    ld.param.u64 %a1, [out];
    cvta.to.global.u64 %a0, %a0;
    cvta.to.global.u64 %a1, %a1;
    mov.u32 %t, %tid.x;
    and.b32 %lane, %t, 31;
    mul.wide.u32 %a2, %t, 4;
    add.u64 %a0, %a0, %a2;
    add.u64 %a1, %a1, %a2;
    ld.global.u32 %v, [%a0];
    mov.u32 %w, {NOTHING:#x};
{body}
    st.global.u32 [%a1], %w;
    ret;
}}
"""


def inside(condition: str, operation: str) -> str:
    """The operation in a branch that the lanes of a condition take; the others wait behind it."""
    return f"""\
    setp.{condition};
    @!%p1 bra REST;
    {operation}
REST:"""


def remaining(condition: str, operation: str) -> str:
    """The operation after all but the lanes of a condition have left."""
    return f"""\
    setp.{condition};
    @!%p1 ret;
    {operation}"""


def shuffle(mode: str, b: object, c: object, mask: str = FULL) -> str:
    """A shuffle of %v into %w."""
    return f"shfl.sync.{mode}.b32 %w, %v, {b}, {c}, {mask};"


HALVES = "    and.b32 %m0, %t, 16;\n    mov.u32 %m1, 0xffff;\n    shl.b32 %m2, %m1, %m0;\n"
OTHER_HALF = HALVES.replace("shl.b32", "xor.b32 %m0, %m0, 16;\n    shl.b32")
EIGHTHS = "    and.b32 %m0, %t, 24;\n    mov.u32 %m1, 0xff;\n    shl.b32 %m2, %m1, %m0;\n"
LOWER, UPPER = "lt.u32 %p1, %lane, 16", "ge.u32 %p1, %lane, 16"
FIRST8, FIRST = "lt.u32 %p1, %lane, 8", "eq.u32 %p1, %lane, 0"
ODD = "ne.u32 %p1, %m0, 0"
PARITY = "    and.b32 %m0, %t, 1;\n"


def _absent() -> Iterator[tuple[str, str, str]]:
    """Partners that are alive elsewhere: name, wrong body, right body."""
    yield (
        "half_bfly",
        inside(LOWER, shuffle("bfly", 16, 31)),
        inside(LOWER, shuffle("bfly", 8, 31, "0xffff")),
    )
    yield (
        "half_down",
        inside(LOWER, shuffle("down", 16, 31)),
        inside(LOWER, shuffle("down", 4, 15, "0xffff")),
    )
    yield (
        "half_idx",
        inside(LOWER, shuffle("idx", 31, 31)),
        inside(LOWER, shuffle("idx", 15, 31, "0xffff")),
    )
    yield (
        "upper_up",
        inside(UPPER, shuffle("up", 16, 0)),
        inside(UPPER, shuffle("up", 2, "0x1000", "0xffff0000")),
    )
    yield (
        "odd_bfly",
        PARITY + inside(ODD, shuffle("bfly", 1, 31)),
        PARITY + inside(ODD, shuffle("bfly", 2, 31, "0xaaaaaaaa")),
    )
    guarded = "    setp.lt.u32 %p1, %lane, 16;\n    @%p1 "
    yield "guarded", guarded + shuffle("bfly", 16, 31), guarded + shuffle("bfly", 8, 31, "0xffff")
    turns = "    mov.u32 %c, 0;\nTURN:\n{}\n    add.u32 %c, %c, 1;\n"
    turns += "    setp.lt.u32 %p2, %c, 3;\n    @%p2 bra TURN;"
    yield (
        "turns",
        turns.format(inside(FIRST, shuffle("idx", 5, 31))),
        turns.format(inside(FIRST8, shuffle("idx", 5, 31, "0xff"))),
    )
    for name, text in (
        ("vote", "setp.ne.u32 %p2, %v, 0; vote.sync.ballot.b32 %w, %p2, {};"),
        ("redux", "redux.sync.add.u32 %w, %v, {};"),
        ("match", "match.any.sync.b32 %w, %v, {};"),
        ("barrier", "bar.warp.sync {}; mov.u32 %w, %v;"),
    ):
        wrong, right = (inside(LOWER, text.format(mask)) for mask in (FULL, "0xffff"))
        yield f"half_{name}", wrong, right


def _left() -> Iterator[tuple[str, str, str]]:
    """Partners that have left the kernel."""
    yield (
        "left_bfly",
        remaining(LOWER, shuffle("bfly", 16, 31)),
        remaining(LOWER, shuffle("bfly", 8, 31)),
    )
    yield (
        "left_down",
        remaining(FIRST8, shuffle("down", 8, 31)),
        remaining(FIRST8, shuffle("down", 4, 7)),
    )
    yield (
        "left_idx",
        remaining(LOWER, shuffle("idx", 20, 31)),
        remaining(LOWER, shuffle("idx", 10, 31)),
    )
    yield (
        "left_up",
        remaining(UPPER, shuffle("up", 16, 0)),
        remaining(UPPER, shuffle("up", 4, "0x1000")),
    )


def _outside() -> Iterator[tuple[str, str, str]]:
    """Partners that are there, outside the mask."""
    yield (
        "halves_bfly",
        HALVES + shuffle("bfly", 16, 31, "%m2"),
        HALVES + shuffle("bfly", 8, 31, "%m2"),
    )
    yield (
        "halves_idx",
        HALVES + shuffle("idx", 0, 31, "%m2"),
        HALVES + shuffle("idx", 0, "0x101f", "%m2"),
    )
    yield (
        "eighths_down",
        EIGHTHS + shuffle("down", 4, 31, "%m2"),
        EIGHTHS + shuffle("down", 4, "0x181f", "%m2"),
    )
    yield (
        "eighths_up",
        EIGHTHS + shuffle("up", 1, 0, "%m2"),
        EIGHTHS + shuffle("up", 1, "0x1800", "%m2"),
    )
    yield (
        "lower_bfly",
        inside(LOWER, shuffle("bfly", 16, 31, "0xffff")),
        inside(LOWER, shuffle("bfly", 1, 31, "0xffff")),
    )


def _unnamed() -> Iterator[tuple[str, str, str]]:
    """Lanes that are not in their own mask."""
    yield "last_unnamed", shuffle("bfly", 1, 31, "0x7fffffff"), shuffle("bfly", 1, 31)
    yield "mask_zero", shuffle("idx", 0, 31, "0"), shuffle("idx", 0, 31)
    sum_ = "redux.sync.add.u32 %w, %v, %m2;"
    yield "other_half", OTHER_HALF + sum_, HALVES + sum_
    yield (
        "upper_unnamed",
        "vote.sync.ballot.b32 %w, 1, 0xff;",
        ("vote.sync.ballot.b32 %w, 1, 0xffffffff;"),
    )


def _clamped() -> Iterator[tuple[str, str, str]]:
    """Clamps at the wrong end."""
    yield "clamp_up", shuffle("up", 1, 31), shuffle("up", 1, 0)
    yield "clamp_down", shuffle("down", 16, 0), shuffle("down", 16, 31)
    yield "clamp_bfly", shuffle("bfly", 16, 0), shuffle("bfly", 16, 31)
    yield "clamp_idx", shuffle("idx", 5, 0), shuffle("idx", 5, 31)
    yield "clamp_segment", shuffle("down", 8, "0x1000"), shuffle("down", 8, "0x101f")


def cases() -> Iterator[Case]:
    """All cases, wrong and right in turn."""
    groups = (
        ("PTX202", 32, _absent()),
        ("PTX202", 32, _left()),
        ("PTX204", 32, _outside()),
        ("PTX203", 32, _unnamed()),
        ("PTX207", 32, _clamped()),
        ("PTX202", 48, iter([("short_idx", shuffle("idx", 31, 31), shuffle("idx", 15, 31))])),
        ("PTX202", 40, iter([("short_bfly", shuffle("bfly", 8, 31), shuffle("bfly", 4, 31))])),
    )
    for code, threads, group in groups:
        for name, wrong, right in group:
            yield Case(f"{name}.wrong", kernel(wrong, threads), threads, code)
            yield Case(f"{name}.right", kernel(right, threads), threads, "")


def run(name: str) -> list[int]:
    """The words of ``out`` after a launch; needs a GPU."""
    from bench.gpu.driver import Device

    case = next(each for each in cases() if each.name == name)
    device = Device()
    function = device.function(device.load(case.ptx), "k")
    data = device.memory(1024, struct.pack(f"<{case.threads}I", *map(given, range(case.threads))))
    out = device.memory(1024, struct.pack("<256I", *[UNTOUCHED] * 256))
    pointers = [struct.pack("<Q", data), struct.pack("<Q", out)]
    device.launch(function, (case.threads, 1, 1), pointers)
    return list(struct.unpack(f"<{case.threads}I", device.read(out, 4 * case.threads)))


def child(name: str) -> tuple[str, list[int]]:
    """Status and words of a case that runs in a process of its own."""
    command = [sys.executable, __file__, "--run", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "timeout", []
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no output"])[-1], []
    return "ok", json.loads(done.stdout)


def record(path: str) -> None:
    """Run all cases and write what they gave."""
    from bench.gpu.driver import Device

    names = [case.name for case in cases()]
    rows = []
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for name, (status, words) in zip(names, pool.map(child, names), strict=True):
            print(f"{name}: {status}", flush=True)
            rows.append(json.dumps([name, status, words]))
    head = {
        "gpu": Device().name(),
        "made_by": "bench/gpu/shuffles.py",
        "columns": ["case", "status", "out by thread"],
    }
    body = ",\n".join(rows)
    text = json.dumps(head)[:-1] + f', "cases": [\n{body}\n]}}\n'
    Path(path).write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--record", metavar="FILE", help="run all cases and write FILE")
    parser.add_argument("--run", metavar="CASE", help="run one case and print its words")
    arguments = parser.parse_args()
    if arguments.run:
        print(json.dumps(run(arguments.run)))
    elif arguments.record:
        record(arguments.record)
    else:
        parser.error("one of --record and --run is needed")


if __name__ == "__main__":
    main()
