"""## What it does

Reports a memory instruction that names a variable of another state space than its own, a generic
one that names a `.const` or `.param` variable, a number as an address outside `.local`, a store to
an input parameter and a load of a return parameter.

## Why it matters

The file does not assemble: ptxas says `State space mismatch between instruction and address`. A
generic access takes an address in `.global`, `.shared` or `.local` by name; of `.const` and kernel
parameters it takes only what `cvta` made.

## Example

```ptx
.shared .b32 tile[32];
ld.global.b32 %r1, [tile];
```

## Fix

```ptx
ld.shared.b32 %r1, [tile];
```

## Limits

Only variables that the instruction names itself, not addresses in registers.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.operand_check import operand_problems
from ptxlint.analysis.operand_match import Mismatch
from ptxlint.analysis.operand_words import declaration, operand_at, place_of
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Address, Function, Instruction, Offset, Operand, Symbol, Variable

RULE = Rule(
    code="PTX111",
    name="state-space-mismatch",
    category="validity",
    severity=Severity.ERROR,
    summary="an instruction that names a variable of another state space than its own",
)

_REASONS = frozenset({"space", "address-number", "parameter-written", "result-read"})


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each instruction."""
    for instruction, verdict in facts.once(function, operand_problems):
        if isinstance(verdict, Mismatch) and verdict.reason in _REASONS:
            yield _finding(instruction, verdict, facts)


def _finding(instruction: Instruction, wrong: Mismatch, facts: Facts) -> Finding:
    symbol = _symbol(operand_at(instruction, wrong.place))
    variable = symbol.target if isinstance(symbol, Symbol) else None
    space = variable.space if isinstance(variable, Variable) else ""
    name = symbol.name if isinstance(symbol, Symbol) else ""
    opcode, help_ = instruction.opcode, None
    if wrong.reason == "address-number":
        message = f"`{opcode}` takes no number as an address: only .local does"
        help_ = "move the address into a register first"
    elif wrong.reason == "parameter-written":
        message = f"`{opcode}` writes `{name}`, an input parameter"
    elif wrong.reason == "result-read":
        message = f"`{opcode}` reads `{name}`, the return parameter"
        help_ = "keep the value in a register"
    else:
        message = f"`{opcode}` names `{name}`, which is in .{space}"
        help_ = f"use the form of the instruction for .{space}, if it has one"
    return RULE.finding(
        message,
        place_of(instruction, wrong.place, facts),
        labels=declaration(symbol, facts) if symbol is not None else (),
        help=help_,
        data={"symbol": name, "space": space, "reason": wrong.reason},
    )


def _symbol(operand: Operand) -> Operand | None:
    return operand.base if isinstance(operand, (Address, Offset)) else operand
