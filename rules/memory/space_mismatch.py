"""## What it does

Reports an address in one form where the instruction takes another:

- an offset in the `.shared`, `.local`, `.const` or `.param` window, as `mov` of a symbol gives it,
  used as a generic address: no `cvta` in between
- a generic address used as an offset in the window: no `cvta.to`
- an address of one space used, or converted, as one of another

## Why it matters

PTX ISA, "Generic Addressing": these spaces are windows among the generic addresses, and an offset
in one is a small number that as a generic address points to the start of global memory, where
nothing is allocated: CUDA_ERROR_ILLEGAL_ADDRESS (700). ptxas takes it without a word: of

    mov.u64 %rd1, tile;   ld.u32 %r1, [%rd1+4];

ptxas 13.5 makes, for sm_80, a load from the generic address 4. A generic address in `ld.shared` is
cut to its lower word; that is the offset on sm_90 and later alone (there: a warning).

## Example

```ptx
.shared .align 4 .b8 tile[1024];

mov.u64 %rd1, tile;
ld.u32 %r1, [%rd1+4];
```

## Fix

`cvta.shared.u64 %rd2, %rd1;` makes the generic address. Better: say `ld.shared`, which needs no
conversion.

## Limits

Silent on `.global`, whose addresses are generic as they are; on pointers that come from elsewhere
(parameters, memory, calls); and, but for the first form, in functions that ask `isspacep`. A symbol
written in the brackets (`ld.u32 %r1, [tile]`) is right: ptxas takes the space of the symbol.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.memory.forms import Misfit, misfits
from ptxlint.analysis.memory.spaces import GENERIC, RAW, TWICE
from ptxlint.analysis.places import at_lines, operand_span
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Address, Function, Instruction, Register

RULE = Rule(
    code="PTX320",
    name="space-mismatch",
    category="memory",
    severity=Severity.ERROR,
    summary="an offset in a window used as a generic address, or an address of another space",
    mnemonics=frozenset({"mov", "cvta"}),
    screen="memory.glance:misplaced",
)
_WORKS = "it works on sm_90 and later alone, whose generic addresses have the offset as lower word"


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each place where such an address is made and what is asked of it."""
    groups: dict[object, list[Misfit]] = {}
    for misfit in facts.once(function, misfits):
        if misfit.problem != TWICE:
            place = misfit.at if misfit.origin is None else id(misfit.origin)
            groups.setdefault((place, misfit.problem, misfit.wanted), []).append(misfit)
    for group in groups.values():
        yield _finding(group, function, facts)


def _finding(group: list[Misfit], function: Function, facts: Facts) -> Finding:
    misfit = group[0]
    instruction, operand = function.instructions[misfit.at], misfit.operand
    name = _register(operand)
    starts = [function.instructions[other.at].start for other in group[1:]]
    more, lines = at_lines(starts, facts)
    labels: tuple[Label, ...] = ()
    if misfit.origin is not None:
        labels = (Label(facts.span(misfit.origin), _made(misfit)),)
    span = facts.span(instruction)
    if isinstance(operand, Address):
        span = operand_span(instruction, operand, facts)
    return RULE.finding(
        f"`{name}` {_held(misfit)}, and `{instruction.opcode}` takes {_wanted(misfit)}",
        span,
        severity=Severity.WARNING if misfit.harmless else RULE.severity,
        labels=labels,
        notes=(_why(misfit), *more),
        help=_help(misfit, instruction),
        data={
            "held": misfit.held,
            "wanted": misfit.wanted,
            "problem": misfit.problem,
            "base": None if misfit.base is None else str(misfit.base),
            "lines": lines,
        },
    )


def _register(operand: object) -> str:
    base = operand.base if isinstance(operand, Address) else operand
    return base.name if isinstance(base, Register) else "the address"


def _of(misfit: Misfit) -> str:
    variable = None if misfit.base is None else misfit.base.variable
    return "" if variable is None else f" (`{variable.name}`)"


def _held(misfit: Misfit) -> str:
    if misfit.problem == RAW:
        return f"is an offset in the .{misfit.held} window{_of(misfit)}"
    if misfit.problem == GENERIC:
        return f"is a generic address of .{misfit.held} memory{_of(misfit)}"
    return f"is an address of .{misfit.held} memory{_of(misfit)}"


def _wanted(misfit: Misfit) -> str:
    if misfit.wanted == "generic":
        if misfit.problem == RAW:
            return "a generic address"
        return "a generic address of its own space"
    if misfit.problem == GENERIC:
        return "an offset in the window"
    return f"one of .{misfit.wanted} memory"


def _made(misfit: Misfit) -> str:
    if misfit.problem == RAW:
        return "mov of a symbol gives its place in its own space"
    return "the address is made here"


def _why(misfit: Misfit) -> str:
    if misfit.problem == RAW:
        return (
            "as a generic address that small number is the start of global memory, where nothing"
            " is allocated: CUDA_ERROR_ILLEGAL_ADDRESS (700), or a wrong value; ptxas says nothing"
        )
    if misfit.harmless:
        return f"undefined in the PTX ISA; {_WORKS}; ptxas says nothing"
    return (
        "undefined in the PTX ISA: it leads to another place or faults; ptxas says nothing about"
        " addresses in registers"
    )


def _help(misfit: Misfit, instruction: Instruction) -> str:
    mnemonic, held = instruction.opcode.mnemonic, misfit.held
    if misfit.problem == RAW and mnemonic == "cvta":
        return f"use the offset as it is with `.{held}`, or convert it by `cvta.{held}`"
    if misfit.problem == RAW:
        return f"say `{mnemonic}.{held}`, or convert the address first: `cvta.{held}`"
    if misfit.problem == GENERIC:
        return f"convert it first (`cvta.to.{held}`), or leave `.{held}` out of the opcode"
    return f"use `.{held}` here, or the address that was meant"
