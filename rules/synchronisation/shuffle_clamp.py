"""## What it does

Reports a `shfl` whose constant operand c (the clamp) leaves every lane with its own value: `.up`
with clamp 31, `.down` with clamp 0, `.idx` with clamp 0 and a lane other than 0. Also `.bfly` with
clamp 0, where one lane alone gets another's.

## Why it matters

The clamp is the last lane to read from, for `.up` the first. Out of range means that the lane keeps
its own value, without a fault and with the predicate false: a sum over the warp becomes 32 times
the lane's own. For `.up` the clamp is 0, for the other modes 31; the two are easily confused, and
ptxas 13.5 takes both.

## Example

```ptx
shfl.sync.up.b32 %r1, %r2, 1, 31, 0xffffffff;
```

## Fix

0 for `.up`, 31 for `.down`, `.bfly` and `.idx` over the whole warp.

```ptx
shfl.sync.up.b32 %r1, %r2, 1, 0, 0xffffffff;
```

## Limits

Constant operands only. Where c has segment bits (8 to 12) nothing is said: a shuffle within
segments of one lane, as templates make it, leaves every lane with its own value on purpose. A
distance of 0 is not reported, nor is `.idx` with a lane in a register.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction, Integer

RULE = Rule(
    code="PTX207",
    name="shuffle-clamp",
    category="synchronisation",
    severity=Severity.WARNING,
    summary="a shuffle whose clamp leaves every lane with its own value",
    mnemonics=frozenset({"shfl"}),
)

_LANES = 0x1F
_SEGMENTS = 0x1F00
_NEEDLESS = {"up": 31, "down": 0, "bfly": 0, "idx": 0}
_RIGHT = {"up": 0, "down": 31, "bfly": 31, "idx": 31}


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such shuffle."""
    for instruction in facts.of_mnemonics(function, RULE.mnemonics):
        mode = next((m for m in instruction.opcode.modifiers if m in _RIGHT), None)
        if mode is not None and _keeps_own(mode, instruction):
            yield _finding(mode, instruction, facts)


def _keeps_own(mode: str, instruction: Instruction) -> bool:
    """Whether the constants leave every lane with its own value."""
    if len(instruction.operands) not in (4, 5):
        return False
    lane, clamp = instruction.operands[2:4]
    if not isinstance(clamp, Integer) or clamp.value & _SEGMENTS:
        return False
    if clamp.value & _LANES != _NEEDLESS[mode]:
        return False
    if isinstance(lane, Integer):
        return lane.value & _LANES != 0
    return mode != "idx"


def _finding(mode: str, instruction: Instruction, facts: Facts) -> Finding:
    clamp = _NEEDLESS[mode]
    lanes = "all lanes but one with their" if mode == "bfly" else "every lane with its"
    side = "reads from no lane below" if mode == "up" else "reads from no lane above"
    return RULE.finding(
        f"`{instruction.opcode}` with clamp {clamp} leaves {lanes} own value",
        facts.span(instruction),
        notes=(f"`.{mode}` {side} the clamp; a lane out of range keeps its own value",),
        help=f"for the whole warp, write {_RIGHT[mode]} as operand c",
        data={"mode": mode, "clamp": clamp},
    )
