"""Numbers that reach operands of shuffles through a register."""

from __future__ import annotations

from ...ptx.ir import Function, Instruction, Integer, Operand, Register
from ..facts import Facts, by_opcode
from ..symbols import writes_of

_SHUFFLES = frozenset({"shfl"})


def number_at(function: Function, facts: Facts, operand: Operand) -> int | None:
    """The number that operand b or c of a shuffle is: written out, or in a register that one
    unguarded `mov` alone writes.
    """
    if type(operand) is Integer:
        return operand.value
    return facts.once(function, _moved).get(operand)


def _moved(function: Function, facts: Facts) -> dict[Operand, int]:
    """The registers of such operands that hold one number."""
    wanted = {
        operand
        for shuffle in facts.of_mnemonics(function, _SHUFFLES)
        for operand in shuffle.operands[2:4]
        if type(operand) is Register
    }
    if not wanted:
        return {}
    index = facts.once(function, by_opcode)
    writes = writes_of(index, wanted)
    found: dict[Operand, int] = {}
    for opcode in index:
        for made in index[opcode] if opcode.mnemonic == "mov" else ():
            if made.operands and writes[made.operands[0]] == 1:
                value = _moves(made)
                if value is not None:
                    found[made.operands[0]] = value
    return found


def _moves(instruction: Instruction) -> int | None:
    """The number that a mov puts into a register, whoever executes it."""
    if instruction.guard is not None or len(instruction.operands) < 2:
        return None
    source = instruction.operands[1]
    return source.value if isinstance(source, Integer) else None
