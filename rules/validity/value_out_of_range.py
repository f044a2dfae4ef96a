"""## What it does

Reports a constant that its instruction can't take or won't use as written: a barrier above 15, a
thread count that is no multiple of 32, a copy size that the instruction does not have (errors);
a shift by as many bits as the operand has, or more, and a number that does not fit the
instruction's type (warnings).

## Why it matters

The errors don't assemble: ptxas says `Barrier number '16' out of range` or `unexpected value '8',
expected to be 16`. Of the warnings it says nothing: it takes the low bits of `70000` in a `.u16`
add, which are 4464, and a shift of a `.b32` by 40 gives 0 (`shr.s32`: the sign, 32 times).

## Example

```ptx
bar.sync 16;
add.u16 %rs1, %rs2, 70000;
```

## Fix

Use a barrier from 0 to 15, and a type that holds the number.

## Limits

Constants only, not values in registers. Texture and video instructions are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.facts import by_opcode
from ptxlint.analysis.operand_check import operand_problems
from ptxlint.analysis.operand_words import place_of
from ptxlint.isa.operand_ranges import Range, ranges_of
from ptxlint.isa.types import SIZES
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction, Integer, Opcode

RULE = Rule(
    code="PTX112",
    name="value-out-of-range",
    category="validity",
    severity=Severity.ERROR,
    summary="a constant that the instruction can't take, or cuts silently",
)

_SHIFTS = frozenset({"shl", "shr"})
_SIMPLE = frozenset({"add", "sub", "mul", "mad", "min", "max", "and", "or", "xor", "mov"}) | {
    "setp",
    "selp",
}
_BITS = 64


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each constant."""
    found: list[tuple[Instruction, Finding]] = []
    for opcode, instructions in facts.once(function, by_opcode).items():
        if ranges := ranges_of(opcode.mnemonic, opcode.modifiers):
            for instruction in instructions:
                found += [(instruction, f) for f in _refused(instruction, ranges, facts)]
        elif width := _width(opcode):
            for instruction in _suspects(instructions, opcode, width):
                found += [(instruction, f) for f in _cut(instruction, width, facts)]
    if found:
        broken = {id(problem.instruction) for problem in facts.once(function, operand_problems)}
        yield from (finding for instruction, finding in found if id(instruction) not in broken)


def _suspects(instructions: list[Instruction], opcode: Opcode, width: int) -> list[Instruction]:
    """Those with a constant that may be too large or too small: few."""
    shift = opcode.mnemonic in _SHIFTS
    high = width - 1 if shift else (1 << width) - 1
    low = -(1 << 63) if shift else -(1 << (width - 1))
    return [
        instruction
        for instruction in instructions
        for operand in instruction.operands
        if type(operand) is Integer and not low <= operand.value <= high
    ]


def _refused(
    instruction: Instruction, ranges: tuple[Range, ...], facts: Facts
) -> Iterator[Finding]:
    operands = instruction.operands
    for allowed in ranges:
        index = allowed.operand
        operand = operands[index] if index < len(operands) else None
        if isinstance(operand, Integer) and not allowed.allows(operand.value):
            yield RULE.finding(
                f"`{instruction.opcode}`: {allowed.what} is {operand.value} and must be {allowed}",
                place_of(instruction, index, facts),
                data={"value": operand.value, "index": index},
            )
            return  # ptxas names the first


def _width(opcode: Opcode) -> int:
    """Bits of the instruction's type, of those whose constants are checked; else 0."""
    if opcode.mnemonic not in _SHIFTS and opcode.mnemonic not in _SIMPLE:
        return 0
    types = [m for m in opcode.modifiers if m in SIZES]
    if len(types) != 1 or types[0][0] not in "bus" or not types[0][1:].isdigit():
        return 0
    width = SIZES[types[0]] * 8
    return width if width < _BITS or opcode.mnemonic in _SHIFTS else 0


def _cut(instruction: Instruction, width: int, facts: Facts) -> Iterator[Finding]:
    """Shifts by the whole width, and numbers that don't fit: of at most 32 bits."""
    opcode, operands = instruction.opcode, instruction.operands
    if opcode.mnemonic in _SHIFTS:
        amount = operands[2] if len(operands) == 3 else None
        if isinstance(amount, Integer) and amount.value >= width:
            sign = opcode.mnemonic == "shr" and opcode.modifiers[-1].startswith("s")
            result = "the sign in all bits" if sign else "0"
            yield RULE.finding(
                f"`{opcode}` shifts {width} bits by {amount.value}: that gives {result}",
                place_of(instruction, 2, facts),
                severity=Severity.WARNING,
                data={"value": amount.value, "width": width},
            )
        return
    wide = "wide" in opcode.modifiers
    for index, operand in enumerate(operands[1:], 1):
        if not isinstance(operand, Integer) or (wide and index == 3):
            continue
        value = operand.value % (1 << _BITS)
        if value < 1 << width or value >= (1 << _BITS) - (1 << (width - 1)):
            continue
        low = value % (1 << width)
        yield RULE.finding(
            f"`{opcode}`: {operand.value} does not fit {width} bits; {low} is used instead",
            place_of(instruction, index, facts),
            severity=Severity.WARNING,
            notes=("ptxas says nothing",),
            data={"value": operand.value, "used": low},
        )
