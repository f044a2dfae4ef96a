"""PTX501, 502, 505, 506: what is found, where it is said, and the right code that looks alike."""

from __future__ import annotations

import pytest

from ptxlint import Finding, check_text

HEAD = """\
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[256];
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)
{bounds}
{{
.shared .align 16 .b8 tile[2048];
.reg .pred %p<6>;
.reg .b32 %r<16>;
.reg .b64 %rd<12>;
ld.param.u64 %rd1, [p];
ld.param.u64 %rd2, [q];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd3, %r1, 16;
add.s64 %rd4, %rd1, %rd3;
shl.b32 %r2, %r1, 4;
mov.u32 %r3, tile;
add.u32 %r4, %r3, %r2;
{body}
st.global.u32 [%rd2], %r8;
ret;
}}
"""


def said(body: str, bounds: str = ".reqntid 32, 1, 1") -> list[Finding]:
    findings = check_text(HEAD.format(body=body, bounds=bounds))
    return [f for f in findings if f.code.startswith("PTX5")]


def codes(body: str, bounds: str = ".reqntid 32, 1, 1") -> list[str]:
    return [finding.code for finding in said(body, bounds)]


LOOP = "A: {} setp.eq.u32 %p1, %r7, 0; @%p1 bra A;"


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        (LOOP.format("ld.global.u32 %r7, [%rd1];"), True),
        (LOOP.format("ld.u32 %r7, [%rd1];"), True),
        (LOOP.format("ld.global.u32 %r6, [%rd1]; and.b32 %r7, %r6, 1;"), True),
        (LOOP.format("ld.volatile.global.u32 %r7, [%rd1];"), False),
        (LOOP.format("ld.relaxed.gpu.global.u32 %r7, [%rd1];"), False),
        (LOOP.format("ld.global.u32 %r7, [%rd1]; bar.sync 0;"), False),
        (LOOP.format("membar.gl; ld.global.u32 %r7, [%rd1];"), False),
        (LOOP.format("ld.global.u32 %r7, [%rd1]; add.s64 %rd1, %rd1, 4;"), False),  # a search
        (LOOP.format("ld.shared.u32 %r7, [tile];"), False),
        # as many turns as a counter says
        ("A: ld.global.u32 %r7, [%rd1]; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 9; @%p1 bra A;",
         False),
        # a compare-and-swap that begins with a plain load
        ("A: ld.global.u32 %r6, [%rd1]; atom.global.cas.b32 %r7, [%rd1], %r6, 1;"
         " setp.ne.u32 %p1, %r7, %r6; @%p1 bra A;", False),
    ],
)  # fmt: skip
def test_polls(loop: str, found: bool) -> None:
    assert codes(loop) == (["PTX502"] if found else [])


def test_reads_of_what_is_written() -> None:
    (finding,) = said("st.global.u32 [%rd1], %r1; ld.global.nc.u32 %r8, [%rd4];")
    assert finding.data == {"base": "p", "lines": []}
    assert codes("st.global.u32 [%rd2], %r1; ld.global.nc.u32 %r8, [%rd4];") == []
    assert codes("atom.global.add.u32 %r6, [%rd1], 1; ldu.global.u32 %r8, [%rd4];") == ["PTX501"]
    loaded = "ld.global.u64 %rd5, [%rd2]; st.global.u32 [%rd5], %r1; ld.global.nc.u32 %r8, [%rd1];"
    assert codes(loaded) == []


COPY = "cp.async.cg.shared.global [%r4+{}], [%rd4], 16; "
COMMIT, BAR = "cp.async.commit_group; ", "bar.sync 0; "
READ = "ld.shared.u32 %r8, [%r4+{}];"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (COPY.format(0) + COMMIT + BAR + READ.format(0), ["PTX505"]),
        (COPY.format(0) + COMMIT + BAR + READ.format(1024), []),
        (COPY.format(0) + COMMIT + "cp.async.wait_group 0; " + BAR + READ.format(0), []),
        (COPY.format(0) + "cp.async.wait_group 0; " + BAR + READ.format(0), ["PTX505"]),
        (COPY.format(0) + "cp.async.wait_all; " + BAR + READ.format(0), []),
        (COPY.format(0) + COMMIT + COPY.format(1024) + COMMIT + "cp.async.wait_group 1; " + BAR
         + READ.format(0), []),
        (COPY.format(0) + COMMIT + COPY.format(1024) + COMMIT + "cp.async.wait_group 1; " + BAR
         + READ.format(1024), ["PTX506"]),
        (COPY.format(0) + COMMIT + COMMIT + "cp.async.wait_group 1; " + BAR + READ.format(0), []),
        (COPY.format(0) + COMMIT + "cp.async.wait_group 1; " + BAR + READ.format(0), ["PTX506"]),
    ],
)  # fmt: skip
def test_copies(body: str, found: list[str]) -> None:
    assert codes(body) == found


WAIT_ALL = "cp.async.wait_group 0; "


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (COPY.format(0) + WAIT_ALL + COMMIT + BAR + READ.format(0), ["PTX507"]),
        # older groups: the pipeline's order
        (COPY.format(0) + COMMIT + COPY.format(1024) + WAIT_ALL + COMMIT + BAR
         + READ.format(0), []),
        ("L: " + COPY.format(0) + WAIT_ALL + COMMIT + BAR + READ.format(0)
         + "setp.eq.u32 %p1, %r8, 0; @%p1 bra L;", None),
        (WAIT_ALL + COPY.format(0) + COMMIT + WAIT_ALL + BAR + READ.format(0), []),
        (COPY.format(0) + "cp.async.wait_all; " + COMMIT + BAR + READ.format(0), []),
    ],
)  # fmt: skip
def test_commits_behind_the_wait(body: str, found: list[str] | None) -> None:
    """None: in a loop the wait is for the turn before; what it leaves is not this rule's."""
    if found is None:
        assert "PTX507" not in codes(body)
    else:
        assert codes(body) == found


def test_a_block_that_is_not_told_is_its_first_warp() -> None:
    """32 threads copy 512 bytes; that more would copy what is read is not taken for granted."""
    body = COPY.format(0) + COMMIT + COPY.format(512) + COMMIT + "cp.async.wait_group 1; " + BAR
    assert codes(body + READ.format(0), bounds="") == []
    assert codes(body + READ.format(512), bounds="") == ["PTX506"]
    assert codes(body + READ.format(0), bounds=".reqntid 64, 1, 1") == ["PTX506"]


MATRIX = """\
.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out) .reqntid 128, 1, 1
{{
.reg .pred %p<3>;
.reg .f32 %f<16>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [b];
ld.param.u64 %rd3, [out];
setp.ne.u64 %p1, %rd1, 0;
{body}
st.global.f32 [%rd3], %f9;
ret;
}}
"""

PRODUCT = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f{0},%f{1},%f{2},%f{3}}}, %rd1, %rd2,"
    " %p1, 1, 1, 0, 0;\n"
)
FIRST, SECOND = PRODUCT.format(1, 2, 3, 4), PRODUCT.format(5, 6, 7, 8)
CLOSE = "wgmma.commit_group.sync.aligned;\n"
USE, USE_SECOND = "add.f32 %f9, %f1, %f1;\n", "add.f32 %f9, %f5, %f5;\n"


def wait(left: int) -> str:
    return f"wgmma.wait_group.sync.aligned {left};\n"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (FIRST + CLOSE + USE, ["PTX514"]),
        (FIRST + CLOSE + wait(0) + USE, []),
        (FIRST + CLOSE + wait(1) + USE, ["PTX514"]),
        # the older group is there, the younger one is not
        (FIRST + CLOSE + SECOND + CLOSE + wait(1) + USE, []),
        (FIRST + CLOSE + SECOND + CLOSE + wait(1) + USE_SECOND, ["PTX514"]),
        (FIRST + CLOSE + SECOND + CLOSE + wait(2) + USE, ["PTX514"]),
        # waited for on one of two ways: what is not so on every way is not said
        (FIRST + CLOSE + "@%p1 bra A;\n" + wait(0) + "A:\n" + USE, []),
        # a copy is not a use, its use is
        (FIRST + CLOSE + "mov.f32 %f10, %f1;\n" + wait(0) + USE, []),
        (FIRST + CLOSE + "mov.f32 %f10, %f1;\nadd.f32 %f9, %f10, %f10;\n", ["PTX514"]),
        # a product that follows into the same accumulators is in order
        (FIRST + FIRST + CLOSE + wait(0) + USE, []),
        (FIRST + "mov.f32 %f2, 0f00000000;\n" + FIRST + CLOSE + wait(0) + USE, ["PTX515"]),
        ("mov.f32 %f2, 0f00000000;\n" + FIRST + CLOSE + wait(0) + USE, []),
        # a loop that awaits at its end, and one that does so behind it only
        ("A:\n" + FIRST + CLOSE + wait(0) + USE + "@%p1 bra A;\n", []),
        ("A:\n" + FIRST + CLOSE + "@%p1 bra A;\n" + wait(0) + USE, []),
        ("A:\n" + FIRST + CLOSE + "@%p1 bra A;\n" + USE, ["PTX514"]),
    ],
)
def test_accumulators_in_flight(body: str, found: list[str]) -> None:
    findings = check_text(MATRIX.format(body=body))
    assert [f.code for f in findings if f.code in {"PTX514", "PTX515"}] == found


FLAGS = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q, .param .u64 out)
{{
.reg .pred %p<3>;
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [p];
ld.param.u64 %rd2, [q];
ld.param.u64 %rd3, [out];
mov.u32 %r1, 7;
{body}
st.global.u32 [%rd3], %r3;
ret;
}}
"""

DATA, FLAG = "st.global.u32 [%rd2], %r1;\n", "st.relaxed.gpu.global.u32 [%rd1], %r1;\n"
FENCE = "fence.acq_rel.gpu;\n"


def flag_codes(body: str) -> list[str]:
    findings = check_text(FLAGS.format(body=body))
    return [f.code for f in findings if f.code.startswith("PTX5")]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (DATA + FLAG, True),
        (DATA + FLAG.replace("relaxed.gpu", "volatile"), True),
        (DATA + FLAG.replace("relaxed", "release"), False),
        (DATA + FENCE + FLAG, False),
        (DATA + "bar.sync 0;\n" + FLAG, False),
        (FLAG + DATA, False),
        # the flag's own memory
        (DATA.replace("%rd2", "%rd1+4") + FLAG, False),
        # flag and value in one
        (DATA + "mov.u64 %rd4, 1; st.relaxed.gpu.global.u64 [%rd1], %rd4;\n", False),
        # not in one block
        (DATA + "setp.eq.u32 %p1, %r1, 0; @%p1 bra A;\n" + FLAG + "A:\n", False),
    ],
)
def test_flags_that_are_set(body: str, found: bool) -> None:
    assert flag_codes(body) == (["PTX504"] if found else [])


WAIT = "L: ld.relaxed.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;\n"
GET = "ld.global.u32 %r3, [%rd2];\n"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (WAIT + GET, True),
        (WAIT.replace("relaxed.gpu", "volatile") + GET, True),
        (WAIT.replace("relaxed", "acquire") + GET, False),
        (WAIT + FENCE + GET, False),
        (WAIT + "bar.sync 0;\n" + GET, False),
        (WAIT.replace("setp", "fence.acq_rel.gpu; setp") + GET, False),
        (WAIT + "ld.acquire.gpu.global.u32 %r4, [%rd1];\n" + GET, False),
        # data that were there before, or come along with the flag
        (GET + WAIT + GET, False),
        (WAIT + GET.replace("%rd2", "%rd1+4"), False),
        (WAIT + GET.replace("ld.", "ld.relaxed.gpu."), False),
        # a kernel that sets the flag and never writes the data waits for something else
        (WAIT + GET + "st.release.gpu.global.u32 [%rd1], %r1;\n", False),
        (WAIT + GET + DATA + "st.release.gpu.global.u32 [%rd1], %r1;\n", True),
    ],
)
def test_flags_that_are_waited_for(body: str, found: bool) -> None:
    assert flag_codes(body) == (["PTX503"] if found else [])


MEETING = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out) {bounds}
{{
.shared .align 8 .b64 ready[2];
.reg .pred %p<3>;
.reg .b32 %r<4>;
.reg .b64 %rd<4>;
mov.u32 %r1, %tid.x;
mov.u32 %r2, ready;
setp.ne.u32 %p1, %r1, 0;
{body}
ret;
}}
"""

INIT = "@%p1 bra N; mbarrier.init.shared::cta.b64 [%r2], 64; N:\n"
ARRIVE = "mbarrier.arrive.shared::cta.b64 %rd1, [%r2];\n"


@pytest.mark.parametrize(
    ("body", "bounds", "found"),
    [
        (INIT + ARRIVE, ".reqntid 64, 1, 1", True),
        (INIT + "bar.sync 0;\n" + ARRIVE, ".reqntid 64, 1, 1", False),
        (INIT + "bar.warp.sync 0xffffffff;\n" + ARRIVE, ".reqntid 64, 1, 1", False),
        (INIT + ARRIVE.replace("[%r2]", "[%r2+8]"), ".reqntid 64, 1, 1", False),
        (INIT + "@!%p1 " + ARRIVE, ".reqntid 64, 1, 1", False),  # the same thread
        (INIT + ARRIVE, ".reqntid 1, 1, 1", False),
        (INIT + ARRIVE, "", False),  # the block is not told
        # makes nobody wait
        (INIT + "fence.mbarrier_init.release.cluster;\n" + ARRIVE, ".reqntid 64, 1, 1", True),
    ],
)
def test_mbarriers_that_are_not_set_up(body: str, bounds: str, found: bool) -> None:
    findings = check_text(MEETING.format(body=body, bounds=bounds).replace("sm_80", "sm_90"))
    codes = [f.code for f in findings if f.code.startswith("PTX5")]
    assert codes == (["PTX511"] if found else [])
