"""Induction variables and trip counts of small loops; tests/oracle holds them to executions."""

from __future__ import annotations

import pytest

from ptxlint import parse
from ptxlint.analysis.facts import Facts
from ptxlint.analysis.flow.induction import Induction, induction
from ptxlint.engine.options import Options
from ptxlint.execute import Launch, Observer, Step, run

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 n) {{
  .reg .b32 %r<8>; .reg .pred %p<2>;
  ld.param.u32 %r7, [n];
  mov.u32 %r1, {start};
LOOP:
  {body}
  ret;
}}
"""
# start, body, step, how often the header runs
COUNTED = [
    ("0", "add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 10; @%p1 bra LOOP;", 1, 10),
    ("0", "add.s32 %r1, %r1, 4; setp.ne.s32 %p1, %r1, 64; @%p1 bra LOOP;", 4, 16),
    ("0", "add.s32 %r1, %r1, 1; setp.ge.u32 %p1, %r1, 7; @!%p1 bra LOOP;", 1, 7),
    ("9", "sub.s32 %r1, %r1, 2; setp.gt.s32 %p1, %r1, -4; @%p1 bra LOOP;", -2, 7),
    ("9", "sub.s32 %r1, %r1, 2; setp.le.s32 %p1, -3, %r1; @%p1 bra LOOP;", -2, 7),
    ("0", "setp.eq.s32 %p1, %r1, 5; @%p1 ret; add.s32 %r1, %r1, 1; bra LOOP;", 1, 6),
    ("30", "setp.gt.u32 %p1, %r1, 5; @%p1 ret; add.s32 %r1, %r1, 1; bra LOOP;", 1, 1),
    ("0", "mov.u32 %r2, %r1; add.s32 %r3, %r2, 3; mov.u32 %r1, %r3;"
          " setp.le.s32 %p1, %r3, 12; @%p1 bra LOOP;", 3, 5),
]  # fmt: skip
UNCOUNTED = [
    ("0", "add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, %r7; @%p1 bra LOOP;", 1),
    # past the largest number before the test fails
    ("0", "add.s32 %r1, %r1, 7; setp.le.u32 %p1, %r1, 4294967293; @%p1 bra LOOP;", 7),
    ("0", "add.s32 %r1, %r1, 3; setp.ne.s32 %p1, %r1, 64; @%p1 bra LOOP;", 3),
    # another way out
    ("0", "add.s32 %r1, %r1, 1; setp.eq.s32 %p1, %r7, 3; @%p1 ret;"
          " setp.lt.s32 %p1, %r1, 10; @%p1 bra LOOP;", 1),
]  # fmt: skip
NONE = [
    "shl.b32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 10; @%p1 bra LOOP;",
    "@%p1 add.s32 %r1, %r1, 1; setp.lt.s32 %p1, %r1, 10; @%p1 bra LOOP;",
    "add.s32 %r1, %r1, %r7; setp.lt.s32 %p1, %r1, 10; @%p1 bra LOOP;",
]


def variables(start: str, body: str) -> list[Induction]:
    module = parse(KERNEL.format(start=start, body=body))
    return Facts(module, Options()).once(module.kernels[0], induction)


class Visits(Observer):
    """How often the instruction after the two before the loop is executed."""

    def __init__(self) -> None:
        self.count = 0

    def before(self, step: Step) -> None:
        self.count += step.pc == 2


@pytest.mark.parametrize(("start", "body", "step", "trips"), COUNTED)
def test_counted(start: str, body: str, step: int, trips: int) -> None:
    (variable,) = variables(start, body)
    assert (variable.start, variable.step, variable.trips) == (int(start), step, trips)
    module = parse(KERNEL.format(start=start, body=body))
    visits = Visits()
    run(module, module.kernels[0], Launch(parameters={"n": 0}), visits)
    assert visits.count == trips


@pytest.mark.parametrize(("start", "body", "step"), UNCOUNTED)
def test_not_counted(start: str, body: str, step: int) -> None:
    (variable,) = variables(start, body)
    assert (variable.step, variable.trips) == (step, None)


@pytest.mark.parametrize("body", NONE)
def test_no_induction(body: str) -> None:
    assert variables("1", body) == []
