"""## What it does

Reports a barrier of the block that some lanes of a warp, or whole warps, pass by and go on: to
other work, or to another barrier.

## Why it matters

`bar.sync` waits for all threads of the block (or as many as it names), counted in warps. Where
lanes of one warp do not come, the warp waits with those that do, or is counted as if all had come,
by the GPU and the way the assembler lays the code out: the others read what is not written yet,
or nobody goes on. Where whole warps skip one barrier and wait at the next, the two meet each
other, one turn off. ptxas takes all of it without a word.

## Example

```ptx
setp.ge.u32 %p1, %r1, 20;      // %r1: %tid.x
@%p1 bra PAST;
...
bar.sync 0;
PAST:
ld.shared.u32 %r7, [%r6];
```

## Fix

Move the barrier to where all threads come by.

## Limits

Only where it is known which threads come: guards made of the thread's coordinates and numbers.
A bound check against a parameter may hold for all threads of each warp, and is not reported.
Lanes that have exited, or do nothing more that others notice, need not come. Two copies of a
barrier in the arms of a branch are PTX211's.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.barriers.collective import is_barrier
from ptxlint.analysis.barriers.parted import WARPS, Parted, parted
from ptxlint.analysis.masks.words import lanes_text
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX210",
    name="divergent-barrier",
    category="synchronisation",
    severity=Severity.WARNING,
    summary="a barrier of the block that lanes or warps pass by and go on",
    mnemonics=frozenset({"bar", "barrier"}),
    screen="barriers.collective:suspects",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each branch that parts them, at the first barrier."""
    groups: dict[int, list[Parted]] = {}
    for each in facts.once(function, parted):
        if is_barrier(each.instruction.opcode) and each.copy is None:
            groups.setdefault(id(each.branch), []).append(each)
    for group in groups.values():
        yield _finding(group, facts)


def _finding(group: list[Parted], facts: Facts) -> Finding:
    first = group[0]
    more, lines = at_lines([each.instruction.start for each in group[1:]], facts)
    if first.kind == WARPS:
        who = f"warp {first.warp} passes by"
        why = "it goes on to another barrier, and the two are taken for one"
    else:
        absent = first.there & ~(first.executing or 0)
        who = f"of warp {first.warp} {lanes_text(absent)} pass by"
        why = "they are alive and go on: those that wait may wait for ever, or not at all"
    guarded = first.branch is first.instruction
    labels = () if guarded else (Label(facts.span(first.branch), "here threads part"),)
    return RULE.finding(
        f"`{first.instruction.opcode}` is not reached by all threads: {who}",
        facts.span(first.instruction),
        labels=labels,
        notes=(why, *more),
        help="put the barrier where all threads of the block come by",
        assumptions=first.assumptions,
        data={
            "warp": first.warp,
            "executing": first.executing,
            "there": first.there,
            "lines": lines,
        },
    )
