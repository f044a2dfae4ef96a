"""## What it does

Points out integer divisions and remainders by a number that all threads share and that is not known
before the kernel runs.

## Why it matters

No GPU divides integers: ptxas 13.5 makes about 20 instructions of a 32-bit `div`, and a call of
70 and more of a 64-bit one. A divisor that the host knows can be turned into a multiplication and a
shift there, once: three instructions for each division.

## Example

```ptx
ld.param.u32 %r2, [width];
div.u32 %r3, %r1, %r2;      // row
rem.u32 %r4, %r1, %r2;      // column
```

## Fix

Pass a multiplier and a shift instead (FastDivmod of CUTLASS makes them), make
the divisor a template parameter, or, where it is a power of two, pass its logarithm.
`rem` by what `div` has just been by is one `mad` of the quotient.

## Limits

Divisors that are numbers in the text are ptxas' affair: it multiplies. Divisors that differ from
lane to lane are not reported: nothing is known beforehand. One finding for each function.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.memory.lines import Lines
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction, Register

RULE = Rule(
    code="PTX802",
    name="slow-integer-division",
    category="efficiency",
    severity=Severity.INFO,
    summary="an integer division by a number that is the same for the whole launch",
    mnemonics=frozenset({"div", "rem"}),
)
_LONG = frozenset({"u64", "s64"})
_INTEGER = _LONG | {"u32", "s32", "u16", "s16"}


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each function, at the first of its divisions."""
    found = [
        each
        for each in facts.of_mnemonics(function, RULE.mnemonics)
        if each.opcode.modifiers[-1:] and each.opcode.modifiers[-1] in _INTEGER
        if _by_shared_number(each, function, facts)
    ]
    if not found:
        return
    first = next((each for each in found if each.opcode.modifiers[-1] in _LONG), found[0])
    others = [each.start for each in found if each is not first]
    more, lines = at_lines(others, facts)
    long = sum(each.opcode.modifiers[-1] in _LONG for each in found)
    cost = "a call of 70 instructions and more" if long else "about 20 instructions"
    yield RULE.finding(
        f"`{first.opcode}` by a number that all threads share is {cost}",
        facts.span(first),
        notes=more,
        help="pass a multiplier and a shift that the host works out once, or make it a constant",
        data={"divisions": len(found), "in_64_bits": long, "lines": lines},
    )


def _by_shared_number(division: Instruction, function: Function, facts: Facts) -> bool:
    divisor = division.operands[2] if len(division.operands) == 3 else None
    if type(divisor) is not Register:
        return False
    line = facts.once(function, Lines).of(divisor)
    fixed = line.step == 0 and line.origin is None
    return not (line.by_lane or line.data or fixed)
