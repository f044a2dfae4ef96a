"""## What it does

Points out lanes of one warp that hand something on through shared memory without `bar.warp.sync`.

## Why it matters

Since sm_70 the lanes of a warp need not run in lockstep (CUDA C++ Programming Guide, "Independent
Thread Scheduling"): the assembler may move the load before another lane's store, and lanes may part
between the two. Code that relied on lockstep, warp-synchronous reductions above all, works until
another compiler, or a branch nearby, parts them.

## Example

```ptx
st.shared.u32 [%r4], %r1;      // box + 4 * %tid.x
xor.b32 %r5, %r3, 4;
add.u32 %r5, %r2, %r5;
ld.shared.u32 %r6, [%r5];      // the neighbour's
```

## Fix

`bar.warp.sync 0xffffffff;` between the two (`__syncwarp()`), or `shfl.sync`, which needs no memory.

## Limits

As for PTX220, which has the pairs of different warps: the block is told, and threads and places are
known.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.barriers.exchange_words import what_happens, witness
from ptxlint.analysis.barriers.exchanges import exchanges
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX214",
    name="missing-warp-sync",
    category="synchronisation",
    severity=Severity.INFO,
    summary="lanes of a warp exchange through shared memory without bar.warp.sync",
    mnemonics=frozenset({"st"}),
    screen="barriers.collective:may_exchange",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each access that comes too early."""
    for found in facts.once(function, exchanges):
        if found.in_warp:
            earlier, later = found.earlier.access.instruction, found.later.access.instruction
            yield RULE.finding(
                f"no bar.warp.sync before `{later.opcode}`: {what_happens(found, function, facts)}",
                facts.span(later),
                labels=(Label(facts.span(earlier), "the other access"),),
                notes=("lanes of a warp need not run in lockstep since sm_70",),
                help="put `bar.warp.sync` between the two (`__syncwarp()`), or use `shfl.sync`",
                assumptions=found.assumptions,
                witness=witness(found, function, facts),
                data={"offset": found.offset, "kind": found.kind},
            )
