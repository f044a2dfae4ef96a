"""## What it does

Reports an access that every launch makes and that lies, in whole or in part, outside the declared
object that its address is based on: at a constant offset, or at one that is known for each thread.
Objects in `.shared`, `.global`, `.const` and `.local` memory, and kernel parameters.

## Why it matters

What is read or written belongs to something else, or to nothing: shared memory holds the next
object there, whatever the assembler put behind this one, and beyond the block's shared memory the
kernel dies with CUDA_ERROR_ILLEGAL_ADDRESS (700). A parameter read beyond its end is whatever lies
in the constant bank. ptxas takes all of it without a word.

## Example

```ptx
.reqntid 256, 1, 1
...
.shared .align 4 .b8 row[512];     // 128 floats

mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 2;
mov.u32 %r3, row;
add.u32 %r4, %r3, %r2;
st.shared.f32 [%r4], %f1;          // threads 128 to 255 are outside
```

## Fix

Make the object as large as the block needs, or let only those threads do it that have a place.

## Limits

An error where it follows from the file alone (`.reqntid` is a fact). A block that `--block` or
Triton's metadata gives, index arithmetic that is taken not to wrap around, or a thread that is
taken to get past a bound check are assumptions: a warning. With no block known, thread 0 is looked
at. Silent where a launch may pass the access by, in device functions, on pointers, and on
`.extern .shared` memory, whose size the launch gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ptxlint.analysis import Facts
from ptxlint.analysis.launch import launch_shape
from ptxlint.analysis.memory.bounds import Outside, outside
from ptxlint.analysis.places import at_lines, operand_span
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Address, Function

RULE = Rule(
    code="PTX322",
    name="out-of-bounds",
    category="memory",
    severity=Severity.ERROR,
    summary="an address outside the object that it is based on",
    screen="memory.glance:overrunning",
    mnemonics=frozenset(
        {"ld", "ldu", "st", "atom", "red", "cp", "ldmatrix", "stmatrix", "mbarrier"}
    ),
)
_OTHERS = frozenset({"extern", "weak", "common"})


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each object, offset and width."""
    groups: dict[object, list[Outside]] = {}
    for one in facts.once(function, outside):
        key = (id(one.variable), one.offset, one.width, one.threads)
        groups.setdefault(key, []).append(one)
    for group in groups.values():
        yield _finding(group, function, facts)


def _finding(group: list[Outside], function: Function, facts: Facts) -> Finding:
    one = group[0]
    instruction, variable = one.access.instruction, one.variable
    assumptions = one.assumptions
    if variable.linkage in _OTHERS:
        assumptions += (
            f"`{variable.name}` is .{variable.linkage}: wherever it comes from, it is as large as"
            " declared here",
        )
    more, lines = at_lines([other.access.instruction.start for other in group[1:]], facts)
    operand = one.access.operand
    assert isinstance(operand, Address)
    who = _who(one, function, facts)
    return RULE.finding(
        f"`{instruction.opcode}` {_where(one)} `{variable.name}`, which has {one.size:,} bytes"
        f"{who}",
        operand_span(instruction, operand, facts),
        severity=Severity.WARNING if assumptions else RULE.severity,
        labels=(Label(facts.span(variable), f"`{variable.name}` is declared here"),),
        notes=(_why(one), *more),
        help=_help(one),
        assumptions=assumptions,
        witness=_witness(one, function, facts),
        data={
            "offset": one.offset,
            "width": one.width,
            "size": one.size,
            "threads": one.threads,
            "lines": lines,
        },
    )


def _where(one: Outside) -> str:
    last = one.offset + one.width
    what = f"bytes {one.offset:,} to {last - 1:,}" if one.width > 1 else f"byte {one.offset:,}"
    return f"uses {what} of"


def _who(one: Outside, function: Function, facts: Facts) -> str:
    if not one.threads or one.thread is None:
        return ""
    more = f", and {one.threads - 1:,} more threads like it" if one.threads > 1 else ""
    place = facts.once(function, launch_shape).place(one.thread)
    return f" (thread {place[0] if place[1:] == (0, 0) else place}{more})"


def _witness(one: Outside, function: Function, facts: Facts) -> dict[str, Any]:
    witness: dict[str, Any] = {"offset": one.offset, "bytes": one.width}
    if one.thread is not None:
        witness["thread"] = list(facts.once(function, launch_shape).place(one.thread))
    return witness


def _why(one: Outside) -> str:
    space = one.variable.space
    if space == "param":
        return "what lies there in the constant bank is read; ptxas says nothing"
    if space == "shared":
        return (
            "another object lies there, or nothing: then it faults with"
            " CUDA_ERROR_ILLEGAL_ADDRESS (700); ptxas says nothing"
        )
    return "what lies there is something else's, or nothing's; ptxas says nothing"


def _help(one: Outside) -> str:
    needed = one.offset + one.width
    if one.offset < 0:
        return "use an offset from 0 on"
    if one.threads:
        return f"make `{one.variable.name}` as large as the block needs, or guard the access"
    return (
        f"use an offset up to {one.size - one.width:,}, or declare `{one.variable.name}` with"
        f" {needed:,} bytes"
    )
