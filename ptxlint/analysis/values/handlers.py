"""What the handler of an opcode may ask while an instruction is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...ptx.ir import Instruction, Operand, Pair, Vector
from .algebra import Algebra
from .pattern import Pattern


class Evaluator(Protocol):
    """What a handler may ask while an instruction is evaluated."""

    algebra: Algebra
    interior: bool

    def read(self, operand: Operand, width: int) -> Pattern | None:
        """The pattern of an operand as an integer of that width; None where it is unknown."""


Handler = Callable[[Evaluator, Instruction, int], "Pattern | None"]


def result_index(first: Operand, register: Operand) -> int:
    """Which element of an instruction's first operand a register is: 0 for a scalar."""
    if isinstance(first, Vector):
        return first.elements.index(register)
    if isinstance(first, Pair):
        return 0 if first.first is register else 1
    return 0


def all_of(evaluator: Evaluator, operands: tuple[Operand, ...], width: int) -> list[Pattern] | None:
    """The patterns of operands of one width; None where one is unknown."""
    found = []
    for operand in operands:
        pattern = evaluator.read(operand, width)
        if pattern is None:
            return None
        found.append(pattern)
    return found
