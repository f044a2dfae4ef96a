"""What an opcode says of its operands, and what its handler may ask."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from ...isa.types import SIZES
from ...ptx.ir import Instruction, Opcode, Operand, Pair, Vector
from .algebra import Algebra
from .pattern import Pattern


class Evaluator(Protocol):
    """What a handler may ask while an instruction is evaluated."""

    algebra: Algebra
    interior: bool

    def read(self, operand: Operand, width: int) -> Pattern | None:
        """The pattern of an operand as an integer of that width; None where it is unknown."""


Handler = Callable[[Evaluator, Instruction, int], "Pattern | None"]

_INTEGERS = frozenset({"b", "s", "u"})


class Kind:
    """What an opcode's modifiers say of its integers: width in bits and signedness."""

    __slots__ = ("modifiers", "opcode", "signed", "types", "width")

    def __init__(self, opcode: Opcode) -> None:
        self.opcode = opcode
        self.modifiers = frozenset(opcode.modifiers)
        self.types = [m for m in opcode.modifiers if m in SIZES or m == "pred"]
        last = self.types[-1] if self.types else "b32"
        self.width = 1 if last == "pred" else SIZES[last] * 8
        self.signed = last[0] == "s"

    @property
    def integer(self) -> bool:
        """Whether all types named are integers or bits of at most 64."""
        return all(t == "pred" or (t[0] in _INTEGERS and "x" not in t) for t in self.types) and (
            self.width <= 64
        )


@lru_cache(maxsize=1024)
def kind_of(opcode: Opcode) -> Kind:
    """The kind of an opcode."""
    return Kind(opcode)


def result_index(instruction: Instruction, register: Operand) -> int:
    """Which element of the first operand a register is: 0 for a scalar."""
    first = instruction.operands[0]
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
