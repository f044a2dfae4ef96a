"""PTX322: what is outside its object, held against the interpreter on random kernels."""

from __future__ import annotations

import random

import pytest

from ptxlint import Finding, Severity, check_text, parse
from ptxlint.execute import Buffer, Launch, run


def kernel(statements: str, directives: str = ".reqntid 32, 1, 1", size: int = 128) -> str:
    """A kernel with a shared ``tile`` of ``size`` bytes at %r1, and %tid.x in %r0."""
    body = statements.replace("; ", ";\n    ")
    return f"""\
.version 8.0
.target sm_80
.address_size 64
.global .align 16 .b8 table[64];
.extern .global .align 16 .b8 elsewhere[64];
.visible .entry k(.param .u64 out, .param .u32 n)
{directives}
{{
    .shared .align 16 .b8 tile[{size}];
    .reg .pred %p<4>;
    .reg .b32 %r<19>;
    .reg .b64 %rd<9>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, tile;
    ld.param.u32 %r2, [n];
    {body}
    ret;
}}
"""


def said(text: str, **options: str) -> list[Finding]:
    return [f for f in check_text(text, **options) if f.code == "PTX322"]


CONSTANT = "st.shared.u32 [tile+128], %r0;"
LANES = "shl.b32 %r3, %r0, 3; add.u32 %r4, %r1, %r3; st.shared.u32 [%r4], %r0;"


@pytest.mark.parametrize(
    ("statements", "offset", "threads"),
    [
        (CONSTANT, 128, 0),
        ("st.shared.u32 [%r1+-4], %r0;", -4, 0),
        ("st.shared.v2.u32 [tile+124], {%r0, %r0};", 124, 0),
        ("ld.shared.u8 %r3, [tile+128];", 128, 0),
        ("atom.shared.add.u32 %r3, [tile+256], 1;", 256, 0),
        ("ld.param.u64 %rd1, [n];", 0, 0),
        ("ld.global.u32 %r3, [table+64];", 64, 0),
        (LANES, 128, 16),
        ("setp.gt.u32 %p1, %r0, 20; @%p1 bra D; " + LANES + " D:", 128, 5),
        ("setp.lt.u32 %p1, %r0, 17; @%p1 bra D; ret; D: " + LANES, 128, 1),
        ("shl.b32 %r3, %r0, 2; sub.u32 %r4, %r1, %r3; ld.shared.u32 %r5, [%r4+16];", -4, 27),
    ],
)
def test_what_every_launch_does_is_an_error(statements: str, offset: int, threads: int) -> None:
    (finding,) = said(kernel(statements))
    assert finding.severity is Severity.ERROR and not finding.assumptions
    assert (finding.data["offset"], finding.data["threads"]) == (offset, threads)


@pytest.mark.parametrize(
    "statements",
    [
        "st.shared.u32 [tile+124], %r0;",
        "shl.b32 %r3, %r0, 2; add.u32 %r4, %r1, %r3; st.shared.u32 [%r4], %r0;",
        "setp.lt.u32 %p1, %r0, 16; @!%p1 bra D; " + LANES + " D:",
        "setp.lt.u32 %p1, %r0, 16; @%p1 bra D; ret; D: " + LANES,
        # A launch may pass it by.
        "setp.lt.u32 %p1, %r2, 32; @%p1 bra D; " + CONSTANT + " D:",
        "setp.lt.u32 %p1, %r2, 32; @!%p1 st.shared.u32 [tile+128], %r0;",
        "setp.eq.u32 %p1, %r0, 99; @%p1 st.shared.u32 [tile+128], %r0;",
        "L: setp.ge.u32 %p1, %r2, 4; @%p1 bra D; " + CONSTANT + " add.u32 %r2, %r2, 1; bra L; D:",
        "setp.lt.u32 %p1, %r0, %r2; @!%p1 bra D; " + LANES + " D:",
        # A copy that may read nothing; an index that is loaded.
        "mov.u64 %rd1, table; cp.async.cg.shared.global [%r1], [%rd1+64], 16, %r2;",
        "ld.shared.u32 %r3, [tile]; add.u32 %r4, %r1, %r3; st.shared.u32 [%r4+128], %r0;",
    ],
)
def test_silent_where_it_is_inside_or_not_sure(statements: str) -> None:
    assert said(kernel(statements)) == []


def test_the_body_of_a_loop_that_is_entered_for_sure() -> None:
    loop = "L: " + CONSTANT + " add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 8; @%p1 bra L;"
    assert [f.severity for f in said(kernel(loop))] == [Severity.ERROR]


def test_behind_a_bound_check_it_is_a_warning_that_names_it() -> None:
    check = "setp.lt.u32 %p1, %r0, %r2; @!%p1 bra D; " + CONSTANT + " D:"
    text = kernel(check)
    (finding,) = said(text)
    assert finding.severity is Severity.WARNING
    line = text.splitlines().index("    @!%p1 bra D;") + 1
    assert finding.assumptions == (f"a thread gets past the check at line {line}",)


def test_the_block_is_a_fact_or_an_assumption() -> None:
    assert [f.severity for f in said(kernel(LANES))] == [Severity.ERROR]
    assert said(kernel(LANES, "")) == []
    assert said(kernel(LANES, ".maxntid 32, 1, 1")) == []
    (finding,) = said(kernel(LANES, ""), block="32,1,1")
    assert finding.severity is Severity.WARNING
    assert finding.assumptions == ("the block is 32x1x1 threads, as --block says",)
    assert finding.witness == {"offset": 128, "bytes": 4, "thread": [16, 0, 0]}
    assert said(kernel(LANES, ""), block="16,1,1") == []


def test_with_no_block_known_the_first_thread_is_looked_at() -> None:
    beyond = LANES.replace("[%r4]", "[%r4+128]")
    (finding,) = said(kernel(beyond, ""))
    assert finding.severity is Severity.ERROR
    assert finding.witness == {"offset": 128, "bytes": 4, "thread": [0, 0, 0]}


def test_objects_of_elsewhere_are_assumed_to_be_as_declared() -> None:
    (finding,) = said(kernel("ld.global.u32 %r3, [elsewhere+64];"))
    assert finding.severity is Severity.WARNING and "elsewhere" in finding.assumptions[0]


def test_device_functions_may_never_be_called() -> None:
    text = """\
.version 8.0
.target sm_80
.address_size 64
.shared .align 16 .b8 tile[64];
.func f() { .reg .b32 %r1; ld.shared.u32 %r1, [tile+64]; ret; }
"""
    assert said(text) == []


def generated(seed: int) -> tuple[str, tuple[int, int, int]]:
    """A kernel in which some threads of a block use some place of ``tile``, and the block."""
    pick = random.Random(seed)
    block = pick.choice([(32, 1, 1), (64, 1, 1), (16, 4, 1), (48, 1, 1), (8, 4, 2)])
    threads = block[0] * block[1] * block[2]
    width, type_ = pick.choice([(1, "u8"), (4, "u32"), (8, "v2.u32"), (16, "v4.u32")])
    data = ", ".join(["%r0"] * max(1, width // 4))
    data = f"{{{data}}}" if width > 4 else data
    last = pick.choice([threads, threads // 2, threads - 1, threads + 5])
    size = max(16, last * width + pick.choice([-width, 0, 0, 0, width]))
    linear = f"mad.lo.u32 %r5, %r6, {block[1]}, %r7; mad.lo.u32 %r8, %r5, {block[0]}, %r0;"
    steps = f"mov.u32 %r7, %tid.y; mov.u32 %r6, %tid.z; {linear} "
    turned = pick.choice(["mov.u32 %r9, %r8;", f"sub.u32 %r9, {last - 1}, %r8;"])
    steps += f"{turned} mul.lo.u32 %r10, %r9, {width}; add.u32 %r11, %r1, %r10; "
    steps += f"setp.lt.u32 %p1, %r8, {pick.choice([last, threads, last - 1, last + 1])}; "
    store = f"st.shared.{type_} [%r11+{pick.choice([0, 0, 0, width, -width])}], {data};"
    how = pick.choice(["guard", "branch", "return"])
    if how == "guard":
        steps += f"@%p1 {store}"
    elif how == "branch":
        steps += f"@!%p1 bra D; {store} D:"
    else:
        steps += f"@%p1 bra D; ret; D: {store}"
    directive = ".reqntid " + ", ".join(map(str, block))
    return kernel(steps, directive, size), block


def test_it_says_so_exactly_where_the_interpreter_faults() -> None:
    verdicts = []
    for seed in range(150):
        text, block = generated(seed)
        module = parse(text)
        given = {"out": Buffer(8, bytes(8)), "n": 1}
        result = run(module, module.kernels[0], Launch(block, parameters=given))
        assert result.status in ("done", "fault"), seed
        findings = said(text)
        assert len(findings) == (result.status == "fault"), seed
        for finding in findings:
            assert result.fault is not None and finding.severity is Severity.ERROR
            assert finding.witness is not None
        verdicts.append(result.status)
    assert min(verdicts.count("done"), verdicts.count("fault")) > 30
