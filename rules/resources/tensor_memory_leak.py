"""## What it does

Reports `tcgen05.alloc` in a kernel in which no way from there leads to a `tcgen05.dealloc`.

## Why it matters

Tensor memory is allocated by hand, and must be given back before the kernel ends (PTX ISA,
"Tensor Memory Allocation"). What a block keeps, blocks that follow on the SM wait for: their
`tcgen05.alloc` blocks until there is some, for ever.

## Example

```ptx
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
...
ret;
```

## Fix

`tcgen05.dealloc` of the same columns by the same warp before it leaves, after all that uses them.

## Limits

Silent where some way leads to a `dealloc`, whatever it depends on, and in kernels that call
functions.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.flow.graph import control_flow
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction

RULE = Rule(
    code="PTX409",
    name="tensor-memory-leak",
    category="resources",
    severity=Severity.WARNING,
    summary="tensor memory that is allocated and never given back",
    mnemonics=frozenset({"tcgen05"}),
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such alloc."""
    allocs = _named(function, facts, "alloc")
    if not allocs or not function.is_kernel or "call" in facts.module.mnemonics:
        return
    flow = facts.once(function, control_flow)
    if not flow.resolved:
        return
    index = {id(each): at for at, each in enumerate(function.instructions)}
    deallocs = [index[id(each)] for each in _named(function, facts, "dealloc")]
    for alloc in allocs:
        at = index[id(alloc)]
        reached = flow.reached >> flow.block_of[at] & 1
        if reached and not any(flow.leads(at, dealloc) for dealloc in deallocs):
            yield RULE.finding(
                f"no way from `{alloc.opcode}` leads to a tcgen05.dealloc",
                facts.span(alloc),
                notes=("blocks that come to the SM later wait for these columns for ever",),
                help="give them back by `tcgen05.dealloc` in the same warp before it leaves",
            )


def _named(function: Function, facts: Facts, name: str) -> list[Instruction]:
    found = facts.of_mnemonics(function, RULE.mnemonics)
    return [each for each in found if each.opcode.modifiers[:1] == (name,)]
