"""## What it does

Reports `ld.global.nc` (and `ldu`) of memory that the same kernel writes, through the same
parameter or object.

## Why it matters

`.nc` promises that the memory is read-only while the kernel runs (PTX ISA, "ld.global.nc"): the
load may take what the texture cache holds from before the store, and the assembler moves it ahead
of stores and barriers, since nothing can change what it reads. In CUDA it comes of `const T *
__restrict__`, or `__ldg()`, on an array that is also written.

## Example

```ptx
st.global.u32 [%rd4], %r1;
bar.sync 0;
ld.global.nc.u32 %r3, [%rd6];      // both from the parameter p_io
```

## Fix

Leave `.nc` out; in CUDA drop `__restrict__` or `__ldg` from the pointer that is written.

## Limits

Parts of one array, of which some are only read and others only written, are right, and look the
same. Pointers that were loaded, or come from two parameters, are not followed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.ordering.read_only import WrittenToo, written_too
from ptxlint.analysis.places import at_lines
from ptxlint.model import Confidence, Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX501",
    name="nc-load-of-written-memory",
    category="ordering",
    severity=Severity.WARNING,
    summary="ld.global.nc of memory that the kernel writes",
    confidence=Confidence.MEDIUM,
    mnemonics=frozenset({"ld", "ldu"}),
    screen="ordering.read_only:suspects",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each parameter or object, at the first such load."""
    groups: dict[object, list[WrittenToo]] = {}
    for each in facts.once(function, written_too):
        groups.setdefault(each.base, []).append(each)
    for group in groups.values():
        first = group[0]
        more, lines = at_lines([each.load.start for each in group[1:]], facts)
        yield RULE.finding(
            f"`{first.load.opcode}` reads `{first.base}` as if nothing wrote it, and"
            f" `{first.store.opcode}` does",
            facts.span(first.load),
            labels=(Label(facts.span(first.store), "the same memory is written here"),),
            notes=(
                "the load may come ahead of any store and barrier, or from a cache that no store"
                " reaches",
                *more,
            ),
            help="leave `.nc` out (`__restrict__`, `__ldg` in CUDA)",
            data={"base": str(first.base), "lines": lines},
        )
