"""Which bits of a result are undefined when some bits of the operands are.

Masks are ints, bit *i* for bit *i* of the register; a set bit is undefined. What is in doubt counts
as defined: a mask never claims more than the instruction passes on.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...ptx.ir import Address, Instruction, Opcode, Operand, Register, Vector
from .bit_rules import RULES
from .masks import Constant, Mask, full, operand_width

# What these write is defined; whether wgmma reads its accumulator is decided when it runs.
_DEFINING = frozenset({"call", "wgmma"})

_LANES = {"f16x2": 16, "bf16x2": 16, "u16x2": 16, "s16x2": 16, "f32x2": 32, "u8x4": 8, "s8x4": 8}
_MOVES = frozenset({"mov", "selp", "cvt", "shl", "shr", "shf", "bfe", "bfi", "prmt"})
_INTEGERS = frozenset("bsu")


def moves(opcode: Opcode) -> bool:
    """Whether an instruction only moves bits: what these alone make is still nobody's value."""
    if opcode.mnemonic == "cvt":
        return all(m[0] in _INTEGERS and m[1:].isdigit() for m in opcode.modifiers)
    return opcode.mnemonic in _MOVES


def passed(
    instruction: Instruction, results: int, undefined: Mask, constant: Constant
) -> Iterator[tuple[Register, int]]:
    """(register, undefined bits) for each register that the instruction writes.

    ``results`` is how many operands it writes. What comes from memory or a call is defined.
    """
    operands = instruction.operands
    targets, sources = operands[:results], operands[results:]
    mnemonic = instruction.opcode.mnemonic
    if mnemonic in _DEFINING or any(isinstance(operand, Address) for operand in sources):
        return
    if mnemonic == "mov":
        yield from _moved(instruction.opcode, targets[0], sources[0], undefined)
        return
    if mnemonic in ("mma", "wmma"):
        yield from _product(targets, sources, undefined)
        return
    registers = list(_registers(targets))
    if mnemonic == "shfl":  # the predicate tells whether the source lane is in range
        registers = registers[:1]
    rule = RULES.get(mnemonic)
    if rule is not None and len(registers) == 1 and all(map(_plain, sources)):
        mask = rule(instruction.opcode, sources, undefined, constant)
        if mask is not None:
            yield registers[0], mask & full(registers[0])
            return
    for register in registers:
        yield register, _any(instruction.opcode, sources, undefined) & full(register)


def _plain(operand: Operand) -> bool:
    return not isinstance(operand, Vector)


def _registers(operands: tuple[Operand, ...]) -> Iterator[Register]:
    for operand in operands:
        if isinstance(operand, Register):
            yield operand
        elif not isinstance(operand, Address):
            yield from _registers(operand.children())


def _any(opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask) -> int:
    """All bits where an operand has undefined ones among those that are read."""
    masks = [undefined(operand) for operand in sources]
    lanes = next((_LANES[m] for m in opcode.modifiers if m in _LANES), 0)
    if opcode.mnemonic == "cvt" and any(m.endswith(("x2", "x4")) for m in opcode.modifiers):
        if lanes == 16 and opcode.modifiers[-1] == "f32" and len(masks) == 2:  # upper, lower
            return (0xFFFF0000 if masks[0] else 0) | (0xFFFF if masks[1] else 0)
        return -1 if all(masks) else 0
    if lanes:
        return _by_lane(masks, lanes)
    reads = (1 << operand_width(opcode)) - 1
    return -1 if any(mask & reads for mask in masks) else 0


def _by_lane(masks: list[int], lanes: int) -> int:
    """Packed arithmetic: each lane for itself."""
    found, lane = 0, (1 << lanes) - 1
    for shift in range(0, 128, lanes):
        if any(mask >> shift & lane for mask in masks):
            found |= lane << shift
    return found


def _moved(
    opcode: Opcode, target: Operand, source: Operand, undefined: Mask
) -> Iterator[tuple[Register, int]]:
    """``mov``: from one register to another, taken apart or put together."""
    if isinstance(target, Vector) and isinstance(source, Vector):
        for to, of in zip(target.elements, source.elements, strict=False):
            if isinstance(to, Register):
                yield to, undefined(of) & full(to)
    elif isinstance(target, Vector):
        each = operand_width(opcode) // len(target.elements)
        mask = undefined(source)
        for place, to in enumerate(target.elements):
            if isinstance(to, Register):
                yield to, mask >> place * each & full(to)
    elif isinstance(target, Register) and isinstance(source, Vector):
        each = operand_width(opcode) // len(source.elements)
        mask = 0
        for place, of in enumerate(source.elements):
            mask |= (undefined(of) & ((1 << each) - 1)) << place * each
        yield target, mask & full(target)
    elif isinstance(target, Register):
        yield target, undefined(source) & full(target)


def _product(
    targets: tuple[Operand, ...], sources: tuple[Operand, ...], undefined: Mask
) -> Iterator[tuple[Register, int]]:
    """A matrix product: rows that nobody wants may well be undefined, a whole operand may not."""
    fragments = [list(_registers((source,))) for source in sources[:3]]
    lost = any(
        fragment and all(undefined(register) == full(register) for register in fragment)
        for fragment in fragments[:2]
    )
    results = list(_registers(targets))
    addends = fragments[2] if len(fragments) == 3 and len(fragments[2]) == len(results) else []
    for place, register in enumerate(results):
        bad = lost or bool(addends and undefined(addends[place]) == full(addends[place]))
        yield register, full(register) if bad else 0
