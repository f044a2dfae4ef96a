"""## What it does

Reports a `shfl.sync` by which a lane reads another that its member mask does not name, and uses the
value. Lane, distance, clamp and mask are known for each thread.

## Why it matters

Only values of lanes in the mask are defined (PTX ISA, `shfl.sync`). Neither ptxas 13.5 nor
`compute-sanitizer --tool synccheck` says anything. On an H200 (sm_90) such a lane got 0 from one
that was not there, and the right value from one that happened to run the shuffle at the same time:
it works until the lanes part, since the masks hold no two groups together.

## Example

```ptx
// mask 0xffff << (lane & 16): two groups of 16
shfl.sync.bfly.b32 %r3, %r2, 16, 31, %mask;
```

## Fix

A distance that stays in the group (8, 4, 2, 1 in 16 lanes), a segment mask in operand c (0x101f for
16 lanes) that keeps the source inside, or the mask of all lanes that are read.

## Limits

Silent where the value is used by no lane that got it wrongly, as far as it can be followed: sums
over a half warp read beyond it in their upper lanes, and only lane 0 keeps its sum. Followed are
arithmetic, moves, selections and shuffles between known lanes, not memory. Where it is not known
who executes the shuffle, the lanes of the mask are taken to, and only uses in the same straight
run of code count.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.masks.faults import OUTSIDE, MaskFault
from ptxlint.analysis.masks.words import (
    executing_note,
    faults_of,
    gives_note,
    labels_of,
    lanes_text,
    mask_text,
    more,
    witness,
)
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX204",
    name="shuffle-source-outside-mask",
    category="synchronisation",
    severity=Severity.WARNING,
    summary="a shuffle that reads a lane outside its member mask",
    mnemonics=frozenset({"shfl"}),
    screen="masks.suspects:suspects",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each opcode and cause."""
    for faults in faults_of(function, facts, OUTSIDE):
        yield _finding(faults, function, facts)


def _finding(faults: list[MaskFault], function: Function, facts: Facts) -> Finding:
    fault = faults[0]
    readers = f"{lanes_text(fault.lanes)} of warp {fault.warp} so read outside the mask"
    notes, lines = more(faults, facts)
    return RULE.finding(
        f"lane {fault.lane} reads lane {fault.source} by `{fault.operation.opcode}`, which its mask"
        f" {mask_text(fault.mask)} does not name",
        facts.span(fault.operation.instruction),
        labels=labels_of(fault, function, facts),
        notes=(*executing_note(fault), readers, gives_note(fault), *notes),
        help="keep the distance or the segment within the mask, or name the lanes that are read",
        assumptions=fault.assumptions,
        witness=witness(fault, function, facts),
        data={"readers": mask_text(fault.lanes), "lines": lines},
    )
