"""The instructions that lanes of a warp execute together by a member mask."""

from __future__ import annotations

from typing import NamedTuple

from ...isa.shuffles import MODES
from ...isa.warp_operands import operands_of
from ...ptx.ir import Function, Instruction, Opcode, Operand
from ..facts import Facts, by_opcode

MNEMONICS = frozenset({"shfl", "vote", "match", "redux", "elect", "bar"})
FULL = 0xFFFFFFFF


class WarpOperation(NamedTuple):
    """Instruction ``at`` of the function and the operand that names its members."""

    at: int
    instruction: Instruction
    mask: Operand

    @property
    def opcode(self) -> Opcode:
        """Mnemonic and modifiers."""
        return self.instruction.opcode

    @property
    def mode(self) -> str | None:
        """Of a shuffle, how lanes choose their source: ``up``, ``down``, ``bfly``, ``idx``."""
        return shuffle_mode(self.instruction.opcode)


def shuffle_mode(opcode: Opcode) -> str | None:
    """``up``, ``down``, ``bfly`` or ``idx``; None for what is no shuffle."""
    if opcode.mnemonic != "shfl":
        return None
    return next((m for m in opcode.modifiers if m in MODES), None)


def needed_operands(function: Function, facts: Facts) -> dict[Opcode, int]:
    """The function's opcodes that take a member mask, and how many operands each needs."""
    found = {}
    for opcode in facts.once(function, by_opcode):
        if opcode.mnemonic in MNEMONICS:
            names = operands_of(opcode.mnemonic, opcode.modifiers)
            if names is not None:
                found[opcode] = len(names)
    return found
