"""## What it does

Reports a `shfl` whose constant operand c (the clamp) leaves every lane with its own value: `.up`
with clamp 31, `.down` with clamp 0, `.idx` with clamp 0 and a lane other than 0. Also `.bfly` with
clamp 0, where one lane alone gets another's. In segments the same holds of each.

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

Operands that are numbers, written out or put into the register by one `mov`. In segments (bits 8
to 12 of operand c, as for logical warps of 16 lanes) the clamp counts within the segment; segments
of one lane, as templates make them, leave every lane with its own value on purpose. A distance of 0
is not reported, nor is `.idx` with a lane in a register.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.masks.numbers import number_at
from ptxlint.analysis.masks.operations import shuffle_mode
from ptxlint.isa.shuffles import clamp_of
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction

RULE = Rule(
    code="PTX207",
    name="shuffle-clamp",
    category="synchronisation",
    severity=Severity.WARNING,
    summary="a shuffle whose clamp leaves every lane with its own value",
    mnemonics=frozenset({"shfl"}),
)

_LANES = 0x1F
_NEEDLESS = {"up": 31, "down": 0, "bfly": 0, "idx": 0}
_RIGHT = {"up": 0, "down": 31, "bfly": 31, "idx": 31}


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such shuffle."""
    for instruction in facts.of_mnemonics(function, RULE.mnemonics):
        mode = shuffle_mode(instruction.opcode)
        if mode is None or len(instruction.operands) not in (4, 5):
            continue
        clamp = number_at(function, facts, instruction.operands[3])
        if clamp is not None and _keeps_own(mode, clamp):
            lane = number_at(function, facts, instruction.operands[2])
            if _moves_values(mode, lane, clamp):
                yield _finding(mode, clamp, instruction, facts)


def _moves_values(mode: str, lane: int | None, c: int) -> bool:
    """Whether operand b says that lanes are to read others: a distance of 0 is meant as it is, and
    the first lane of each segment is a plain broadcast.
    """
    if mode == "idx":
        return lane is not None and lane & ~clamp_of(c).segments & _LANES != 0
    return lane is None or lane & _LANES != 0


def _keeps_own(mode: str, c: int) -> bool:
    """Whether the clamp is at the wrong end of each segment of more than one lane."""
    last, segments = clamp_of(c)
    free = ~segments & _LANES
    return free != 0 and last & free == _NEEDLESS[mode] & free


def _finding(mode: str, c: int, instruction: Instruction, facts: Facts) -> Finding:
    clamp, segments = clamp_of(c)
    lanes = "all lanes but one with their" if mode == "bfly" else "every lane with its"
    each = f" (of each segment of {32 - segments} lanes)" if segments else ""
    side = "reads from no lane below" if mode == "up" else "reads from no lane above"
    right = segments << 8 | _RIGHT[mode]
    width = f"segments of {32 - segments} lanes" if segments else "the whole warp"
    return RULE.finding(
        f"`{instruction.opcode}` with clamp {clamp} leaves {lanes} own value{each}",
        facts.span(instruction),
        notes=(f"`.{mode}` {side} the clamp; a lane out of range keeps its own value",),
        help=f"for {width}, write {right:#x} as operand c"
        if segments
        else f"for the whole warp, write {right} as operand c",
        data={"mode": mode, "clamp": clamp, "segments": segments},
    )
