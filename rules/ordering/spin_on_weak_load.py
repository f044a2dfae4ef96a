"""## What it does

Reports a loop that waits for another thread by a plain load, and nothing else.

## Why it matters

A weak load need not be made again: nothing in the loop can change what it reads, as far as the
memory model goes, so that one value does for all turns (PTX ISA, "Memory Consistency Model").
ptxas 13.5 makes one load and an endless branch of it, or no loop at all: the kernel hangs, or goes
on before the other is done. What is read after it is not ordered either.

## Example

```ptx
AGAIN:
ld.global.u32 %r1, [%rd4];
setp.eq.u32 %p1, %r1, 0;
@%p1 bra AGAIN;
```

## Fix

`ld.acquire.gpu.global.u32` (in CUDA `cuda::atomic_ref`, `load(memory_order_acquire)`);
`ld.volatile` keeps the loop but orders nothing.

## Limits

Silent where the loop has a strong access, a fence, a barrier, a store, an atomic or a call, where
the address changes from turn to turn, and where another condition ends it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.ordering.polls import Poll, weak_polls
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX502",
    name="spin-on-weak-load",
    category="ordering",
    severity=Severity.WARNING,
    summary="a loop that waits on a plain load",
    mnemonics=frozenset({"ld", "ldu"}),
    screen="ordering.polls:may_poll",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such loop, at the load."""
    for poll in facts.once(function, weak_polls):
        yield _finding(poll, facts)


def _finding(poll: Poll, facts: Facts) -> Finding:
    return RULE.finding(
        f"the loop waits on `{poll.load.opcode}`, which need not be made again",
        facts.span(poll.load),
        labels=(Label(facts.span(poll.branch), "nothing else ends the loop"),),
        notes=("ptxas loads once: the loop runs for ever, or not at all",),
        help="`ld.acquire.gpu` (or `.sys`), which is made each time and orders what comes after",
    )
