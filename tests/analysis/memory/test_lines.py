"""What is said to be well laid out at a glance is so for the close look too."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxlint.analysis.memory.glance import FAR, doubtful, unaligned
from ptxlint.analysis.memory.line import Line
from ptxlint.analysis.memory.lines import Lines
from ptxlint.analysis.memory.requests import KNOWN, requests

from .snippets import CORPUS, ROOT, corpus, kernel

HEAD = "ld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, {};\n"


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: str(p.relative_to(ROOT / "corpus")))
def test_what_is_passed_over_takes_no_more_than_it_must(path: Path) -> None:
    functions, facts = corpus(path)
    for function in functions:
        chosen = facts.once(function, doubtful)
        for request in facts.once(function, requests):
            if id(request.access.instruction) in chosen or request.state != KNOWN:
                continue
            banks, sectors = request.wavefronts, request.sectors
            assert banks is None or banks.total < 2 * banks.minimum
            assert sectors is None or sectors.low < FAR * sectors.minimum


@pytest.mark.parametrize(
    ("access", "step", "is_doubtful", "is_unaligned"),
    [
        ("ld.global.f32 %f1, [%rd3];", 4, False, False),
        ("ld.global.f32 %f1, [%rd3+4];", 4, False, False),
        ("ld.global.f32 %f1, [%rd3+2];", 4, False, True),
        ("ld.global.f32 %f1, [%rd3];", 64, True, False),
        ("ld.global.v2.f32 {%f1, %f2}, [%rd3];", 8, False, False),
        ("ld.global.v2.f32 {%f1, %f2}, [%rd3+8];", 8, True, False),  # in the middle of a line
        ("ld.global.v2.f32 {%f1, %f2}, [%rd3];", 4, False, True),
        ("ld.shared.f32 %f1, [%rd2];", 4, False, False),
        ("ld.shared.f32 %f1, [%rd2];", 128, True, False),
        ("ld.shared.f32 %f1, [%rd2];", 132, False, False),
    ],
)
def test_a_line_in_tid(access: str, step: int, is_doubtful: bool, is_unaligned: bool) -> None:
    function, facts = kernel(f"{HEAD.format(step)}add.s64 %rd3, %rd1, %rd2;\n{access}")
    assert bool(facts.once(function, doubtful)) == is_doubtful
    assert bool(facts.once(function, unaligned)) == is_unaligned


def line_of_last(body: str) -> Line:
    function, facts = kernel(body)
    last = function.instructions[-2].operands[0]  # before the ret
    return facts.once(function, Lines).of(last)


def test_loops_arms_and_loaded_values() -> None:
    start = "mov.u32 %r1, %tid.x;\n"
    assert line_of_last(f"{start}shl.b32 %r2, %r1, 3;\nadd.s32 %r3, %r2, 5;") == Line(
        8, 5, spread=256
    )
    in_loop = "mov.u32 %r2, 8;\nL: add.s32 %r2, %r2, 12;\nbra L;\nadd.s32 %r3, %r2, 1;"
    assert line_of_last(in_loop) == Line(0, 9, spread=12)
    loaded = f"{start}ld.global.u32 %r2, [%rd1];\nmad.lo.s32 %r3, %r1, 4, %r2;"
    assert line_of_last(f"ld.param.u64 %rd1, [a];\n{loaded}") == Line(4, 0, step=1, spread=128)
    by_lane = "cvt.u64.u32 %rd1, %r1;\nld.global.u32 %r2, [%rd1];\nshl.b32 %r3, %r2, 4;"
    assert line_of_last(start + by_lane) == Line(0, 0, step=16, data=True)
    third = line_of_last(f"{start}rem.u32 %r2, %r1, 3;\nshl.b32 %r3, %r2, 4;")
    assert third == Line(0, 0, lanes=16)
    both = line_of_last(f"{start}selp.b32 %r2, %r1, 12, %p1;\nadd.s32 %r3, %r2, 4;")
    assert both == Line(0, 4, lanes=1)


def test_what_bits_of_tid_give() -> None:
    start = "mov.u32 %r1, %tid.x;\n"
    quarter = line_of_last(f"{start}shr.u32 %r2, %r1, 2;\nshl.b32 %r3, %r2, 4;")
    assert quarter.exact == tuple([lane // 4 * 16 for lane in range(32)])
    assert (quarter.shared, quarter.lanes) == (128, 0)
    assert line_of_last(f"{start}shr.u32 %r2, %r1, 5;") == Line(0, 0, spread=1)
    assert line_of_last(f"{start}and.b32 %r2, %r1, 31;") == Line(1, 0)
    assert line_of_last(f"{start}and.b32 %r2, %r1, -32;") == Line(0, 0, spread=32)
    swizzled = f"{start}and.b32 %r2, %r1, 7;\nshr.u32 %r3, %r1, 3;\nand.b32 %r4, %r3, 3;\n"
    found = line_of_last(f"{swizzled}xor.b32 %r5, %r2, %r4;")
    assert found.exact == tuple([(lane & 7) ^ (lane >> 3) for lane in range(32)])
    parts = f"{start}and.b32 %r2, %r1, 31;\nmov.u32 %r3, %ctaid.x;\nshl.b32 %r4, %r3, 8;\n"
    assert line_of_last(f"{parts}or.b32 %r5, %r4, %r2;") == Line(1, 0, step=256)
