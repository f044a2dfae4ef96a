"""Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions" and "Extended-Precision")."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..isa.types import signed
from ..ptx.ir import Instruction
from .builder import Builder, Function1, Maker, elementwise, in_turn, spread, upward
from .code import Op, Run
from .result import Unsupported
from .types import TYPES, Type, types_of

Binary = Callable[[int, int], int]


def pieces(function: Function1, width: int, count: int) -> Function1:
    """The function on each of ``count`` elements of ``width`` bits."""
    mask = (1 << width) - 1
    shifts = tuple(range(0, width * count, width))

    def packed(*operands: int) -> int:
        found = 0
        for shift in shifts:
            found |= function(*[(each >> shift) & mask for each in operands]) << shift
        return found

    return packed


def _add(type_: Type, modifiers: Sequence[str]) -> Function1:
    return _sum(type_, "sat" in modifiers, 1)


def _sub(type_: Type, modifiers: Sequence[str]) -> Function1:
    return _sum(type_, "sat" in modifiers, -1)


def _sum(type_: Type, saturate: bool, sign: int) -> Function1:
    mask, width = type_.mask, type_.width
    if saturate:
        low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if type_.signed else (0, mask)

        def clamped(a: int, b: int) -> int:
            if type_.signed:
                a, b = signed(a, width), signed(b, width)
            return min(max(a + sign * b, low), high) & mask

        return clamped
    if sign > 0:
        return lambda a, b: (a + b) & mask
    return lambda a, b: (a - b) & mask


def _min(type_: Type, modifiers: Sequence[str]) -> Function1:
    return _extreme(type_, modifiers, False)


def _max(type_: Type, modifiers: Sequence[str]) -> Function1:
    return _extreme(type_, modifiers, True)


def _extreme(type_: Type, modifiers: Sequence[str], largest: bool) -> Function1:
    # Flipping the sign bit turns the order of signed numbers into that of unsigned ones.
    flip = 1 << (type_.width - 1) if type_.signed else 0
    relu = "relu" in modifiers

    def choose(a: int, b: int) -> int:
        found = a if (a ^ flip > b ^ flip) == largest else b
        return 0 if relu and found & flip else found

    return choose


def _div(type_: Type, modifiers: Sequence[str]) -> Function1:
    mask, width = type_.mask, type_.width

    def divide(a: int, b: int) -> int:
        if not b:
            # "Division by zero yields an unspecified, machine-specific value": GPUs give this.
            return mask
        if type_.signed:
            a, b = signed(a, width), signed(b, width)
        quotient = abs(a) // abs(b)
        return (quotient if (a < 0) == (b < 0) else -quotient) & mask

    return divide


def _rem(type_: Type, modifiers: Sequence[str]) -> Function1:
    mask, width = type_.mask, type_.width

    def remainder(a: int, b: int) -> int:
        if not b:
            return mask
        if type_.signed:
            a, b = signed(a, width), signed(b, width)
        rest = abs(a) % abs(b)
        return (-rest if a < 0 else rest) & mask

    return remainder


def _abs(type_: Type, modifiers: Sequence[str]) -> Function1:
    width, mask = type_.width, type_.mask
    return lambda a: abs(signed(a, width)) & mask


def _neg(type_: Type, modifiers: Sequence[str]) -> Function1:
    mask = type_.mask
    return lambda a: -a & mask


def _sad(type_: Type, modifiers: Sequence[str]) -> Function1:
    mask, width = type_.mask, type_.width
    if type_.signed:
        return lambda a, b, c: (abs(signed(a, width) - signed(b, width)) + c) & mask
    return lambda a, b, c: (abs(a - b) + c) & mask


SIMPLE = {
    "add": (_add, 2), "sub": (_sub, 2), "min": (_min, 2), "max": (_max, 2), "div": (_div, 2),
    "rem": (_rem, 2), "abs": (_abs, 1), "neg": (_neg, 1), "sad": (_sad, 3),
}  # fmt: skip


def simple(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``add`` to ``sad``: one function of the operands, in the type of the opcode."""
    opcode = instruction.opcode
    type_ = types_of(opcode.modifiers)[-1]
    make, count = SIMPLE[opcode.mnemonic]
    if type_.packed > 1:
        part = Type(type_.name, type_.kind, type_.width // type_.packed)
        function = pieces(make(part, opcode.modifiers), part.width, type_.packed)
    else:
        function = make(type_, opcode.modifiers)
    sources = builder.sources(instruction.operands[1 : 1 + count], type_)
    exact = opcode.mnemonic in ("add", "sub", "neg") and type_.packed == 1
    exact = exact and "sat" not in opcode.modifiers
    marks = (upward if exact else spread)(type_.mask)
    target = builder.target(instruction.operands[0])
    run = elementwise(function, target, sources, marks)
    if "cc" in opcode.modifiers:
        flag = carry_out(opcode.mnemonic, type_)
        run = in_turn([elementwise(flag, builder.carry(), sources, spread(1)), run])
    op.run = run


def carry_out(mnemonic: str, type_: Type) -> Function1:
    """The carry of ``add`` or the borrow of ``sub``."""
    if mnemonic == "add":
        return lambda a, b: (a + b) >> type_.width
    return lambda a, b: int(a < b)


def with_carry(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``addc`` and ``subc``: the flag is carry or borrow, as the ISA has it."""
    opcode = instruction.opcode
    type_ = types_of(opcode.modifiers)[-1]
    mask, width = type_.mask, type_.width
    sources = [*builder.sources(instruction.operands[1:3], type_), builder.carry()]
    sign = 1 if opcode.mnemonic == "addc" else -1

    def total(a: int, b: int, carry: int) -> int:
        return (a + sign * (b + carry)) & mask

    def flag(a: int, b: int, carry: int) -> int:
        return ((a + sign * (b + carry)) >> width) & 1

    write_flag = "cc" in opcode.modifiers
    op.run = _two(builder, instruction, sources, total, flag if write_flag else None, type_)


def _two(
    builder: Builder,
    instruction: Instruction,
    sources: list[int],
    total: Function1,
    flag: Function1 | None,
    type_: Type,
) -> Run:
    """A result and perhaps the flag; the flag is written last, from the operands before."""
    target = builder.target(instruction.operands[0])
    if flag is None:
        return elementwise(total, target, sources, upward(type_.mask))
    spare = builder.code.slots.register("carry to be", 1)
    return in_turn(
        [
            elementwise(flag, spare, sources, spread(1)),
            elementwise(total, target, sources, upward(type_.mask)),
            elementwise(lambda a: a, builder.carry(), [spare], lambda a, u: u),
        ]
    )


def multiply(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``mul``, ``mad``, ``madc``, ``mul24``, ``mad24`` of integers."""
    mnemonic, modifiers = instruction.opcode.mnemonic, instruction.opcode.modifiers
    type_ = types_of(modifiers)[-1]
    part = next((m for m in modifiers if m in ("lo", "hi", "wide")), "")
    wide = part == "wide"
    sum_type = TYPES[f"{type_.kind}{type_.width * 2}"] if wide else type_
    product = _product(type_, part, "24" in mnemonic)
    sources = builder.sources(instruction.operands[1:3], type_)
    target = builder.target(instruction.operands[0])
    mask, width = sum_type.mask, sum_type.width
    exact = upward if part == "lo" or wide else spread
    if mnemonic.startswith("mul"):
        op.run = elementwise(lambda a, b: product(a, b) & mask, target, sources, exact(mask))
        return
    sources += builder.sources(instruction.operands[3:4], sum_type)
    if "sat" in modifiers:
        low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1

        def clamped(a: int, b: int, c: int) -> int:
            hi = signed(product(a, b) & mask, width)
            return min(max(hi + signed(c, width), low), high) & mask

        op.run = elementwise(clamped, target, sources, spread(mask))
        return
    if mnemonic == "madc":
        sources.append(builder.carry())

    def total(a: int, b: int, c: int, carry: int = 0) -> int:
        return (product(a, b) + c + carry) & mask

    def flag(a: int, b: int, c: int, carry: int = 0) -> int:
        return ((product(a, b) & mask) + c + carry) >> width

    if "cc" in modifiers:
        op.run = _two(builder, instruction, sources, total, flag, sum_type)
    else:
        op.run = elementwise(total, target, sources, exact(mask))


def _product(type_: Type, part: str, only24: bool) -> Binary:
    width = 24 if only24 else type_.width
    mask = (1 << width) - 1
    # mul24.hi gives bits 16 to 47 of the 48-bit product.
    shift = (16 if only24 else type_.width) if part == "hi" else 0
    if type_.signed:
        return lambda a, b: signed(a & mask, width) * signed(b & mask, width) >> shift
    return lambda a, b: (a & mask) * (b & mask) >> shift


def dot(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``dp4a`` and ``dp2a``: bytes times bytes or halves, summed onto c."""
    modifiers = instruction.opcode.modifiers
    first, second = types_of(modifiers)
    if instruction.opcode.mnemonic == "dp4a":
        count, width, base = 4, 8, 0
    else:
        count, width, base = 2, 16, 16 if "hi" in modifiers else 0

    def total(a: int, b: int, c: int) -> int:
        for i in range(count):
            x = (a >> (width * i)) & ((1 << width) - 1)
            y = (b >> (base + 8 * i)) & 0xFF
            x = signed(x, width) if first.signed else x
            c += x * (signed(y, 8) if second.signed else y)
        return c & 0xFFFFFFFF

    sources = builder.sources(instruction.operands[1:4], TYPES["b32"])
    op.run = elementwise(
        total, builder.target(instruction.operands[0]), sources, spread(0xFFFFFFFF)
    )


def by_type(integer: Maker, floating: Maker) -> Maker:
    """Integers go one way, floats the other."""

    def make(builder: Builder, instruction: Instruction, op: Op) -> None:
        types = types_of(instruction.opcode.modifiers)
        if not types:
            raise Unsupported("no type")
        (floating if types[-1].kind == "f" else integer)(builder, instruction, op)

    return make
