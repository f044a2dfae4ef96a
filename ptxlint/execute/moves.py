"""``mov``, address conversions and symbols' spaces (PTX ISA, "mov", "cvta", "isspacep", "mapa")."""

from __future__ import annotations

from ..ptx.ir import Instruction, Operand, Pair, Vector
from .builder import Builder, Function1, elementwise, in_turn, nothing, spread
from .code import Op, Run
from .memory import CONST_BASE, LOCAL_WINDOW, PARAM_BASE, SHARED_WINDOW, WINDOW_SIZE
from .result import Unsupported
from .types import TYPES, Type, types_of

WINDOWS = {"shared": SHARED_WINDOW, "local": LOCAL_WINDOW}
_M64 = (1 << 64) - 1


def copy(builder: Builder, target: Operand, source: int, mask: int) -> Run:
    """One register from a slot, undefined bits and all."""
    return elementwise(lambda a: a & mask, builder.target(target), [source], lambda a, u: u & mask)


def mov(builder: Builder, instruction: Instruction, op: Op) -> None:
    """Copies, packs, unpacks; vectors are copied element by element."""
    type_ = types_of(instruction.opcode.modifiers)[-1]
    target, source = instruction.operands
    if isinstance(target, Pair):
        raise Unsupported("pair")
    to, given = builder.elements(target), builder.elements(source)
    if len(to) > 1 and len(given) > 1:
        spare = [builder.code.slots.register(("aside", i), 64) for i in range(len(to))]
        slots = [builder.source(each, type_) for each in given]
        aside = [
            elementwise(lambda a: a, x, [y], lambda a, u: u)
            for x, y in zip(spare, slots, strict=False)
        ]
        back = [copy(builder, x, y, type_.mask) for x, y in zip(to, spare, strict=False)]
        op.run = in_turn([*aside, *back])
    elif isinstance(source, Vector) and len(given) > 1:
        op.run = _pack(builder, target, given, type_)
    elif len(to) > 1:
        op.run = _unpack(builder, to, source, type_)
    else:
        slot = builder.source(given[0], type_)
        op.run = copy(builder, to[0], slot, type_.mask)


def _pack(builder: Builder, target: Operand, parts: list[Operand], type_: Type) -> Run:
    width = type_.width // len(parts)
    part = Type("part", "b", width)
    mask = part.mask

    def pack(*values: int) -> int:
        found = 0
        for value in reversed(values):
            found = found << width | value & mask
        return found

    def marks(*columns: int) -> int:
        return pack(*columns[len(columns) // 2 :])

    slots = builder.sources(parts, TYPES.get(f"b{width}", part))
    return elementwise(pack, builder.target(target), slots, marks)


def _unpack(builder: Builder, to: list[Operand], source: Operand, type_: Type) -> Run:
    width = type_.width // len(to)
    mask = (1 << width) - 1
    slot = builder.source(source, type_)
    aside = builder.code.slots.register("unpacked", 128)
    runs = [elementwise(lambda a: a, aside, [slot], lambda a, u: u)]
    for i, element in enumerate(to):
        shift = i * width

        def part(a: int, shift: int = shift) -> int:
            return a >> shift & mask

        def marks(a: int, u: int, shift: int = shift) -> int:
            return u >> shift & mask

        runs.append(elementwise(part, builder.target(element), [aside], marks))
    return in_turn(runs)


def cvta(builder: Builder, instruction: Instruction, op: Op) -> None:
    """Between the generic address and that of a window; other spaces have the same numbers."""
    modifiers = instruction.opcode.modifiers
    type_ = types_of(modifiers)[-1]
    space = next((m for m in modifiers if m not in ("to", type_.name)), "").split("::")[0]
    window = WINDOWS.get(space, 0)
    slot = builder.source(instruction.operands[1], type_)
    if "to" in modifiers:
        window = -window
    mask = type_.mask

    def marks(a: int, u: int) -> int:
        return -(u & -u) & mask if window else u

    op.run = elementwise(
        lambda a: (a + window) & mask, builder.target(instruction.operands[0]), [slot], marks
    )


def _in_space(space: str) -> Function1:
    if space in WINDOWS:
        base = WINDOWS[space]
        return lambda a: int(base <= a < base + WINDOW_SIZE)
    if space == "param":
        return lambda a: int(PARAM_BASE <= a < PARAM_BASE + WINDOW_SIZE)
    if space == "const":
        return lambda a: int(CONST_BASE <= a < CONST_BASE + WINDOW_SIZE)
    return lambda a: int(a < CONST_BASE)


def isspacep(builder: Builder, instruction: Instruction, op: Op) -> None:
    """Whether a generic address is in a space; in a cluster of one CTA its shared is all shared."""
    space = instruction.opcode.modifiers[0].split("::")[0]
    slot = builder.source(instruction.operands[1])
    target = builder.target(instruction.operands[0])
    op.run = elementwise(_in_space(space), target, [slot], spread(1))


def mapa(builder: Builder, instruction: Instruction, op: Op) -> None:
    """In a cluster of one CTA the address of its own shared memory is the address."""
    type_ = types_of(instruction.opcode.modifiers)[-1]
    slot = builder.source(instruction.operands[1], type_)
    op.run = copy(builder, instruction.operands[0], slot, type_.mask)


def constant_result(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``getctarank`` (of a cluster of one), ``createpolicy``: any fixed value does."""
    value = 0 if instruction.opcode.mnemonic == "getctarank" else 0x1000_0000_0000_0000
    slot = builder.constant(value)
    op.run = copy(builder, instruction.operands[0], slot, _M64)


def no_effect(builder: Builder, instruction: Instruction, op: Op) -> None:
    """Fences, prefetches, hints: nothing that one thread after another could see."""
    op.run = nothing
