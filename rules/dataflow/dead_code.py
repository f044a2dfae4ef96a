"""## What it does

Reports instructions whose result nothing uses, directly or through others like it, and stores to
a shared or local variable that nothing reads.

## Why it matters

ptxas deletes them. A result that nothing uses is often one that was meant to be used: the wrong
register was stored, or the second half of a change is missing. A load among them is memory traffic
that the author counts on and that never happens, which spoils benchmarks.

## Example

```ptx
mul.lo.s32 %r3, %r1, %r2;
add.s32 %r4, %r1, %r2;
st.global.b32 [%rd1], %r4;
```

## Fix

Use the result, or delete what makes it.

## Limits

Volatile and ordered accesses, atomics, reads of clocks, calls and everything with an effect count
as used. So does a variable whose address goes anywhere but into the bracket of a store. One finding
for a chain, at its last instruction; a lone copy or `ld.param` is none, and neither is a value that
only its own next turn of a loop uses.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.dataflow.dead import Chain, dead_chains
from ptxlint.analysis.dataflow.dead_stores import dead_stores
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction, Variable

RULE = Rule(
    code="PTX604",
    name="dead-code",
    category="dataflow",
    severity=Severity.INFO,
    summary="a result that nothing uses, a store that nothing reads",
    default=False,
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each chain of results, and for each variable that is only stored to."""
    for chain in facts.once(function, dead_chains):
        yield _chain(function, chain, facts)
    for variable, stores in facts.once(function, dead_stores):
        yield _stores(variable, stores, facts)


def _chain(function: Function, chain: Chain, facts: Facts) -> Finding:
    last = function.instructions[chain.last]
    names = ", ".join(f"`{register.name}`" for register in chain.results)
    starts = [function.instructions[i].start for i in chain.feeding]
    notes, lines = at_lines(starts, facts)
    if notes:
        notes = (notes[0].replace("more like it, at", "before it serve only this, at"),)
    return RULE.finding(
        f"nothing uses {names}, which `{last.opcode}` makes",
        facts.span(last),
        notes=notes,
        help="use the result, or delete what makes it",
        data={"lines": lines},
    )


def _stores(variable: Variable, stores: list[Instruction], facts: Facts) -> Finding:
    notes, lines = at_lines([store.start for store in stores[1:]], facts)
    return RULE.finding(
        f"`{variable.name}` is stored to and never read",
        facts.span(stores[0]),
        labels=(Label(facts.span(variable), f"`{variable.name}` is declared here"),),
        notes=notes,
        help=f"read `{variable.name}`, or delete it and its stores",
        data={"lines": lines},
    )
