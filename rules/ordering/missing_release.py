"""## What it does

Reports a flag that is set by a relaxed or volatile store right behind plain stores of data, with
nothing in between that orders the two.

## Why it matters

Another block may see the flag before the data. It then reads what was there before: seldom, and
not in a debugger.

## Example

```ptx
st.global.u32 [data], %r1;
st.relaxed.gpu.global.u32 [flag], 1;
```

## Fix

`st.release.gpu`, or `fence.acq_rel.gpu` ahead of the store (`__threadfence()` in CUDA). Between
GPUs and with the host the scope is `.sys`.

## Limits

Only where both stores stand in one block of code and go to two parameters or objects. Vectors
and flags wider than 4 bytes may bring their data along. Atomics are not judged: many only count.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.ordering.flags import unreleased
from ptxlint.model import Confidence, Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX504",
    name="missing-release",
    category="ordering",
    severity=Severity.WARNING,
    summary="a flag set by a relaxed or volatile store, with nothing to order the data before it",
    confidence=Confidence.MEDIUM,
    mnemonics=frozenset({"st"}),
    screen="ordering.flags:has_flag_store",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such store of a flag."""
    for found in facts.once(function, unreleased):
        yield RULE.finding(
            f"`{found.flag.opcode}` to `{found.flag_base}` may be seen before the data in"
            f" `{found.data_base}`",
            facts.span(found.flag),
            labels=(Label(facts.span(found.data), "this store may come later for others"),),
            notes=("a relaxed or volatile store orders no other access",),
            help="`st.release.gpu`, or `fence.acq_rel.gpu` (`membar.gl`) ahead of it",
            data={"flag": str(found.flag_base), "base": str(found.data_base)},
        )
