"""Masks of undefined bits: bit *i* is set where bit *i* of a register is undefined."""

from __future__ import annotations

from collections.abc import Callable

from ...isa.types import SIZES
from ...ptx.ir import Opcode, Operand, Register

Mask = Callable[[Operand], int]
Constant = Callable[[Operand], "int | None"]


def width(register: Operand) -> int:
    """The bits of a register; 1 of a predicate, those of all elements of a vector."""
    if not isinstance(register, Register):
        return 0
    variable = register.variable
    return 1 if variable.type == "pred" else SIZES.get(variable.type, 8) * 8 * variable.vector


def full(register: Operand) -> int:
    """The mask of all bits of a register."""
    return (1 << width(register)) - 1


def operand_width(opcode: Opcode) -> int:
    """The bits of an operand that an opcode reads, by its last type; 128 where it names none."""
    for modifier in reversed(opcode.modifiers):
        if modifier == "pred":
            return 1
        if modifier in SIZES:
            return SIZES[modifier] * 8
    return 128
