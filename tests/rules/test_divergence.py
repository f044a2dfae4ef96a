"""PTX210 and PTX211: which threads part, what is said of them, and where nothing is said."""

from __future__ import annotations

import pytest

from ptxlint import Confidence, Finding, check_text

HEAD = """\
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n)
{bounds}
{{
.shared .align 16 .b8 tile[1024];
.reg .pred %p<6>;
.reg .b32 %r<12>;
.reg .b64 %rd<4>;
ld.param.u64 %rd1, [p];
ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
st.shared.u32 [tile], %r1;
{body}
st.global.u32 [%rd1], %r1;
ret;
}}
"""
BAR = "bar.sync 0;"


def said(body: str, bounds: str = ".reqntid 64, 1, 1") -> list[Finding]:
    findings = check_text(HEAD.format(body=body, bounds=bounds))
    return [f for f in findings if f.code in ("PTX210", "PTX211")]


def test_the_lanes_are_named() -> None:
    (finding,) = said(f"setp.ge.u32 %p1, %r1, 20; @%p1 bra OUT; {BAR} OUT:")
    assert finding.code == "PTX210" and "lanes 20-31" in finding.message
    assert finding.data is not None
    assert (finding.data["warp"], finding.data["executing"]) == (0, 0xFFFFF)
    assert finding.labels[0].message == "here threads part"
    (finding,) = said(f"setp.lt.u32 %p1, %r1, 40; @%p1 {BAR}")
    assert finding.data is not None and finding.data["warp"] == 1


@pytest.mark.parametrize(
    "body",
    [
        f"setp.ge.u32 %p1, %r1, 32; @%p1 bra OUT; {BAR} OUT:",  # a warp that waits nowhere else
        f"setp.ge.u32 %p1, %r2, 20; @%p1 bra OUT; {BAR} OUT:",  # the same for the block
        f"setp.ge.u32 %p1, %r1, 20; @%p1 ret; {BAR}",  # they have left
        f"setp.ge.u32 %p1, %r1, 20; @%p1 bra OUT; {BAR} bra ON; OUT: trap; ON:",
        f"setp.ge.u32 %p1, %r1, %r9; @%p1 bra OUT; {BAR} OUT:",  # n may be 64
        f"ld.global.u32 %r3, [%rd1]; setp.eq.u32 %p1, %r3, 0; @%p1 bra OUT; {BAR} OUT:",
        "setp.lt.u32 %p1, %r1, 20; @%p1 barrier.sync 0; @!%p1 barrier.sync 0;",
        "setp.ge.u32 %p1, %r1, 32; @%p1 bar.sync 1, 32;",
    ],
)
def test_silence(body: str) -> None:
    assert said(body) == []


def test_whole_warps_that_come_to_another_barrier() -> None:
    (finding,) = said(f"setp.ge.u32 %p1, %r1, 32; @%p1 bra OUT; {BAR} OUT: {BAR}")
    assert "warp 1 passes by" in finding.message
    free = f"setp.ge.u32 %p1, %r1, 32; @%p1 bra OUT; {BAR} OUT: {BAR}"
    assert said(free, bounds="") == []  # a block of 32 threads has no such warp


def test_copies_of_a_barrier() -> None:
    body = f"and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 0; @%p1 bra A; {BAR} bra J; A: {BAR} J:"
    (finding,) = said(body)
    assert finding.code == "PTX211" and len(finding.labels) == 2
    assert "barrier.sync" in (finding.help or "")


def test_a_number_that_is_no_multiple_of_a_warp() -> None:
    body = "setp.lt.u32 %p1, %r1, {}; @%p1 setmaxnreg.dec.sync.aligned.u32 40;"
    bounds = ".reqntid 128, 1, 1\n.maxnreg 128"
    (finding,) = said(body.format("%r9"), bounds)
    assert finding.confidence is Confidence.MEDIUM and "multiple of 32" in finding.assumptions[-1]
    even = "shl.b32 %r8, %r9, 5; " + body.format("%r8")
    assert said(even, bounds) == []
    assert said(body.format("64"), bounds) == []
    (finding,) = said(body.format("70"), bounds)
    assert finding.confidence is Confidence.HIGH
