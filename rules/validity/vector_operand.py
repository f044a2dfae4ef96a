"""## What it does

Reports a vector operand that its instruction does not take: a scalar where a vector is needed,
another number of elements, elements of the wrong type or of several widths, a vector where a
scalar is needed, and `.v8` of 8- or 16-bit elements.

## Why it matters

The file does not assemble: ptxas says `Argument vector size mismatch for instruction 'ld'`,
`Vector expected for argument 0` or `Incompatible elements of vector expression`. A fragment of one
register is a vector too: `ldmatrix` with `.x1` wants `{%r1}`. Of `.v8` with 8- or 16-bit elements
ptxas 13.5 and 12.9 crash, earlier ones refuse it; the ISA has it for 32-bit types only.

## Example

```ptx
ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r3, [%r4];
```

## Fix

```ptx
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r4];
```

## Limits

Registers that are declared as vectors (`.reg .v4 .f32 v`) are not judged where a vector is
needed. Texture and surface instructions are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.operand_check import operand_problems
from ptxlint.analysis.operand_match import Mismatch
from ptxlint.analysis.operand_words import declaration, described, listed, operand_at, place_of
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction, Register, Vector

RULE = Rule(
    code="PTX108",
    name="vector-operand",
    category="validity",
    severity=Severity.ERROR,
    summary="a vector operand of the wrong length or element type, or none where one is needed",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each instruction."""
    for instruction, verdict in facts.once(function, operand_problems):
        if isinstance(verdict, Mismatch) and verdict.reason.startswith("vector-"):
            yield _finding(instruction, verdict, facts)


def _finding(instruction: Instruction, wrong: Mismatch, facts: Facts) -> Finding:
    spec, opcode = wrong.spec, instruction.opcode
    operand = operand_at(instruction, wrong.place)
    element = operand_at(instruction, wrong.place, wrong.element)
    have = len(operand.elements) if isinstance(operand, Vector) else 0
    help_ = None
    if wrong.reason == "vector-needed":
        why = f"{described(operand)}, where a vector of {spec.length} is needed"
        if spec.length == 1 and isinstance(operand, Register):
            help_ = f"write `{{{operand.name}}}`"
    elif wrong.reason == "vector-unwanted":
        why = f"{described(operand)}, where a single register is needed"
    elif wrong.reason == "vector-length":
        why = f"a vector of {have}, where {spec.length} are needed"
    elif wrong.reason == "vector-narrow":
        why = ".v8 takes elements of 32 bits only"
        help_ = "use .v4, or load 32-bit elements and unpack them"
    elif wrong.reason == "vector-mixed":
        why = f"its elements differ in width: {described(element)}"
    else:
        why = f"element {(wrong.element or 0) + 1} is {described(element)}"
    notes: tuple[str, ...] = ()
    if wrong.reason == "vector-element" and spec.accepted and spec.accepted.registers:
        notes = (f"its elements must be registers of {listed(spec.accepted.registers)}",)
    return RULE.finding(
        f"operand {spec.name} of `{opcode}`: {why}",
        place_of(instruction, wrong.place, facts),
        labels=declaration(element, facts),
        notes=notes,
        help=help_,
        data={"operand": spec.name, "index": wrong.place, "needs": spec.length, "has": have},
    )
