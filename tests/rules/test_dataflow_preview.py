"""PTX602, 604 and 605, which run under --preview alone."""

from __future__ import annotations

import pytest

from ptxlint import Finding, check_text

from .snippets import found, kernel

START = "ld.param.u64 %rd1, [p_out]; cvta.to.global.u64 %rd1, %rd1; mov.u32 %r1, %tid.x;"
TEST = START + " setp.lt.u32 %p1, %r1, 8;"
STORE = " st.global.u32 [%rd1], %r2;"


def preview(code: str, statements: str, module: str = "") -> list[Finding]:
    text = kernel(statements, module)
    assert found(text, code) == []
    return [f for f in check_text(text, select=code, preview=True) if f.code == code]


MAYBE = [
    ("@%p1 mov.b32 %r2, 1;" + STORE, True),
    ("@%p1 bra L; mov.b32 %r2, 1; L:" + STORE, True),
    ("@%p1 mov.b32 %r2, 1; @!%p1 st.global.u32 [%rd1], %r2;", True),
    ("@%p1 mov.b32 %r2, 1; setp.lt.u32 %p1, %r1, 9; @%p1" + STORE, True),
    # The same guard, its complement, a condition that implies it, or one that says the same.
    ("@%p1 mov.b32 %r2, 1; @%p1" + STORE, False),
    ("@%p1 mov.b32 %r2, 1; @!%p1 mov.b32 %r2, 2;" + STORE, False),
    ("@%p1 mov.b32 %r2, 1; not.pred %p2, %p1; @!%p2" + STORE, False),
    ("@%p1 mov.b32 %r2, 1; setp.ge.u32 %p2, %r1, 8; @!%p2" + STORE, False),
    ("@%p1 mov.b32 %r2, 1; setp.eq.u32 %p2, %r1, 3; and.pred %p3, %p1, %p2; @%p3" + STORE, False),
    ("@%p1 bra L; mov.b32 %r2, 1; L: @%p1 bra M;" + STORE + " M:", False),
    ("setp.eq.u32 %p2|%p3, %r1, 3; @%p2 mov.b32 %r2, 1; @%p3 mov.b32 %r2, 2;" + STORE, False),
    ("@%p1 mov.b32 %r2, 1; selp.b32 %r3, 1, 0, %p1; setp.ne.s32 %p2, %r3, 0; @%p2" + STORE, False),
    ("mov.b32 %r3, 1; setp.eq.u32 %p2, %r3, 1; @%p2 mov.b32 %r2, 1;" + STORE, False),
    # Written on every path, or observed on none.
    ("@%p1 bra L; mov.b32 %r2, 1; bra M; L: mov.b32 %r2, 2; M:" + STORE, False),
    ("@%p1 mov.b32 %r2, 1; mov.b32 %r3, %r2;", False),
]


@pytest.mark.parametrize(("statements", "reported"), MAYBE)
def test_a_path_that_leaves_a_register_undefined(statements: str, reported: bool) -> None:
    findings = preview("PTX602", TEST + statements)
    assert [finding.data["register"] for finding in findings] == ["%r2"] * reported


def test_what_every_path_leaves_undefined_is_the_other_rules() -> None:
    assert check_text(kernel(TEST + STORE), select="PTX602", preview=True) == []


DEAD = [
    ("add.s32 %r2, %r1, 1; mul.lo.s32 %r3, %r2, %r2;", ["%r3"]),
    ("ld.global.u32 %r2, [%rd1];", ["%r2"]),
    ("add.s32 %r2, %r1, 1; mov.b32 %r2, 4; st.global.u32 [%rd1], %r2;", ["%r2"]),
    ("add.s32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;", []),
    ("ld.volatile.global.u32 %r2, [%rd1];", []),
    ("ld.acquire.gpu.global.u32 %r2, [%rd1];", []),
    ("atom.global.add.u32 %r2, [%rd1], 1;", []),
    ("mov.u32 %r2, %clock;", []),
    ("add.s32 %r2, %r1, 1; setp.eq.s32 %p1, %r2, 4; @%p1 bra L; bar.sync 0; L:", []),
    ("add.cc.u32 %r2, %r1, 1; addc.u32 %r3, 0, 0; st.global.u32 [%rd1], %r3;", []),
]


@pytest.mark.parametrize(("statements", "registers"), DEAD)
def test_a_result_that_nothing_uses(statements: str, registers: list[str]) -> None:
    findings = preview("PTX604", START + "st.global.u32 [%rd1], %r1;" + statements)
    assert [f.message.split("`")[1] for f in findings] == registers


@pytest.mark.parametrize(
    ("statements", "count"),
    [
        ("st.shared.u32 [a], %r1; st.shared.u32 [a+4], %r1;", 1),
        ("st.shared.u32 [a], %r1; ld.shared.u32 %r2, [a+4]; st.global.u32 [%rd1], %r2;", 0),
        ("st.shared.u32 [a], %r1; mov.u32 %r2, a; st.global.u32 [%rd1], %r2;", 0),
        ("st.volatile.shared.u32 [a], %r1;", 0),
        ("st.shared.u32 [b], %r1;", 0),
    ],
)
def test_a_variable_that_is_only_stored_to(statements: str, count: int) -> None:
    module = ".shared .align 4 .b8 a[8];\n.extern .shared .align 4 .b8 b[];\n"
    use = "st.global.u32 [%rd1], %r1;"
    assert len(preview("PTX604", START + use + statements, module)) == count


UNREACHED = [
    ("bra L; add.s32 %r2, %r1, 1; L:", [1]),
    ("bra L; add.s32 %r2, %r1, 1; @%p1 bra M; mov.b32 %r2, 1; M: mov.b32 %r3, 1; L:", [4]),
    ("@%p1 bra L; add.s32 %r2, %r1, 1; L:", []),
    ("trap; ret;", []),
    ("bra L; bra M; M: ret; L:", []),
]


@pytest.mark.parametrize(("statements", "counts"), UNREACHED)
def test_code_that_no_path_reaches(statements: str, counts: list[int]) -> None:
    findings = preview("PTX605", TEST + "@%p1" + STORE + statements)
    assert [finding.data["instructions"] for finding in findings] == counts
