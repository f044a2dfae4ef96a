"""Patterns where ways meet and where loops turn."""

from __future__ import annotations

import pytest

from ptxlint.analysis.values.patterns import interior_patterns
from ptxlint.analysis.values.symbols import BLOCK, GRID, WARP

from .kernels import Kernel, exact, steps

TID = list(range(64))
STORE = "\n  st.shared.u32 [tile], %r20;"


def loop(body: str, after: str = "", guard: str = "setp.lt.s32 %p1, %r6, %r1;") -> Kernel:
    """A loop over %r6 that leaves where the guard fails."""
    return Kernel(f"LOOP:\n{body}\n{guard}\n@%p1 bra LOOP;\n{after}")


def test_a_loop_variable_keeps_its_lane_part() -> None:
    kernel = Kernel(
        "mul.lo.u32 %r8, %r3, 4;\nmov.u32 %r6, 0;\nLOOP:\nst.shared.u32 [%r8], %r3;\n"
        "add.u32 %r8, %r8, 1024;\nadd.u32 %r6, %r6, 1;\nsetp.lt.s32 %p1, %r6, %r1;\n"
        "@%p1 bra LOOP;\nst.shared.u32 [%r8], %r3;"
    )
    inside, after = kernel.address(0), kernel.address(1)
    assert steps(inside) == [4 * t for t in TID]
    assert inside.zeros == 10 and inside.loops == 1
    # All lanes leave at once: it is the same after the loop, and no longer varies with it.
    assert steps(after) == [4 * t for t in TID]
    assert after.loops == 0 and after.terms[0][0] is not inside.terms[0][0]


def test_after_a_loop_left_at_different_turns_nothing_is_shared() -> None:
    kernel = Kernel(
        "mov.u32 %r6, %r3;\nLOOP:\nmov.u32 %r9, %r6;\nst.shared.u32 [%r9], %r3;\n"
        "add.u32 %r6, %r6, 256;\nsetp.lt.s32 %p1, %r6, %r1;\n@%p1 bra LOOP;\n"
        "st.shared.u32 [%r6], %r3;"
    )
    assert steps(kernel.address(0)) == TID
    assert kernel.address(1) is None


def test_lanes_of_different_turns_may_meet_inside_a_loop() -> None:
    # Lanes wait at MEET until all others come there, some of them a turn later.
    kernel = Kernel(
        "mov.u32 %r6, 0;\nLOOP:\nadd.u32 %r6, %r6, 4;\nld.global.u32 %r7, [%rd1];\n"
        "xor.b32 %r7, %r7, %r3;\nsetp.eq.u32 %p2, %r7, 0;\n@!%p2 bra LOOP;\n"
        "MEET:\nst.shared.u32 [%r6], %r3;\nsetp.lt.u32 %p1, %r6, %r1;\n@%p1 bra LOOP;"
    )
    assert kernel.address() is None


def test_a_ring_of_buffers_is_bounded() -> None:
    kernel = Kernel(
        "mov.u32 %r6, 0;\nmov.u32 %r9, 0;\nLOOP:\nshl.b32 %r7, %r6, 9;\nshl.b32 %r8, %r3, 2;\n"
        "or.b32 %r8, %r8, %r7;\nst.shared.u32 [%r8], %r3;\nadd.u32 %r6, %r6, 1;\n"
        "setp.gt.u32 %p2, %r6, 3;\nselp.b32 %r6, 0, %r6, %p2;\nadd.u32 %r9, %r9, 1;\n"
        "setp.lt.u32 %p1, %r9, %r1;\n@%p1 bra LOOP;"
    )
    assert steps(kernel.address()) == [4 * t for t in TID] and kernel.address().zeros == 9


def test_two_copies_of_one_loop_do_not_share_their_variables() -> None:
    one = "mov.u32 %r6, 0;\n{0}:\nst.shared.u32 [%r6], %r3;\nadd.u32 %r6, %r6, 4;\n"
    one += "setp.lt.s32 %p1, %r6, %r1;\n@%p1 bra {0};\n"
    kernel = Kernel(one.format("A") + one.format("B"))
    first, second = kernel.address(0), kernel.address(1)
    assert first.terms[0][0] is not second.terms[0][0]


def test_phis_that_only_pass_one_value_on() -> None:
    kernel = Kernel(
        "shl.b32 %r8, %r3, 2;\nmov.u32 %r6, 0;\nLOOP:\nmov.u32 %r9, %r8;\n"
        "and.b32 %r10, %r6, 1;\nsetp.eq.u32 %p2, %r10, 0;\n@%p2 bra EVEN;\n"
        "mov.u32 %r9, %r8;\nEVEN:\nmov.u32 %r8, %r9;\nadd.u32 %r6, %r6, 1;\n"
        "setp.lt.u32 %p1, %r6, %r1;\n@%p1 bra LOOP;\nst.shared.u32 [%r8], %r3;"
    )
    assert exact(kernel.address()) == [4 * t for t in TID]


DIAMOND = "{test}\n@%p1 bra A;\nadd.u32 %r20, %r3, {no};\nbra J;\nA:\nadd.u32 %r20, %r3, {yes};\nJ:"


def test_a_join_after_a_uniform_branch() -> None:
    test = "setp.lt.u32 %p1, %r1, 7;"
    found = Kernel(DIAMOND.format(test=test, no=64, yes=128) + STORE).operand("%r20")
    assert steps(found) == TID and found.zeros == 6 and found.scope == GRID


def test_a_join_after_a_branch_that_is_known_by_thread() -> None:
    test = "setp.lt.u32 %p1, %r3, 8;"
    found = Kernel(DIAMOND.format(test=test, no=64, yes=128) + STORE).operand("%r20")
    assert exact(found) == [t + (128 if t < 8 else 64) for t in TID]


def test_a_join_in_a_region_of_two_such_branches() -> None:
    body = """
      setp.lt.u32 %p1, %r3, 8;
      @%p1 bra A;
      setp.gt.u32 %p2, %r3, 40;
      @%p2 bra A;
      mov.u32 %r20, 1;
      bra J;
    A:
      mov.u32 %r20, 2;
    J:"""
    found = Kernel(body + STORE).operand("%r20")
    assert exact(found) == [2 if t < 8 or t > 40 else 1 for t in TID]


def test_a_join_after_a_branch_on_data() -> None:
    test = "ld.global.u32 %r9, [%rd1];\nadd.u32 %r9, %r9, %r3;\nsetp.lt.u32 %p1, %r9, 7;"
    assert Kernel(DIAMOND.format(test=test, no=64, yes=128) + STORE).operand("%r20") is None
    # The same either way, the choice does not matter.
    assert exact(Kernel(DIAMOND.format(test=test, no=5, yes=5) + STORE).operand("%r20"), 2)


def test_a_join_before_all_lanes_have_met() -> None:
    # OUT is where all meet; lanes come to Z from both sides of the first branch before that.
    body = """
      ld.global.u32 %r9, [%rd1];
      xor.b32 %r9, %r9, %r3;
      mov.u32 %r20, 64;
      setp.lt.u32 %p1, %r9, 7;
      @%p1 bra Y;
      setp.lt.u32 %p2, %r1, 5;
      @%p2 bra OUT;
      bra Z;
    Y:
      mov.u32 %r20, 128;
    Z:
      st.shared.u32 [%r20], %r3;
    OUT:
      bar.sync 0;"""
    assert Kernel(body).address() is None


def test_a_branch_of_whole_warps_is_shared_by_the_warp_only() -> None:
    test = "setp.lt.u32 %p1, %r3, 32;\nselp.b32 %r8, %r1, %r2, %p1;\nsetp.gt.u32 %p1, %r8, 5;"
    assert Kernel(DIAMOND.format(test=test, no=64, yes=128) + STORE).operand("%r20") is None
    shuffled = "shfl.sync.idx.b32 %r8, %r3, %r1, 31, -1;\nsetp.gt.u32 %p1, %r8, 5;"
    found = Kernel(DIAMOND.format(test=shuffled, no=64, yes=128) + STORE).operand("%r20")
    assert steps(found) == TID and found.scope == WARP
    assert any("shuffles" in text for text in found.assumed)


def test_shuffles_from_one_lane() -> None:
    body = "shr.u32 %r8, %r3, 5;\nshfl.sync.idx.b32 %r20, %r8, 0, 31, -1;"
    assert exact(Kernel(body + STORE).operand("%r20")) == [t >> 5 for t in TID]
    # Segments of 16 lanes: lane 0 of each segment, not of the warp.
    assert Kernel(body.replace("31, -1", "0x101f, -1") + STORE).operand("%r20") is None
    assert (
        Kernel(body.replace("idx", "up").replace(", 0, 31", ", 1, 0") + STORE).operand("%r20")
        is None
    )


@pytest.mark.parametrize(
    ("load", "known"),
    [
        ("ld.global.u32 %r20, [%rd1];", True),
        ("ld.volatile.global.u32 %r20, [%rd1];", False),
        ("atom.global.add.u32 %r20, [%rd1], 1;", False),
        ("mul.wide.u32 %rd2, %r3, 4; ld.global.u32 %r20, [%rd2];", False),
        ("ld.local.u32 %r20, [%rd1];", False),
        ("activemask.b32 %r20;", False),
        ("add.cc.u32 %r8, %r3, -9; addc.u32 %r20, 0, 0;", False),
        ("mov.u32 %r20, %clock;", False),
        ("elect.sync %r20|%p3, -1;", False),
        ("vote.sync.ballot.b32 %r20, %p3, -1;", True),
    ],
)
def test_what_is_the_same_in_all_lanes(load: str, known: bool) -> None:
    found = Kernel(f"setp.lt.u32 %p3, %r3, 5;\n{load}" + STORE).operand("%r20")
    assert (found is not None) == known
    if found is not None:
        assert found.is_uniform and found.scope == WARP and found.assumed


def test_generic_loads_may_hit_the_stack() -> None:
    load = "ld.u32 %r20, [%rd1];" + STORE
    assert Kernel(load).operand("%r20") is not None
    assert Kernel(".local .b8 stack[16];\n" + load).operand("%r20") is None


def test_bound_checks_agree_in_an_interior_warp() -> None:
    body = "mad.lo.s32 %r6, %r4, %r5, %r3;\nsetp.lt.s32 %p1, %r6, %r1;\n"
    body += "selp.b32 %r20, %r3, 0, %p1;\nadd.u32 %r21, %r3, 64;\nselp.b32 %r20, %r3, %r21, %p1;"
    assert Kernel(body + STORE).operand("%r20") is None
    found = Kernel(body + STORE, of=interior_patterns).operand("%r20")
    assert steps(found) == TID and any("border" in text for text in found.assumed)


def test_predicates_are_exact_where_sides_share_what_is_unknown() -> None:
    body = "add.u32 %r6, %r1, %r3;\nadd.u32 %r7, %r1, 9;\nsetp.lt.u32 %p1, %r6, %r7;"
    found = Kernel(body + "\nselp.b32 %r20, 1, 0, %p1;" + STORE).operand("%r20")
    assert exact(found) == [int(t < 9) for t in TID]
    assert "index arithmetic does not wrap around" in found.assumed
    equal = body.replace("setp.lt", "setp.eq")
    found = Kernel(equal + "\nselp.b32 %r20, 1, 0, %p1;" + STORE).operand("%r20")
    assert exact(found) == [int(t == 9) for t in TID] and not found.assumed


def test_logic_of_predicates() -> None:
    body = "setp.lt.u32 %p1, %r3, 9;\nsetp.gt.u32 %p2, %r3, 4;\n"
    for logic, truth in (
        ("and.pred %p3, %p1, %p2;", lambda t: 4 < t < 9),
        ("or.pred %p3, %p1, !%p2;", lambda t: t < 9 or t <= 4),
        ("xor.pred %p3, %p1, %p2;", lambda t: (t < 9) != (t > 4)),
        ("not.pred %p3, %p1;", lambda t: t >= 9),
        ("setp.ge.and.u32 %p3|%p4, %r3, 6, %p1;", lambda t: 6 <= t < 9),
    ):
        found = Kernel(f"{body}{logic}\nselp.b32 %r20, 1, 0, %p3;" + STORE).operand("%r20")
        assert exact(found) == [int(truth(t)) for t in TID], logic


def test_a_block_is_shared_beyond_the_warp() -> None:
    found = Kernel("add.u32 %r20, %r4, %r3;" + STORE).operand("%r20")
    assert found.scope == BLOCK and found.loops == 0
