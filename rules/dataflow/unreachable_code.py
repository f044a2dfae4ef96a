"""## What it does

Reports instructions that no path from the function's entry reaches, once for each run of them.

## Why it matters

ptxas drops them in silence. In compiler-made PTX that is waste; in hand-written PTX it is a jump
that lost its target, or a guard that was left off a `bra` or a `ret`.

## Example

```ptx
bra DONE;
st.global.b32 [%rd1], %r1;
DONE:
ret;
```

## Fix

Guard the jump (`@%p1 bra DONE;`), or delete what it skips.

## Limits

Not reported: what only leaves or jumps (`ret`, `exit`, `trap`, `bra`), which compilers put after
calls and traps that never return; functions with a jump to something that is no label. Calls are
taken to return, and conditions to go either way.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.dataflow.unreachable import unreachable
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX605",
    name="unreachable-code",
    category="dataflow",
    severity=Severity.INFO,
    summary="instructions that no path reaches",
    default=False,
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each run of blocks."""
    for start, stop in facts.once(function, unreachable):
        count = stop - start
        what = "1 instruction" if count == 1 else f"{count} instructions"
        labels = []
        if start:
            before = function.instructions[start - 1]
            labels.append(Label(facts.span(before), "nothing goes on from here"))
        yield RULE.finding(
            f"no path reaches this: {what}, from `{function.instructions[start].opcode}` on",
            facts.span(function.instructions[start]),
            labels=tuple(labels),
            help="guard the jump before it, jump to it, or delete it",
            data={"instructions": count},
        )
