"""What a function's instructions name beside registers and numbers."""

from __future__ import annotations

from ..ptx.ir import Float, Function, Instruction, Integer, Operand, Register
from .facts import Facts

_UNNAMED = frozenset({Register, Integer, Float})


def definitions(function: Function, facts: Facts) -> dict[Register, list[Instruction]]:
    """By register, the instructions that have it as their first operand, by itself."""
    found: dict[Register, list[Instruction]] = {}
    for instruction in function.instructions:
        operands = instruction.operands
        if operands and type(operands[0]) is Register:
            found.setdefault(operands[0], []).append(instruction)
    return found


def named_operands(function: Function, facts: Facts) -> list[Operand]:
    """The operands of a function's instructions, each once, in the order of the text; registers
    and numbers that are operands by themselves left out.

    In one scope every mention of a symbol or special register is one object, so that these are few.
    """
    kinds = _UNNAMED
    return list(
        dict.fromkeys(
            [o for i in function.instructions for o in i.operands if type(o) not in kinds]
        )
    )
