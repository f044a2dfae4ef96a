"""## What it does

Reports an mbarrier that one thread initialises and another uses with no barrier in between.

## Why it matters

The other thread may come first. It then arrives at, or waits for, an object that is not set up:
its arrival is lost when the object is initialised, and all who wait there wait for ever.

## Example

```ptx
    setp.ne.u32 %p1, %tid, 0;
    @%p1 bra NEXT;
    mbarrier.init.shared::cta.b64 [bar], 128;
NEXT:
    mbarrier.arrive.shared::cta.b64 %rd1, [bar];
```

## Fix

`bar.sync 0` between the two (`__syncthreads()` in CUDA); `barrier.cluster.arrive` and `.wait` where
other CTAs use it. `fence.mbarrier_init` makes the object visible, but makes nobody wait.

## Limits

Only where the block is told, the address is the same for all threads, and it is known which
threads come to both places. Uses by asynchronous copies are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.barriers.exchange_words import thread_text
from ptxlint.analysis.ordering.mbarrier_init import too_early
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX511",
    name="mbarrier-used-before-init-visible",
    category="ordering",
    severity=Severity.WARNING,
    summary="an mbarrier used by other threads with no barrier after its initialisation",
    mnemonics=frozenset({"mbarrier"}),
    screen="ordering.mbarrier_init:has_init",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each initialisation, at the first such use."""
    for found in facts.once(function, too_early):
        owner, user = (thread_text(t, function, facts) for t in (found.owner, found.user))
        line = facts.module.source.line_of(found.init.start)
        place = f"`{found.variable.name}`" + (f"+{found.offset}" if found.offset else "")
        yield RULE.finding(
            f"{user} uses the mbarrier {place}, which {owner}"
            f" initialises at line {line}, with nothing to wait for in between",
            facts.span(found.use),
            labels=(Label(facts.span(found.init), "initialised here"),),
            notes=("an arrival that comes first is lost, and all who wait there wait for ever",),
            help="`bar.sync 0` between the two",
            data={"object": found.variable.name, "offset": found.offset, "line": line},
        )
