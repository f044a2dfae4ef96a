"""## What it does

Points out objects in local memory that a variable indexes, with their bytes, and the accesses to
them: how many, and those in loops.

## Why it matters

Local memory is memory: each thread has its piece of it in DRAM, behind the L1 cache. An array that
is indexed by a variable can't be in registers, and a compiler puts it there without a word
(`__local_depot0`); in a loop it costs as much as any load. An H200 has 512 KiB for a thread, and
255 registers.

## Example

```ptx
.local .align 16 .b8 __local_depot0[64];
...
st.local.u32 [%rd4], %r1;
```

## Fix

Unroll the loop whose variable is the index, so that each element is a register; use shared memory,
`shfl` or `prmt` for small tables.

## Limits

What ptxas spills is not in the text: `ptxlint resources --ptxas` has it. An object that is accessed
at constant offsets alone is none: ptxas keeps it in registers where it can. Silent in code made for
a debugger, which keeps all variables there.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.flow.graph import control_flow
from ptxlint.analysis.flow.loops import loops
from ptxlint.analysis.objects import declarations, size_of
from ptxlint.analysis.symbols import address_of, symbol_addresses
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Address, Function, Instruction, Variable

RULE = Rule(
    code="PTX405",
    name="local-memory",
    category="resources",
    severity=Severity.INFO,
    summary="objects in local memory, which is not in registers",
    screen="objects:local_objects",
)
_LABELS = 4


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each function with such an object."""
    if "debug" in facts.module.targets:
        return
    objects = [v for v in facts.once(function, declarations) if v.space == "local"]
    accesses = _accesses(function, facts)
    if not objects or all(_is_fixed(each, function, facts) for each in accesses):
        return
    largest = max(objects, key=lambda v: size_of(v) or 0)
    inside = _in_loops(accesses, function, facts)
    total = sum(size_of(v) or 0 for v in objects)
    count = f"{len(accesses)} access{'es' if len(accesses) > 1 else ''}"
    where = f", {len(inside)} of them in loops" if inside else ""
    yield RULE.finding(
        f"`{largest.name}` is in local memory, {total:,} bytes a thread: {count}{where}",
        facts.span(largest),
        labels=tuple(Label(facts.span(each), "in a loop") for each in inside[:_LABELS]),
        notes=(_others(objects, largest),) if len(objects) > 1 else (),
        help="index it by constants alone (unroll), or keep it in shared memory",
        data={
            "bytes": total,
            "accesses": len(accesses),
            "in_loops": [facts.module.source.line_of(each.start) for each in inside],
        },
    )


def _is_fixed(access: Instruction, function: Function, facts: Facts) -> bool:
    known = facts.once(function, symbol_addresses)
    addresses = [operand for operand in access.operands if isinstance(operand, Address)]
    return all(address_of(address, known) is not None for address in addresses)


def _others(objects: list[Variable], largest: Variable) -> str:
    rest = ", ".join(f"`{v.name}` {size_of(v) or 0:,}" for v in objects if v is not largest)
    return f"bytes of the others: {rest}"


def _accesses(function: Function, facts: Facts) -> list[Instruction]:
    """Loads and stores that say ``.local``, in order."""
    return facts.of_opcodes(
        function, lambda opcode: opcode.mnemonic in ("ld", "st") and "local" in opcode.modifiers
    )


def _in_loops(accesses: list[Instruction], function: Function, facts: Facts) -> list[Instruction]:
    flow, known = facts.once(function, control_flow), facts.once(function, loops)
    wanted = {id(each) for each in accesses}
    return [
        each
        for at, each in enumerate(function.instructions)
        if id(each) in wanted and known.innermost(flow.block_of[at]) is not None
    ]
