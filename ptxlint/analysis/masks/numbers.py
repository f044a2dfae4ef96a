"""Numbers that reach operands of shuffles through a register."""

from __future__ import annotations

from ...ptx.ir import Function, Instruction, Integer, Operand, Register
from ..facts import Facts
from ..flow.registers import register_use

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
    use = facts.once(function, register_use)
    wanted: dict[int, Register] = {}
    for shuffle in facts.of_mnemonics(function, _SHUFFLES):
        for operand in shuffle.operands[2:4]:
            if isinstance(operand, Register) and operand in use.numbers:
                wanted[use.numbers[operand]] = operand
    if not wanted:
        return {}
    writers: dict[int, Instruction | None] = {}
    for written, instruction in zip(use.writes, function.instructions, strict=True):
        for number in written:
            if number in wanted:
                writers[number] = None if number in writers else instruction
    found: dict[Operand, int] = {}
    for number, writer in writers.items():
        value = None if writer is None else _moves(writer)
        if value is not None:
            found[wanted[number]] = value
    return found


def _moves(instruction: Instruction) -> int | None:
    """The number that an instruction moves into a register, whoever executes it."""
    if instruction.opcode.mnemonic != "mov" or instruction.guard is not None:
        return None
    source = instruction.operands[1]
    return source.value if isinstance(source, Integer) else None
