"""## What it does

Reports data that are read after a loop that waits for a flag by a relaxed or volatile load, with
nothing in between that orders the two.

## Why it matters

Relaxed loads order nothing but themselves. The GPU may read the data before it sees the flag, and
then the kernel computes with what was there before: seldom, and not in a debugger.

## Example

```ptx
AGAIN:
    ld.relaxed.gpu.global.u32 %r1, [flag];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra AGAIN;
    ld.global.u32 %r2, [data];
```

## Fix

`ld.acquire.gpu` in the loop, or `fence.acq_rel.gpu` behind it (`__threadfence()` in CUDA). Between
GPUs and with the host the scope is `.sys`.

## Limits

Only where flag and data are of two parameters or objects, the load of data follows the loop with no
branch in between, and the kernel has not read these data before the loop. A barrier behind the
loop is taken to order it. Flags wider than 4 bytes may bring their data along.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.ordering.flags import unacquired
from ptxlint.model import Confidence, Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX503",
    name="missing-acquire",
    category="ordering",
    severity=Severity.WARNING,
    summary="data read after a relaxed or volatile wait for a flag, with nothing to order the two",
    confidence=Confidence.MEDIUM,
    mnemonics=frozenset({"ld"}),
    screen="ordering.flags:has_flag_load",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such loop, at the load of data."""
    for found in facts.once(function, unacquired):
        yield RULE.finding(
            f"`{found.data.opcode}` may read `{found.data_base}` before the flag in"
            f" `{found.flag_base}` is seen",
            facts.span(found.data),
            labels=(Label(facts.span(found.flag), "the loop waits on this load"),),
            notes=("a relaxed or volatile load orders no other access",),
            help="`ld.acquire.gpu` in the loop, or `fence.acq_rel.gpu` (`membar.gl`) behind it",
            data={"flag": str(found.flag_base), "base": str(found.data_base)},
        )
