"""## What it does

Points out kernel parameters whose memory the kernel only reads, by plain `ld.global`, though
`ld.global.nc` would do. One finding for each parameter, with the number of loads.

## Why it matters

The assembler must take it that any store may change what a plain load reads, and keeps their order:
of four loads and four stores in turn, through two parameters, ptxas 13.5 keeps eight steps in turn
(`LDG`, `STG`, `LDG` …), and with `.nc` issues all four loads first (`LDG.E.CONSTANT`), whose
latencies then overlap. Where no store stands between loads nothing is won: both go through the L1
cache.

## Example

```ptx
ld.global.f32 %f1, [%rd1];
st.global.f32 [%rd2], %f1;
ld.global.f32 %f2, [%rd1+4];
```

## Fix

`ld.global.nc.f32`; in CUDA `const float * __restrict__` for the parameter, and `__restrict__` for
those that are written.

## Limits

Rests on what is printed: that parameters point to different memory, and that nothing else writes it
meanwhile. Silent where the kernel writes through an address that may be anywhere, calls a function,
fences or waits for other blocks; in code made for a debugger; and where no store to global memory
can follow a load and come before another.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.memory.read_only import DISTINCT, UNDISTURBED, ReadOnly, read_only
from ptxlint.analysis.places import at_lines
from ptxlint.model import Confidence, Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX803",
    name="missed-read-only-path",
    category="efficiency",
    severity=Severity.INFO,
    summary="ld.global of memory that the kernel only reads, without .nc",
    mnemonics=frozenset({"ld"}),
    screen="memory.opcodes:plain_loads",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each parameter."""
    for each in facts.once(function, read_only):
        yield _finding(each, function, facts)


def _finding(each: ReadOnly, function: Function, facts: Facts) -> Finding:
    load = each.loads[0].instruction
    count = len(each.loads)
    loads = "this load" if count == 1 else f"these {count} loads"
    more, lines = at_lines([a.instruction.start for a in each.loads[1:]], facts)
    return RULE.finding(
        f"`{_name(each, function)}` is only read, and {loads} could be `.nc`: `{load.opcode}`",
        facts.span(load),
        labels=(Label(facts.span(each.after), "this store may come first, and is waited for"),),
        confidence=Confidence.MEDIUM,
        notes=("ptxas keeps a plain load in order with all stores to global memory", *more),
        help="say `ld.global.nc`; in CUDA, `const … * __restrict__`",
        assumptions=(DISTINCT, UNDISTURBED),
        data={"parameter": str(each.base), "loads": count, "lines": lines},
    )


def _name(each: ReadOnly, function: Function) -> str:
    """The parameter, without the kernel's name that compilers put before it."""
    name = str(each.base)
    short = name.removeprefix(function.name).lstrip("_")
    return short if name.startswith(function.name) and short else name
