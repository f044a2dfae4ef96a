"""## What it does

Reports an operand that no form of its instruction takes: a register of another class or width, a
number, symbol, address or special register in the wrong place, `!` on what is no predicate, a
32-bit register as an address of global or generic memory in a 64-bit file.

## Why it matters

The file does not assemble: ptxas says `Arguments mismatch for instruction 'add'`, and neither
which operand nor why. What was declared `.b64` and is used as `.u32` mostly comes from an inline
asm constraint of another width (`"l"` for `"r"`).

## Example

```ptx
.reg .b64 %rd<4>;
add.u32 %r2, %rd3, 1;
```

## Fix

```ptx
cvt.u32.u64 %r3, %rd3;
add.u32 %r2, %r3, 1;
```

What ptxas 13.5 takes: integers and `.bN` of one width stand for each other; `.f32` wants `.f32` or
`.b32`; a `.bN` instruction takes any class of that width; `.f16` wants `.b16` or `.f16`. `ld`,
`st` and `cvt` take wider registers than their type, never narrower ones.

## Limits

Held to a table of what ptxas takes at each operand. Texture, surface and video instructions and
calls are not judged, nor is an instruction with a name that is not declared (PTX104). Of several
wrong operands the first is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.narrow_addresses import narrow_addresses
from ptxlint.analysis.operand_check import operand_problems
from ptxlint.analysis.operand_match import Mismatch
from ptxlint.analysis.operand_words import declaration, described, needed, operand_at, place_of
from ptxlint.isa.types import SIZES
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Address, Function, Instruction, Operand, Pair, Register

RULE = Rule(
    code="PTX103",
    name="operand-type-mismatch",
    category="validity",
    severity=Severity.ERROR,
    summary="an operand that the instruction does not take: class, width or kind",
)

_WHY = {
    "sink": "`_` is not taken here: its result can't be dropped",
    "sink-needed": "the result must be `_`",
    "symbol": "{what}, is no value here",
    "symbol-needed": "{what}, where a symbol is needed",
    "label": "{what}, can't be an operand here",
    "special": "{what}, can't be read here",
    "special-width": "{what}, has another width",
    "special-needed": "{what}, where a special register is needed",
    "negated": "only predicates can be negated with `!`, and not in this place",
    "minus": "`-` is not taken before a register",
    "address": "an address in brackets, where a register is needed",
    "address-needed": "{what}, where an address in brackets is needed",
    "address-base": "{what}, can't hold an address",
    "address-name": "{what}, has no address in memory",
    "address-parts": "the address has other parts than this form takes",
    "pair": "a pair `d|p` is not taken here",
    "pair-needed": "a pair `d|p` is needed here",
    "pair-first": "{what}, can't be the first of the pair",
    "pair-second": "{what}, where a predicate is needed",
    "result": "{what} can't be the result",
    "integer": "{what}, where a floating-point number is needed",
    "number": "{what}, where a register is needed",
    "float": "{what}, where an integer is needed",
    "constant": "{what}, where a constant is needed",
}
_HELP = {
    "special": "read it with `mov` into a register first",
    "address": "load the value into a register first",
    "symbol": "move the address into a register with `mov` first",
    "integer": "write it as 0f3F800000 (for 1.0), or 1.0 for .f64",
    "number": "move the number into a register with `mov` first",
    "result": "name a register for the result",
    "sink": "name a register for the result",
}


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each instruction."""
    for instruction, verdict in facts.once(function, operand_problems):
        if isinstance(verdict, Mismatch) and (verdict.reason in _WHY or verdict.reason == "type"):
            yield _finding(instruction, verdict, facts)
    for instruction, base in facts.once(function, narrow_addresses):
        yield RULE.finding(
            f"`{base.name}` has 32 bits, and addresses of `{instruction.opcode}` have 64",
            facts.span(instruction),
            labels=declaration(base, facts),
            notes=("the file says .address_size 64; ptxas no longer compiles 32-bit addresses",),
            help="widen it with `cvt.u64.u32`, or load the pointer as .u64",
            data={"operand": base.name, "reason": "narrow-address"},
        )


def _finding(instruction: Instruction, wrong: Mismatch, facts: Facts) -> Finding:
    operand = _named(operand_at(instruction, wrong.place), wrong.reason)
    opcode, spec = instruction.opcode, wrong.spec
    if wrong.reason == "type":
        why = f"{described(operand)}{_width(operand, spec.type)}"
    else:
        why = _WHY[wrong.reason].format(what=described(operand))
    place = spec.name or f"operand {wrong.place + 1}"
    return RULE.finding(
        f"operand {place} of `{opcode}`: {why}",
        place_of(instruction, wrong.place, facts),
        labels=declaration(operand, facts),
        notes=(f"{place} must be {needed(spec)}",),
        help=_HELP.get(wrong.reason),
        data={"operand": place, "index": wrong.place, "type": spec.type, "reason": wrong.reason},
    )


def _named(operand: Operand, reason: str) -> Operand:
    """What the message is about: of an address its base, of a pair the half that is wrong."""
    if isinstance(operand, Address) and reason in ("address-base", "address-name"):
        return operand.base or operand
    if isinstance(operand, Pair) and reason in ("pair-first", "pair-second"):
        return operand.first if reason == "pair-first" else operand.second
    return operand


def _width(operand: Operand, type: str) -> str:
    """What is wrong with a register: `` (64 bits) in a 32-bit place``."""
    have = SIZES.get(operand.variable.type) if isinstance(operand, Register) else None
    want = SIZES.get(type)
    if have is None or want is None or have == want:
        return f", where .{type} is needed" if type else ""
    return f" ({have * 8} bits), where .{type} ({want * 8} bits) is needed"
