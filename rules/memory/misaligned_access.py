"""## What it does

Reports a memory access whose address is a declared object plus a constant that can't be a
multiple of what the access needs, wherever the object lies. The address may be written out
(`[table+8]`) or come through registers that one instruction each defines: `mov`, `add` and `sub`
of constants, `cvta`, `mapa`, `cvt`.

| access | needs a multiple of |
|---|---|
| `ld`, `ldu`, `st`, `atom`, `red`, `st.async`, `red.async` | type size times vector length |
| `cp.async` | the copy's size, both addresses |
| `cp.async.bulk`, `cp.reduce.async.bulk`, bulk prefetch | 16 |
| `cp.async.bulk.tensor` | 128 on the shared side |
| `ldmatrix`, `stmatrix` | 16 |
| `mbarrier.*`, and the mbarrier of the copies above | 8 |
| `wmma.load`, `wmma.store` | the fragment's bytes (warning) |

## Why it matters

The kernel dies with CUDA_ERROR_MISALIGNED_ADDRESS (716), and the context with it; ptxas accepts
all of these without a word. Each row above was run on an H200 (sm_90, driver 580) and faulted,
but for `st.async`, `red.async` and the mbarrier of a copy, which were not run, and for wmma, which
the ISA forbids and which got by at half the alignment there. Direct `ld.const`
and `ld.param` faulted only below 4 bytes, since ptxas splits the wider ones: those are held to 4.

ptxas narrows a vector load of which one element is used, so that a wrong address may not fault
today, and will when the next element is used.

## Example

```ptx
.global .align 16 .b8 lookup_table[32];

ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [lookup_table+8];
```

## Fix

Use an offset that is a multiple of the access, or accesses as small as the offset allows: two
`ld.v2.f32` here.

## Limits

Addresses that depend on the thread, a loop or a parameter are not judged here. An object whose
declared alignment is too small, though the offset would fit, is PTX302's. For `.extern`, `.weak`
and `.common` objects the declared alignment is an assumption: a warning. Several accesses at the
same offset that need the same are one finding, at the first.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from ptxlint.analysis import Facts
from ptxlint.analysis.alignment import LARGEST, MNEMONICS, Need, needs
from ptxlint.analysis.facts import by_opcode
from ptxlint.analysis.objects import alignment_of
from ptxlint.analysis.places import at_lines, operand_span
from ptxlint.analysis.symbols import SymbolAddress, address_of, symbol_addresses
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Address, Function, Instruction, Operand, Symbol

RULE = Rule(
    code="PTX301",
    name="misaligned-access",
    category="memory",
    severity=Severity.ERROR,
    summary="an address that can't be a multiple of the access size",
    mnemonics=MNEMONICS,
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each object, offset and need."""
    known = facts.once(function, symbol_addresses)
    found: dict[tuple[int, int, int], list[tuple[Instruction, Need, SymbolAddress]]] = {}
    for instruction in _accesses(function, facts, known):
        for need in needs(instruction):
            address = address_of(need.address, known)
            if address is None or not _judged(function, address):
                continue
            need = _held_to(need, instruction, address)
            if address.offset % min(alignment_of(address.variable), need.bytes):
                key = (id(address.variable), address.offset, need.bytes)
                found.setdefault(key, []).append((instruction, need, address))
    for uses in found.values():
        yield _finding(uses, facts)


def _accesses(
    function: Function, facts: Facts, known: dict[Operand, SymbolAddress]
) -> list[Instruction]:
    """The memory instructions with such an address, in order: few of all there are."""
    index = facts.once(function, by_opcode)
    found = [
        instruction
        for opcode in index
        if opcode.mnemonic in MNEMONICS
        for instruction in index[opcode]
        for operand in instruction.operands
        if type(operand) is Address and (type(operand.base) is Symbol or operand.base in known)
        if (address := address_of(operand, known)) is not None and address.offset % LARGEST
    ]
    return sorted(dict.fromkeys(found), key=lambda instruction: instruction.start)


def _judged(function: Function, address: SymbolAddress) -> bool:
    """Not the .param variables of calls, which may never be in memory."""
    variable = address.variable
    if variable.space != "param":
        return variable.space in ("global", "shared", "const", "local")
    return function.is_kernel and any(variable is p for p in function.parameters)


def _held_to(need: Need, instruction: Instruction, address: SymbolAddress) -> Need:
    """The need as hardware has it: the constant bank is read 4 bytes at a time."""
    spaces = [m.split("::")[0] for m in instruction.opcode.modifiers]
    if "const" in spaces or "param" in spaces:
        return need._replace(bytes=min(need.bytes, 4))
    return need


def _finding(uses: list[tuple[Instruction, Need, SymbolAddress]], facts: Facts) -> Finding:
    instruction, need, address = uses[0]
    variable, offset = address.variable, address.offset
    align = alignment_of(variable)
    multiple = min(align, need.bytes)
    past = f"{offset % multiple} past one"
    if multiple < need.bytes:
        past = f"{offset % multiple} past a multiple of {multiple}"
    declared = f".align {align}" if variable.align == align else f"aligned to {align} by its type"
    assumptions: tuple[str, ...] = ()
    if variable.linkage in ("extern", "weak", "common"):
        assumptions = (
            f"`{variable.name}` is .{variable.linkage}: wherever it comes from, it lies at a"
            f" multiple of {align}, as declared here",
        )
    labels = [Label(facts.span(variable), f"`{variable.name}` is declared here")]
    if address.origin is not None:
        labels.append(Label(facts.span(address.origin), "the address is made here"))
    fault = "faults with CUDA_ERROR_MISALIGNED_ADDRESS (716) when it runs"
    if not need.faults:
        fault = "undefined in the PTX ISA; it faults or not, by the width that ptxas picks"
    more, lines = at_lines([i.start for i, _, _ in uses[1:]], facts)
    smaller = gcd(offset, need.bytes)
    split = f", or accesses of {smaller} bytes" if need.what.endswith("access") else ""
    weak = bool(assumptions) or not need.faults
    return RULE.finding(
        f"offset {offset} of `{variable.name}` ({declared}): {need.what} needs a multiple of"
        f" {need.bytes}, this is {past}",
        operand_span(instruction, need.address, facts),
        severity=Severity.WARNING if weak else RULE.severity,
        labels=tuple(labels),
        notes=(f"{fault}; ptxas says nothing", *more),
        help=f"use an offset that is a multiple of {need.bytes}{split}",
        assumptions=assumptions,
        data={"offset": offset, "needs": need.bytes, "align": align, "lines": lines},
    )
