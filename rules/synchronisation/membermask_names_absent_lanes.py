"""## What it does

Reports a `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync` or `bar.warp.sync`

- whose mask names lanes that are alive and can't execute it with the others: they are in the other
  arm of a branch on the lane, or their guard is false;
- that reads, in a lane which uses the value, a lane that has left the kernel or that the block
  does not have.

## Why it matters

The lanes that a mask names must execute the same operation with the same mask, else the result is
undefined (PTX ISA, `shfl.sync`). Nothing says so: ptxas 13.5 is silent, and
`compute-sanitizer --tool synccheck` reported no error on such kernels. On an H200 (sm_90) a
`shfl.sync.bfly` with the full mask in half a warp gave 0 for each absent partner: a sum that is
too small. Another GPU or another version of ptxas may hang there.

Lanes that have exited may be named (`if (i >= n) return;` before a full mask), since the operation
does not wait for them; only their values must not be used.

## Example

```ptx
setp.lt.u32 %p1, %lane, 16;
@!%p1 bra REST;
shfl.sync.bfly.b32 %r3, %r2, 8, 31, 0xffffffff;
REST:
st.global.u32 [%rd3], %r3;
```

## Fix

Shuffle before the branch, or name the lanes that are there: `0x0000ffff`.

## Limits

Who executes an operation is known where branches and guards depend on the thread's index and on
numbers, or are the same for a whole warp; elsewhere nothing is said. Silent too where the other
arm holds the same operation with the same mask, a call, or a way out of the kernel. Bound checks
are taken to agree in all lanes where nothing else is known (printed). A value from a lane that has
left is reported where a lane that read it stores it, branches on it or makes an address of it: the
upper half of a sum over a half warp is garbage that nobody wants.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.masks.faults import ABSENT, UNREAD, MaskFault
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
    code="PTX202",
    name="membermask-names-absent-lanes",
    category="synchronisation",
    severity=Severity.WARNING,
    summary="a member mask that names lanes which are elsewhere, or a value from a lane not there",
    mnemonics=frozenset({"shfl", "vote", "match", "redux", "elect", "bar"}),
    screen="masks.suspects:suspects",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each opcode and cause."""
    for faults in faults_of(function, facts, ABSENT, UNREAD):
        finding = _absent if faults[0].kind == ABSENT else _unread
        yield finding(faults, function, facts)


def _absent(faults: list[MaskFault], function: Function, facts: Facts) -> Finding:
    fault = faults[0]
    there = mask_text(fault.mask & (fault.executing or 0))
    reads = "undefined in the PTX ISA; ptxas says nothing"
    if fault.source is not None and fault.lanes >> fault.source & 1:
        reads = gives_note(fault)
    notes, lines = more(faults, facts)
    return RULE.finding(
        f"the mask {mask_text(fault.mask)} of `{fault.operation.opcode}` names"
        f" {lanes_text(fault.lanes)}, alive and not there to execute it",
        facts.span(fault.operation.instruction),
        labels=labels_of(fault, function, facts),
        notes=(*executing_note(fault), reads, *notes),
        help=f"move it to where all named lanes pass, or name those that are there: {there}",
        assumptions=fault.assumptions,
        witness=witness(fault, function, facts),
        data={"absent": mask_text(fault.lanes), "lines": lines},
    )


def _unread(faults: list[MaskFault], function: Function, facts: Facts) -> Finding:
    fault = faults[0]
    why = "has left the kernel" if fault.branch is not None else "is not in the block"
    notes, lines = more(faults, facts)
    return RULE.finding(
        f"lane {fault.lane} reads lane {fault.source} by `{fault.operation.opcode}`, and that"
        f" lane {why}",
        facts.span(fault.operation.instruction),
        labels=labels_of(fault, function, facts),
        notes=(*executing_note(fault), gives_note(fault), *notes),
        help="read from lanes that are there: a smaller distance, a clamp at the last of them, or"
        " the shuffle before the others leave",
        assumptions=fault.assumptions,
        witness=witness(fault, function, facts),
        data={"readers": mask_text(fault.lanes), "lines": lines},
    )
