"""Liveness worked out by hand; tests/oracle holds it to executions."""

from __future__ import annotations

from ptxlint import parse
from ptxlint.analysis.facts import Facts
from ptxlint.analysis.flow.graph import control_flow
from ptxlint.analysis.flow.liveness import liveness
from ptxlint.analysis.flow.registers import register_use
from ptxlint.engine.options import Options

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %p<3>;
"""


def peak(body: str) -> tuple[int, set[str]]:
    """The instruction with most registers, and their names."""
    module = parse(HEAD + body + "}")
    facts = Facts(module, Options())
    kernel = module.kernels[0]
    at, live = facts.once(kernel, liveness).peak()
    use = facts.once(kernel, register_use)
    return at, {use.name(n) for n in range(len(use.registers)) if live >> n & 1}


def before(body: str) -> set[str]:
    """The registers live on entry."""
    module = parse(HEAD + body + "}")
    facts = Facts(module, Options())
    kernel = module.kernels[0]
    assert facts.once(kernel, control_flow).blocks
    live = facts.once(kernel, liveness).live_in[0]
    use = facts.once(kernel, register_use)
    return {use.name(n) for n in range(len(use.registers)) if live >> n & 1}


def test_peak_in_a_straight_line() -> None:
    # After the third load p and three values are wanted; the first add needs no more.
    body = """
      ld.param.u64 %d1, [p];
      ld.global.u32 %r1, [%d1];
      ld.global.u32 %r2, [%d1+4];
      ld.global.u32 %r3, [%d1+8];
      add.u32 %r4, %r1, %r2;
      add.u32 %r4, %r4, %r3;
      st.global.u32 [%d1], %r4;
      ret;"""
    at, live = peak(body)
    assert at in (3, 4)
    assert live == {"%d1", "%r3", *({"%r1", "%r2"} if at == 3 else {"%r4"})}


def test_peak_in_a_loop() -> None:
    # In the loop: the pointer, the sum, the counter, the value loaded; the predicate replaces it.
    body = """
      ld.param.u64 %d1, [p];
      mov.u32 %r1, 0;
      mov.u32 %r2, 0;
    L:
      ld.global.u32 %r3, [%d1];
      add.u32 %r1, %r1, %r3;
      add.u32 %r2, %r2, 1;
      setp.lt.u32 %p1, %r2, 9;
      @%p1 bra L;
      st.global.u32 [%d1], %r1;
      ret;"""
    _, live = peak(body)
    assert len(live) == 4
    assert {"%d1", "%r1", "%r2"} <= live


def test_the_same_guard_defines_and_uses() -> None:
    body = "setp.eq.u32 %p1, 1, 2; @%p1 mov.u32 %r1, 5; @%p1 st.shared.u32 [0], %r1; ret;"
    assert before(body) == set()


def test_another_guard_does_not() -> None:
    setup = "setp.eq.u32 %p1, 1, 2; setp.eq.u32 %p2, 1, 3; @%p1 mov.u32 %r1, 5;"
    assert before(f"{setup} @%p2 st.shared.u32 [0], %r1; ret;") == {"%r1"}
    assert before(f"{setup} @!%p1 st.shared.u32 [0], %r1; ret;") == {"%r1"}


def test_a_guard_with_a_new_value_is_another() -> None:
    body = """setp.eq.u32 %p1, 1, 2; @%p1 mov.u32 %r1, 5; setp.eq.u32 %p1, 1, 3;
      @%p1 st.shared.u32 [0], %r1; ret;"""
    assert before(body) == {"%r1"}
