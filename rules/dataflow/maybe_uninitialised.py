"""## What it does

Reports a register whose value is undefined on some path from the entry, and observed at the end of
that path: as an address, in a store, as a condition. Paths that contradict themselves are left
out: a guard that defines and a guard that uses are one condition if they test the same.

## Why it matters

The kernel is right in most launches and wrong in the one that takes this path. ptxas accepts it
without a word.

## Example

```ptx
@%p1 ld.global.b32 %r2, [%rd1];
add.s32 %r3, %r2, 1;
st.global.b32 [%rd2], %r3;
```

## Fix

Give the register a value before the branch (`mov.b32 %r2, 0;`), or guard the use as well.

## Limits

In preview: conditions may exclude each other by what is not seen here (a loop that runs at least
once, a value in memory). At most 1,500 blocks are walked for one function. What is undefined on
every path is PTX601's.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.dataflow.paths import Possible, possible_uses
from ptxlint.analysis.flow.graph import control_flow
from ptxlint.model import Confidence, Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX602",
    name="maybe-uninitialised",
    category="dataflow",
    severity=Severity.INFO,
    summary="a register that some path leaves undefined and then uses",
    confidence=Confidence.MEDIUM,
    default=False,
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each register, at the first place that observes it."""
    for possible in facts.once(function, possible_uses):
        yield _finding(function, possible, facts)


def _finding(function: Function, possible: Possible, facts: Facts) -> Finding:
    flow = facts.once(function, control_flow)
    lines = []
    for index in possible.path:
        block = flow.blocks[index]
        if len(block):
            start = function.instructions[block.start].start
            lines.append(facts.module.source.line_of(start))
    reader = function.instructions[possible.at]
    labels = []
    if len(possible.path) > 1 and (last := flow.terminator(flow.blocks[possible.path[-2]])):
        labels.append(Label(facts.span(last), "the path comes this way"))
    shown = ", ".join(map(str, lines[:8])) + (" …" if len(lines) > 8 else "")
    return RULE.finding(
        f"`{possible.register.name}` may be undefined here, where what comes of it {possible.does}",
        facts.span(reader),
        labels=tuple(labels),
        notes=(f"nothing writes it on the path through the blocks at lines {shown}",),
        help=f"give `{possible.register.name}` a value on every path, or guard its use alike",
        data={"register": possible.register.name, "path": lines},
    )
