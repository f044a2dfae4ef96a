"""## What it does

Reports a `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync` or `bar.warp.sync`
that a lane executes whose own bit is not in its mask, and one whose mask is 0.

## Why it matters

The behaviour is undefined where the executing thread is not in its member mask (PTX ISA,
`shfl.sync` and the others). ptxas 13.5 says nothing. Where it can prove that the whole warp is
together it drops the mask, and then nothing happens today; where it can't, the lane waits for a
group that it is not part of.

## Example

```ptx
// all 32 lanes
vote.sync.any.pred %p1, %p2, 0x0000ffff;
```

## Fix

Give each lane the mask of the group that it is in: `0xffffffff` for the whole warp, or, for half
warps, `0xffff << (lane & 16)`.

## Limits

Who executes an operation is known where branches and guards depend on the thread's index and on
numbers, or are the same for a whole warp; masks are known where they are made of these. An info
where the block's shape is not told and the mask is right for a block of just those lanes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.masks.faults import MISSES, MaskFault
from ptxlint.analysis.masks.words import executing_note, faults_of, mask_text, more, witness
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX203",
    name="membermask-misses-lanes",
    category="synchronisation",
    severity=Severity.WARNING,
    summary="a lane that executes a warp operation and is not in its member mask",
    mnemonics=frozenset({"shfl", "vote", "match", "redux", "elect", "bar"}),
    screen="masks.suspects:suspects",
)

_SMALL_BLOCKS = frozenset({0x1, 0x3, 0xF, 0xFF, 0xFFFF})


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each opcode and cause."""
    for faults in faults_of(function, facts, MISSES):
        yield _finding(faults, function, facts)


def _finding(faults: list[MaskFault], function: Function, facts: Facts) -> Finding:
    fault = faults[0]
    opcode, mask = fault.operation.opcode, mask_text(fault.mask)
    what = f"lane {fault.lane} executes `{opcode}` and is not in its mask, {mask}"
    if not fault.mask:
        what = f"the mask of `{opcode}` is 0: it names no lane, not even those that execute it"
    small = not fault.told and fault.mask in _SMALL_BLOCKS
    block = f"right in a block of {fault.mask.bit_length()} threads or fewer"
    notes, lines = more(faults, facts)
    executing = f": {mask_text(fault.executing)}" if fault.executing else ""
    return RULE.finding(
        what,
        facts.span(fault.operation.instruction),
        severity=Severity.INFO if small else RULE.severity,
        notes=(
            *executing_note(fault),
            "undefined in the PTX ISA; ptxas says nothing, and drops the mask where it can prove"
            " that the warp is together",
            *((block,) if small else ()),
            *notes,
        ),
        help=f"name all lanes that execute it{executing}",
        assumptions=fault.assumptions,
        witness=witness(fault, function, facts),
        data={"missing": mask_text(fault.lanes), "lines": lines},
    )
