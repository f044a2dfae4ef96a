"""## What it does

Reports an object whose declaration does not give the alignment that an access to it needs: an
8-byte store to the start of a `.shared .align 4` array, say. The access is right only as long as
the object happens to lie at a larger multiple than it asks for.

## Why it matters

Where an object lies beyond its declared alignment is ptxas's choice. Today's layout may fit, since
a neighbour is larger or the object is the first; with another object, another order or another
version it does not, and the kernel dies with CUDA_ERROR_MISALIGNED_ADDRESS (716). ptxas says
nothing. In CUDA this comes of casting `char *` or `short *` to a wider type.

## Example

```ptx
.shared .align 2 .b8 block[128];   // __shared__ short block[64];

ld.shared.u32 %r1, [block+4];      // *(int *)(block + 2)
```

## Fix

Declare what the accesses need: `.shared .align 4`; in CUDA `__align__(4)` or `alignas(4)`.

## Limits

One finding for each object, at the first of the accesses that need the most. Dynamic shared memory
(`.extern .shared`) is left out, since the launch decides where it lies, and so is wmma, which an
H200 let pass at half of what the ISA asks for. Silent where the distance from the object's start
is not known, or is no multiple of the declared alignment: that is wrong anyway (PTX301). For
`.extern`, `.weak` and `.common` objects another file may declare more, which is said.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.alignment import MNEMONICS
from ptxlint.analysis.memory.declared_alignment import Shortfall, shortfalls
from ptxlint.analysis.objects import alignment_of
from ptxlint.analysis.places import at_lines, operand_span
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Address, Function

RULE = Rule(
    code="PTX302",
    name="declared-alignment-too-small",
    category="memory",
    severity=Severity.WARNING,
    summary="an object is declared with less alignment than an access to it needs",
    mnemonics=MNEMONICS,
    screen="memory.small_objects:small_objects",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each object."""
    by_object: dict[int, list[Shortfall]] = {}
    for each in facts.once(function, shortfalls):
        by_object.setdefault(id(each.variable), []).append(each)
    for group in by_object.values():
        yield _finding(group, facts)


def _finding(group: list[Shortfall], facts: Facts) -> Finding:
    worst = max(group, key=lambda each: each.need.bytes)
    instruction, variable, need = worst.access.instruction, worst.variable, worst.need
    operand = worst.access.operand
    assert isinstance(operand, Address)
    align = alignment_of(variable)
    others = [each.access.instruction.start for each in group if each is not worst]
    more, lines = at_lines(others, facts)
    declared = f".align {align}" if variable.align == align else f"aligned to {align} by its type"
    line = facts.module.source.line_of(instruction.start)
    why = f"`{instruction.opcode}` at line {line} is {need.what}"
    assumptions: tuple[str, ...] = ()
    if variable.linkage in ("extern", "weak", "common"):
        assumptions = (
            f"`{variable.name}` is .{variable.linkage}: no other file declares it with more"
            " alignment",
        )
    return RULE.finding(
        f"`{variable.name}` is declared {declared}: {need.what} in it needs a multiple of"
        f" {need.bytes}",
        operand_span(instruction, operand, facts),
        labels=(Label(facts.span(variable), f"`{variable.name}` is declared here"),),
        notes=(
            "it works as long as the object happens to lie at such a multiple; ptxas says nothing",
            *more,
        ),
        help=f"declare `{variable.name}` with .align {need.bytes}",
        assumptions=assumptions,
        data={
            "needs": need.bytes,
            "align": align,
            "requirement": {"base": variable.name, "bytes": need.bytes, "why": why},
            "lines": lines,
        },
    )
