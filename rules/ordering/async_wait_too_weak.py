"""## What it does

Reports a read of shared memory whose copy the wait before it leaves in flight.

## Why it matters

`cp.async.wait_group N` returns when all but the last N groups are there. A pipeline that reads the
group it has just committed needs 0; with 1 it reads what the copy has not brought, in some runs.

## Example

```ptx
cp.async.cg.shared.global [left], [%rd8], 16;
cp.async.commit_group;
cp.async.cg.shared.global [right], [%rd9], 16;
cp.async.commit_group;
cp.async.wait_group 1;         // right may still be on its way
bar.sync 0;
ld.shared.u32 %r6, [right];
```

## Fix

A smaller number: so many groups as were committed after the one that is read.

## Limits

Within a block of straight code, where the copies' and the read's places are known: the ring
buffers of pipelines are not followed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.ordering.copies import TOO_WEAK, EarlyRead, early_reads, named
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX506",
    name="async-wait-too-weak",
    category="ordering",
    severity=Severity.WARNING,
    summary="a wait for asynchronous copies that leaves in flight what is read",
    mnemonics=frozenset({"cp"}),
    screen="ordering.copies:has_copies",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such read."""
    for found in facts.once(function, early_reads):
        if found.why == TOO_WEAK and found.wait is not None:
            yield _finding(found, facts)


def _finding(found: EarlyRead, facts: Facts) -> Finding:
    assert found.wait is not None
    groups = "group" if found.pending == 1 else "groups"
    return RULE.finding(
        f"`{found.read.opcode}` reads {named(found.variable)}, whose copy may be in flight still",
        facts.span(found.read),
        labels=(
            Label(facts.span(found.copy), "the copy starts here"),
            Label(facts.span(found.wait), f"this leaves {found.pending} {groups} in flight"),
        ),
        help="let the wait leave only groups that were committed after the one that is read",
        data={"pending": found.pending},
    )
