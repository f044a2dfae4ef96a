"""PTX301 where threads, loops and parameters make the address: levels, witnesses, silence."""

from __future__ import annotations

import pytest

from ptxlint import Finding, Severity, check_text

from .snippets import found, kernel

OBJECTS = """\
.shared .align 128 .b8 tile[4096];
.extern .shared .align 16 .b8 pool[];
"""
TWO = "a block has at least 2 threads in x"
VECTOR = "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3];"
POINTER = "ld.param.u64 %rd1, [p_out]; mov.u32 %r1, %tid.x;"


def fixed(statements: str, block: str = ".reqntid 64") -> str:
    """Such a kernel in a block of a known shape."""
    return kernel(statements, OBJECTS).replace(
        "(.param .u64 p_out)", f"(.param .u64 p_out) {block}"
    )


def one(text: str) -> Finding:
    """Its one finding."""
    (finding,) = found(text, "PTX301")
    return finding


def lanes(stride: int) -> str:
    """A 16-byte load from the pointer and ``stride`` bytes for each thread."""
    return f"{POINTER} mul.wide.u32 %rd2, %r1, {stride}; add.s64 %rd3, %rd1, %rd2; {VECTOR}"


@pytest.mark.parametrize("stride", [4, 8, 12, 20, 24, 40])
def test_lanes_that_are_too_close_are_an_error_wherever_the_pointer_points(stride: int) -> None:
    finding = one(fixed(lanes(stride)))
    assert finding.severity is Severity.ERROR
    assert finding.assumptions == ()
    assert finding.data["thread"] == 1
    assert finding.data["residues"][:3] == [0, stride % 16, 2 * stride % 16]
    assert "%tid.x = 1" in finding.message


@pytest.mark.parametrize("stride", [0, 16, 32, 48, 4096])
def test_lanes_that_are_whole_vectors_apart_are_silent(stride: int) -> None:
    assert found(fixed(lanes(stride)), "PTX301") == []


def test_a_block_may_have_one_thread_unless_it_says_otherwise() -> None:
    finding = one(kernel(lanes(4)))
    assert finding.severity is Severity.WARNING
    assert TWO in finding.assumptions
    # The first thread of every warp, and so of every block.
    every = f"{POINTER} mad.lo.u32 %r2, %r1, 16, 8; mov.u32 %r3, tile; add.u32 %r3, %r3, %r2;"
    finding = one(kernel(f"{every} ld.shared.v4.f32 {{%f1, %f2, %f3, %f4}}, [%r3];", OBJECTS))
    assert (finding.severity, finding.assumptions) == (Severity.ERROR, ())


def test_only_some_warps() -> None:
    """The second warp alone is wrong: it has to get there, which is said."""
    text = fixed(
        "mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 5; mad.lo.u32 %r3, %r2, 8, 0; mov.u32 %r4, tile;"
        " add.u32 %r4, %r4, %r3; ld.shared.v2.u64 {%rd1, %rd2}, [%r4];"
    )
    finding = one(text)
    assert (finding.severity, finding.data["thread"]) == (Severity.WARNING, 32)
    assert "thread 32" in finding.assumptions[-1]


def test_two_dimensions_name_the_thread() -> None:
    text = fixed(
        f"{POINTER} mov.u32 %r2, %tid.y; mad.lo.u32 %r3, %r2, 4, 0; mul.wide.u32 %rd2, %r3, 1;"
        f" add.s64 %rd3, %rd1, %rd2; {VECTOR}",
        ".reqntid 8, 4, 1",
    )
    finding = one(text)
    assert finding.severity is Severity.ERROR
    assert "%tid = (0, 1, 0)" in finding.message


@pytest.mark.parametrize(
    ("condition", "level"),
    [
        ("setp.ne.u32 %p1, %r1, 0;", None),
        ("and.b32 %r2, %r1, 3; setp.ne.u32 %p1, %r2, 0;", None),
        ("and.b32 %r2, %r1, 1; setp.ne.u32 %p1, %r2, 0;", Severity.ERROR),
        ("setp.ge.u32 %p1, %r1, 2;", Severity.ERROR),  # the second warp never gets there
        ("ld.param.u32 %r2, [p_out]; setp.ge.u32 %p1, %r1, %r2;", Severity.WARNING),
        ("ld.global.u32 %r2, [%rd1]; setp.ge.u32 %p1, %r2, 5;", Severity.WARNING),
        ("add.s64 %rd4, %rd1, %rd2; ld.global.u32 %r2, [%rd4]; setp.ge.u32 %p1, %r2, 5;", None),
        ("cvt.u32.u64 %r2, %rd3; and.b32 %r2, %r2, 15; setp.ne.u32 %p1, %r2, 0;", None),
    ],
)
@pytest.mark.parametrize("guarded", [False, True])
def test_the_threads_of_a_branch_count(
    condition: str, level: Severity | None, guarded: bool
) -> None:
    start = f"{POINTER} mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; {condition}"
    body = f"{start} @!%p1 {VECTOR}" if guarded else f"{start} @%p1 bra OUT; {VECTOR} OUT:"
    levels = [finding.severity for finding in found(fixed(body), "PTX301")]
    assert levels == ([] if level is None else [level])


def test_the_pointer_of_a_launch_is_assumed_and_said() -> None:
    finding = one(kernel(f"{POINTER} add.s64 %rd3, %rd1, 24; {VECTOR}"))
    assert finding.severity is Severity.WARNING
    assert finding.assumptions == (
        "pointer parameter `p_out` is 256-byte aligned, as cudaMalloc returns it",
    )
    assert (finding.data["residues"], finding.data["modulus"]) == (8, 16)
    assert "`p_out`" in finding.message


@pytest.mark.parametrize(
    ("claim", "level"),
    [
        (".align 16", Severity.ERROR),
        (".align 8", None),  # 24 may make up for what the pointer lacks
        (".align 1", Severity.WARNING),
        ("", Severity.WARNING),
    ],
)
def test_ptr_align_is_taken_at_its_word_but_for_1(claim: str, level: Severity | None) -> None:
    text = kernel(f"{POINTER} add.s64 %rd3, %rd1, 24; {VECTOR}")
    text = text.replace(".param .u64 p_out", f".param .u64 .ptr .global {claim} p_out")
    levels = [finding.severity for finding in found(text, "PTX301")]
    assert levels == ([] if level is None else [level])


def test_what_is_added_before_the_conversion_is_followed() -> None:
    text = kernel(
        "ld.param.u64 %rd1, [p_out]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd2, %r1, 16;"
        f" add.s64 %rd4, %rd1, %rd2; cvta.to.global.u64 %rd5, %rd4; add.s64 %rd3, %rd5, 4; {VECTOR}"
    )
    assert one(text).data["residues"] == 4


def test_a_loop_of_whole_steps_keeps_what_is_wrong_and_what_is_right() -> None:
    for start, count in ((0, 0), (4, 1), (8, 1), (16, 0)):
        text = kernel(
            f"{POINTER} add.s64 %rd3, %rd1, {start}; mov.u32 %r2, 0; L: {VECTOR}"
            " add.s64 %rd3, %rd3, 32; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra L;"
        )
        assert len(found(text, "PTX301")) == count, start


def test_a_pointer_in_memory_is_no_obstacle_to_lanes() -> None:
    text = fixed(
        f"{POINTER} ld.global.u64 %rd4, [%rd1]; mul.wide.u32 %rd2, %r1, 4;"
        f" add.s64 %rd3, %rd4, %rd2; {VECTOR}"
    )
    finding = one(text)
    assert finding.data["apart"] == 4
    assert "wherever it begins" in finding.message
    assert not any("cudaMalloc" in text for text in finding.assumptions)
    assert found(text.replace("%r1, 4;", "%r1, 16;"), "PTX301") == []
    # A constant distance from it says nothing.
    text = kernel(f"{POINTER} ld.global.u64 %rd4, [%rd1]; add.s64 %rd3, %rd4, 4; {VECTOR}")
    assert found(text, "PTX301") == []


def test_dynamic_shared_memory_lies_as_declared_by_assumption() -> None:
    body = (
        "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 4; mov.u32 %r3, pool; add.u32 %r4, %r3, %r2;"
        " ld.shared.v2.u64 {{%rd1, %rd2}}, [%r4+{}];"
    )
    assert found(kernel(body.format(16), OBJECTS), "PTX301") == []
    finding = one(kernel(body.format(8), OBJECTS))
    assert finding.severity is Severity.WARNING
    assert "`pool` is .extern" in finding.assumptions[0]


@pytest.mark.parametrize(
    ("rows", "wrong"), [("x1", False), ("x2", True), ("x4", True)], ids=["x1", "x2", "x4"]
)
def test_matrix_rows_that_no_lane_is_asked_for_do_not_count(rows: str, wrong: bool) -> None:
    """Lanes 8 and up are 4 bytes off: .x1 takes the addresses of lanes 0 to 7 only."""
    results = {"x1": "%r5", "x2": "%r5, %r6", "x4": "%r5, %r6, %r7, %r8"}[rows]
    text = fixed(
        "mov.u32 %r1, %laneid; shr.u32 %r2, %r1, 3; shl.b32 %r2, %r2, 2; shl.b32 %r3, %r1, 4;"
        " add.u32 %r3, %r3, %r2; mov.u32 %r4, tile; add.u32 %r4, %r4, %r3;"
        f" ldmatrix.sync.aligned.m8n8.{rows}.shared.b16 {{{results}}}, [%r4];"
    )
    assert bool(found(text, "PTX301")) is wrong


def test_a_told_block_is_an_assumption() -> None:
    findings = check_text(kernel(lanes(4)), block=(64, 1, 1))
    (finding,) = [f for f in findings if f.code == "PTX301"]
    assert finding.severity is Severity.WARNING
    assert finding.assumptions == ("the block is 64x1x1 threads, as --block says",)


def test_what_the_base_must_be_is_in_the_data() -> None:
    text = kernel(
        f"{POINTER} ld.global.v2.f32 {{%f1, %f2}}, [%rd1];\n"
        "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+32];\n"
        "ld.global.v2.f32 {%f1, %f2}, [%rd1+4];"
    )
    finding = one(text)
    line = finding.span.start.line - 1
    assert finding.data["requirement"] == {
        "base": "p_out",
        "bytes": 16,
        "why": f"`ld.global.v4.f32` at line {line} is a 16-byte access",
    }
    assert any("16-byte aligned" in note for note in finding.notes)


def test_equal_faults_of_one_pointer_are_one_finding() -> None:
    text = kernel(
        f"{POINTER}\nld.global.v2.f32 {{%f1, %f2}}, [%rd1+4];\n"
        "ld.global.v2.f32 {%f3, %f4}, [%rd1+12];\nst.global.u64 [%rd1+20], %rd1;"
    )
    finding = one(text)
    first = finding.span.start.line
    assert finding.data["lines"] == [first + 1, first + 2]


def test_wmma_below_an_assumed_pointer_is_silent() -> None:
    """Two doubts at once: an H200 let it pass at half the alignment."""
    results = ", ".join(f"%f{i % 8 + 1}" for i in range(8))
    store = f"wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1+16], {{{results}}}, %r1;"
    assert found(kernel(f"{POINTER} {store}"), "PTX301") == []
