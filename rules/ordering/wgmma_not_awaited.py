"""## What it does

Reports an accumulator of `wgmma.mma_async` that is used before its group is waited for.

## Why it matters

The operation runs on after the instruction; its registers have the result after a
`wgmma.wait_group` that covers the group (PTX ISA, "wgmma.wait_group"). ptxas may see it and put a
wait there itself, with an advisory, which serialises the pipeline; by the ISA it is undefined.

## Example

```ptx
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
st.global.v4.f32 [%rd6], {%f1,%f2,%f3,%f4};
```

## Fix

`wgmma.wait_group.sync.aligned 0;` before the first use.

## Limits

Only where the registers are in flight on every way to the use. A copy counts where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.flow.registers import register_use
from ptxlint.analysis.ordering.matrix_groups import Touch, touches
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX514",
    name="wgmma-not-awaited",
    category="ordering",
    severity=Severity.WARNING,
    summary="an accumulator used before the wgmma that writes it is awaited",
    mnemonics=frozenset({"wgmma"}),
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each operation, at the first use."""
    groups: dict[int, list[Touch]] = {}
    for touch in facts.once(function, touches):
        if not touch.writes and not touch.inside:
            groups.setdefault(id(touch.operation), []).append(touch)
    for group in groups.values():
        first = group[0]
        name = facts.once(function, register_use).name(first.register)
        more, lines = at_lines([each.instruction.start for each in group[1:]], facts)
        yield RULE.finding(
            f"`{first.instruction.opcode}` uses `{name}`, which a wgmma may still be writing",
            facts.span(first.instruction),
            labels=(Label(facts.span(first.operation), "its group is not awaited from here on"),),
            notes=more,
            help="`wgmma.wait_group.sync.aligned 0;` before it",
            data={"register": name, "lines": lines},
        )
