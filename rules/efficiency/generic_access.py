"""## What it does

Points out generic `ld`, `st`, `atom` and `red` whose address is surely in one space: it came
through a `cvta` of that space, or the kernel converts the same parameter to that space elsewhere.
One finding for each object or pointer, with the number of accesses.

## Why it matters

The machine has to find out at run time which space a generic address is in, the assembler must take
it that the access may touch any memory and keeps it in order with all others, and a shared address
takes two registers. ptxas 13.5 does not follow the `cvta`: of `cvta.shared` and `ld` it makes `LD`
rather than `LDS`, and of a generic `atom` on shared memory `ATOM.E` rather than `ATOMS`.

## Example

```ptx
cvta.shared.u64 %rd1, counters;
atom.add.u32 %r1, [%rd1], 1;
```

## Fix

```ptx
mov.u32 %r2, counters;
atom.shared.add.u32 %r1, [%r2], 1;
```

For global memory, whose addresses are generic as they are, the space in the opcode is enough.

## Limits

Silent in code made for a debugger, where nearly all accesses are generic, and in kernels that ask
`isspacep`. A symbol in the brackets needs no space: ptxas takes that of the symbol.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.memory.generic import Generic, known_generic
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX804",
    name="generic-access",
    category="efficiency",
    severity=Severity.INFO,
    summary="a generic access where the space is known",
    mnemonics=frozenset({"ld", "ldu", "st", "atom", "red"}),
    screen="memory.opcodes:generic_opcodes",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each space and base."""
    for group in facts.once(function, known_generic):
        yield _finding(group, facts)


def _finding(group: Generic, facts: Facts) -> Finding:
    instruction = group.accesses[0].instruction
    count = len(group.accesses)
    more, lines = at_lines([a.instruction.start for a in group.accesses[1:]], facts)
    variable = None if group.base is None else group.base.variable
    of = "" if variable is None else f" (`{variable.name}`)"
    labels: tuple[Label, ...] = ()
    if group.origin is not None:
        labels = (Label(facts.span(group.origin), f"this tells that it is .{group.space}"),)
    mnemonic = instruction.opcode.mnemonic
    how = f"say `{mnemonic}.{group.space}`"
    if group.space != "global":
        how += f", with the address before `cvta.{group.space}`, or after `cvta.to.{group.space}`"
    return RULE.finding(
        f"`{instruction.opcode}` goes by a generic address, and that is in .{group.space}"
        f" memory{of}",
        facts.span(instruction),
        labels=labels,
        notes=(
            "the space is found out at run time, and ptxas keeps the access in order with those of"
            " all spaces",
            *more,
        ),
        help=how,
        data={
            "space": group.space,
            "base": None if group.base is None else str(group.base),
            "accesses": count,
            "lines": lines,
        },
    )
