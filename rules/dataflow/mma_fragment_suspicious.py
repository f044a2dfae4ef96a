"""## What it does

Reports an `mma` or `wmma.mma` whose A or B fragment names a loaded register twice while another
register of the same load is used by nothing in the function.

## Why it matters

One number mistyped in a list of four to eight registers: the product is computed from one tile
row twice and another never, and ptxas 13.5 says nothing. It happens in inline asm and in
hand-written PTX.

## Example

```ptx
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%r9];
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
    {%f1, %f2, %f3, %f4}, {%r1, %r2, %r2, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};
```

## Fix

Name each register of the fragment once: `{%r1, %r2, %r3, %r4}`.

## Limits

A repeated register that is computed or constant is deliberate (zero rows that pad a tile), and so
is one whose neighbours are all used. Loads of single registers are not taken together.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.dataflow.fragments import MNEMONICS, Repeat, repeats
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX606",
    name="mma-fragment-suspicious",
    category="dataflow",
    severity=Severity.WARNING,
    summary="a loaded fragment register used twice, its neighbour never",
    mnemonics=MNEMONICS,
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each fragment and register that it repeats."""
    for repeat in facts.once(function, repeats):
        yield _finding(function, repeat, facts)


def _finding(function: Function, repeat: Repeat, facts: Facts) -> Finding:
    product = function.instructions[repeat.product]
    load = function.instructions[repeat.load]
    unused = ", ".join(f"`{register.name}`" for register in repeat.unused)
    never = "are never used" if len(repeat.unused) > 1 else "is never used"
    often = "twice" if repeat.times == 2 else f"{repeat.times} times"
    return RULE.finding(
        f"fragment {repeat.fragment} names `{repeat.register.name}` {often}, and"
        f" {unused} of the same `{load.opcode.mnemonic}` {never}",
        facts.span(product),
        labels=(Label(facts.span(load), f"{unused} loaded here"),),
        help=f"name each register of the fragment once; {unused} was probably meant",
        data={
            "register": repeat.register.name,
            "unused": [register.name for register in repeat.unused],
        },
    )
