"""## What it does

Reports a read of shared memory that another warp writes (or a write of what another warp reads),
with no barrier in between: with two threads, the place, and both lines.

## Why it matters

Warps run each at their own speed: what the other warp reads is the old value or the new one, by
the run and by the GPU. compute-sanitizer's racecheck finds it where the path is taken; ptxas says
nothing.

## Example

```ptx
.reqntid 64, 1, 1
...
st.shared.u32 [%r4], %r1;      // tile + 4 * %tid.x
xor.b32 %r5, %r3, 128;         // 32 threads on
add.u32 %r6, %r2, %r5;
ld.shared.u32 %r7, [%r6];      // no bar.sync in between
```

## Fix

`bar.sync 0;` between the two, where all threads come by; in a loop also before the next write.

## Limits

Only where the block is told (`.reqntid`, `--block`, Triton's metadata), the threads that execute
both accesses are known, and where each of them goes; nothing on the way between may make a thread
wait. Two writes, which may store the same, atomics and asynchronous copies are not looked at, nor
the way around a loop. A pair inside one warp is PTX214's.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.barriers.exchange_words import what_happens, witness
from ptxlint.analysis.barriers.exchanges import exchanges
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX220",
    name="shared-memory-race",
    category="synchronisation",
    severity=Severity.WARNING,
    summary="two warps use one place in shared memory, one writes, and no barrier is between",
    mnemonics=frozenset({"st"}),
    screen="barriers.collective:may_exchange",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each access that comes too early."""
    for found in facts.once(function, exchanges):
        if not found.in_warp:
            earlier, later = found.earlier.access.instruction, found.later.access.instruction
            yield RULE.finding(
                f"no barrier before `{later.opcode}`: {what_happens(found, function, facts)}",
                facts.span(later),
                labels=(Label(facts.span(earlier), "the other access"),),
                notes=(
                    f"the threads are of warps {found.first // 32} and {found.second // 32}, and"
                    " nothing makes one wait for the other",
                ),
                help="put `bar.sync 0;` between the two, where all threads come by",
                assumptions=found.assumptions,
                witness=witness(found, function, facts),
                data={"offset": found.offset, "kind": found.kind},
            )
