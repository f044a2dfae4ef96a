"""## What it does

Points out scalar `ld` or `st` of global memory that lie side by side and that one vector access
could do: the same base, neighbouring addresses, in one straight run of code with nothing in between
that forbids it, and an address that is known to be a multiple of the whole.

## Why it matters

Each access is an instruction and a request of its own: four `ld.global.f32` at 0, 4, 8 and 12 stay
four `LDG` (ptxas 13.5, sm_80 and sm_90; it never joins accesses of global memory, as it does those
of shared memory), where `ld.global.v4.f32` is one, `LDG.E.128`.

## Example

```ptx
ld.global.f32 %f1, [%rd1];
ld.global.f32 %f2, [%rd1+4];
ld.global.f32 %f3, [%rd1+8];
ld.global.f32 %f4, [%rd1+12];
```

## Fix

`ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];` in CUDA a `float4`.

## Limits

Global memory alone, and up to 16 bytes. That the address is a multiple of the vector rests on how
pointers are aligned, which is printed; where that is not known it is silent. Any other store in
between ends the run, wherever it goes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.memory.neighbours import Neighbours, neighbours
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX312",
    name="vectorisable-access",
    category="memory",
    severity=Severity.INFO,
    summary="neighbouring scalar accesses that one vector access could do",
    default=False,
    mnemonics=frozenset({"ld", "st"}),
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each run of accesses alike, and length of a vector."""
    for each in facts.once(function, neighbours):
        yield _finding(each, facts)


def _finding(each: Neighbours, facts: Facts) -> Finding:
    first = each.first
    opcode, length, vectors = first.instruction.opcode, len(each.vectors[0]), len(each.vectors)
    one = next(vector for vector in each.vectors if first in vector)
    vector = ".".join(
        (opcode.mnemonic, *opcode.modifiers[:-1], f"v{length}", *opcode.modifiers[-1:])
    )
    whole = length * each.element
    return RULE.finding(
        f"{vectors * length} `{opcode}` side by side could be"
        f" {'one' if vectors == 1 else vectors} `{vector}`",
        facts.span(first.instruction),
        labels=tuple(
            Label(facts.span(a.instruction), "and this one") for a in one if a is not first
        ),
        notes=(
            f"each is a request of {each.element} bytes a lane; together {whole}, at a multiple of"
            f" {whole}; ptxas does not join accesses of global memory",
        ),
        help=f"use `{vector}`",
        assumptions=each.assumptions,
        data={
            "accesses": vectors * length,
            "vectors": vectors,
            "bytes": whole,
            "lines": [[facts.span(a.instruction).start.line for a in v] for v in each.vectors],
        },
    )
