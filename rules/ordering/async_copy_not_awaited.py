"""## What it does

Reports a read of shared memory that a `cp.async` is still to fill: in a kernel that waits for no
copy, or where the wait comes before the copy is committed to a group.

## Why it matters

`cp.async` only starts a copy; what it brings is there after a wait for its group and a barrier for
the other threads. `cp.async.wait_group` waits for groups, and a copy is in none until
`cp.async.commit_group`: without it the wait returns at once. The read gets what was there before,
in some runs.

## Example

```ptx
cp.async.cg.shared.global [%r4], [%rd6], 16;
cp.async.commit_group;
bar.sync 0;                    // no wait
ld.shared.u32 %r6, [%r5];
```

## Fix

`cp.async.wait_group 0;` (or `cp.async.wait_all;`) before the barrier, with a `commit_group` behind
the copies.

## Limits

A kernel with a wait is judged within a block of straight code, where places are known: the ring
buffers of pipelines are not followed. Copies that arrive at an mbarrier count as waited for.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.ordering.copies import (
    NO_WAIT,
    NOT_COMMITTED,
    EarlyRead,
    early_reads,
    named,
)
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX505",
    name="async-copy-not-awaited",
    category="ordering",
    severity=Severity.WARNING,
    summary="shared memory read while an asynchronous copy fills it, with no wait for it",
    mnemonics=frozenset({"cp"}),
    screen="ordering.copies:has_copies",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such read."""
    for found in facts.once(function, early_reads):
        if found.why in (NO_WAIT, NOT_COMMITTED):
            yield _finding(found, facts)


def _finding(found: EarlyRead, facts: Facts) -> Finding:
    labels = [Label(facts.span(found.copy), "the copy starts here")]
    why = "nothing in the kernel waits for a copy"
    helps = "`cp.async.wait_group 0;` and a barrier before the read"
    if found.wait is not None:
        labels.append(Label(facts.span(found.wait), "this wait does not cover it"))
        why = "the copy is in no group: no `cp.async.commit_group` between it and the wait"
        helps = "`cp.async.commit_group;` between the copy and the wait"
    return RULE.finding(
        f"`{found.read.opcode}` reads {named(found.variable)} before the copy into it is awaited",
        facts.span(found.read),
        labels=tuple(labels),
        notes=(why,),
        help=helps,
    )
