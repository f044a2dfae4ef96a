"""## What it does

Reports a plain instruction that touches an accumulator of `wgmma.mma_async` inside the stage:
between the operation and the `commit_group`, or writes it before the group is awaited.

## Why it matters

ptxas then waits for each operation on its own (advisories C7510 to C7515): tensor cores stand
still in between, and kernels have been seen at half of their speed. By the ISA the two race.

## Example

```ptx
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;
mov.f32 %f2, 0f3f800000;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1,%f2,%f3,%f4}, %rd1, %rd2, %p1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
```

## Fix

Touch accumulators before the first `wgmma.fence` of the stage, or after its `wait_group`.

## Limits

Only where the registers are in flight on every way to the instruction.
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
    code="PTX515",
    name="wgmma-serialised",
    category="ordering",
    severity=Severity.WARNING,
    summary="a plain instruction touches an accumulator while wgmma has it in flight",
    mnemonics=frozenset({"wgmma"}),
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each operation, at the first such instruction."""
    groups: dict[int, list[Touch]] = {}
    for touch in facts.once(function, touches):
        if touch.writes or touch.inside:
            groups.setdefault(id(touch.operation), []).append(touch)
    for group in groups.values():
        first = group[0]
        name = facts.once(function, register_use).name(first.register)
        more, lines = at_lines([each.instruction.start for each in group[1:]], facts)
        does = "writes" if first.writes else "uses"
        yield RULE.finding(
            f"`{first.instruction.opcode}` {does} `{name}`, which a wgmma has in flight",
            facts.span(first.instruction),
            labels=(Label(facts.span(first.operation), "this wgmma"),),
            notes=("ptxas waits for each wgmma of the stage then; a race by the ISA", *more),
            help="move it before the stage's `wgmma.fence`, or behind its `wait_group`",
            data={"register": name, "lines": lines},
        )
