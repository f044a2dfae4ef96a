"""## What it does

Reports a memory access whose address can't be a multiple of what the access needs:

- a declared object plus a constant (`[table+8]`, or through registers);
- a pointer that the launch passes plus a constant (`[%rd1+8]` after `ld.param`);
- lanes that are too close together: a 16-byte load from `base + 4 * %tid.x`, wherever `base` lies;
- any other address whose low bits are known, in loops and branches too.

| access | needs a multiple of |
|---|---|
| `ld`, `ldu`, `st`, `atom`, `red`, `st.async`, `red.async` | type size times vector length |
| `cp.async` | the copy's size, both addresses |
| `cp.async.bulk`, `cp.reduce.async.bulk`, bulk prefetch | 16 |
| `cp.async.bulk.tensor` | 128 on the shared side |
| `ldmatrix`, `stmatrix` | 16 |
| `mbarrier.*`, and the mbarrier of the copies above | 8 |
| `wmma.load`, `wmma.store` | the fragment's bytes (warning) |

An error where every launch that the file allows goes wrong when it gets there. A warning where that
rests on an assumption, which is printed: that pointers are 256-byte aligned, as cudaMalloc returns
them; that a block has a second thread (no `.reqntid`); that all lanes pass a bound check; that
`.extern` memory lies as declared here. `.ptr .align 16` is taken at its word; `.ptr .align 1`,
which clang writes everywhere, says nothing.

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

mul.wide.u32 %rd2, %r1, 4;          // %r1: %tid.x
add.s64 %rd3, %rd1, %rd2;
st.global.v2.f32 [%rd3], {%f1, %f2};   // lanes 1, 3, 5 … are 4 past a multiple of 8
```

## Fix

Use offsets and strides that are multiples of the access, or accesses as small as they allow: two
`ld.v2.f32` for the first. A pointer that the caller moves must be moved by whole vectors. The
JSON data has what the accesses of the kernel need of the pointer (`requirement`).

## Limits

What depends on memory, on a parameter that is a number or on a choice whose arms differ is not
judged. In a branch that only some lanes take, these must be known, or be those that pass a
bound check. An object whose declared alignment is too small, though the offset would fit, is
PTX302's. Several accesses at the same place that need the same are one finding, at the first.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.alignment import LARGEST, MNEMONICS, Need, needs, smaller
from ptxlint.analysis.facts import by_opcode
from ptxlint.analysis.memory.glance import unaligned
from ptxlint.analysis.objects import alignment_of
from ptxlint.analysis.places import at_lines, operand_span
from ptxlint.analysis.symbols import SymbolAddress, address_of, symbol_addresses
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Address, Function, Instruction, Operand, Symbol, Variable

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
    if facts.once(function, unaligned):
        yield from _at_computed_addresses(function, facts)


def _at_computed_addresses(function: Function, facts: Facts) -> Iterator[Finding]:
    """Those that threads, loops and parameters make."""
    # Few files come here, and what threads compute takes many modules to follow.
    from ptxlint.analysis.memory.misalignment_words import described

    for each in described(function, facts):
        weak = bool(each.assumptions) or not each.need.faults
        yield RULE.finding(
            each.message,
            each.span,
            severity=Severity.WARNING if weak else RULE.severity,
            labels=() if each.variable is None else (_declared(each.variable, facts),),
            notes=(_fault(each.need), *each.notes),
            help=each.help,
            assumptions=each.assumptions,
            data=each.data,
        )


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
    labels = [_declared(variable, facts)]
    if address.origin is not None:
        labels.append(Label(facts.span(address.origin), "the address is made here"))
    more, lines = at_lines([i.start for i, _, _ in uses[1:]], facts)
    weak = bool(assumptions) or not need.faults
    return RULE.finding(
        f"offset {offset} of `{variable.name}` ({declared}): {need.what} needs a multiple of"
        f" {need.bytes}, this is {past}",
        operand_span(instruction, need.address, facts),
        severity=Severity.WARNING if weak else RULE.severity,
        labels=tuple(labels),
        notes=(_fault(need), *more),
        help=f"use an offset that is a multiple of {need.bytes}{smaller(need, offset)}",
        assumptions=assumptions,
        data={
            "offset": offset,
            "needs": need.bytes,
            "align": align,
            "lines": lines,
        },
    )


def _fault(need: Need) -> str:
    if need.faults:
        return "faults with CUDA_ERROR_MISALIGNED_ADDRESS (716) when it runs; ptxas says nothing"
    return "undefined in the PTX ISA; it faults or not, by the width that ptxas picks"


def _declared(variable: Variable, facts: Facts) -> Label:
    return Label(facts.span(variable), f"`{variable.name}` is declared here")
