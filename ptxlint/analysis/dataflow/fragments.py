"""Fragments of matrix products that name a register twice."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from ...ptx.ir import Function, Instruction, Register, Vector
from ..facts import Facts
from ..flow.ssa import DEFINITION, Values, values

MNEMONICS = frozenset({"mma", "wmma"})
_LOADS = frozenset({"ld", "ldu", "ldmatrix", "wmma", "tcgen05"})
_FRAGMENTS = {1: "A", 2: "B"}


class Repeat(NamedTuple):
    """Instruction ``product`` has ``register`` ``times`` times in its ``fragment`` (A or B);
    instruction ``load`` made it, and ``unused`` as well, which nothing reads.
    """

    product: int
    fragment: str
    register: Register
    times: int
    load: int
    unused: tuple[Register, ...]


def repeats(function: Function, facts: Facts) -> list[Repeat]:
    """The suspicious fragments of a function, in order."""
    repeated = [
        (i, fragment, register, count)
        for i, instruction in enumerate(function.instructions)
        if instruction.opcode.mnemonic in MNEMONICS
        for fragment, register, count in _repeated(instruction)
    ]
    if not repeated:
        return []
    known = facts.once(function, values)
    number = known.use.numbers
    found = []
    for product, fragment, register, count in repeated:
        value = known.read(product, number[register])
        load = None if value is None else _load(function, known, value)
        if load is not None and (unused := _unused(known, load)):
            found.append(Repeat(product, fragment, register, count, load, unused))
    return found


def _repeated(instruction: Instruction) -> list[tuple[str, Register, int]]:
    """(fragment, register, how often) for what A or B of a product names more than once."""
    found = []
    for place, fragment in _FRAGMENTS.items():
        operands = instruction.operands
        operand = operands[place] if len(operands) > place else None
        if isinstance(operand, Vector) and len(operand.elements) > 1:
            counts = Counter(e for e in operand.elements if isinstance(e, Register))
            found += [(fragment, register, n) for register, n in counts.items() if n > 1]
    return found


def _load(function: Function, known: Values, value: int) -> int | None:
    """The load that made a value, maybe moved since."""
    while True:
        made = known.all[value]
        if made.kind != DEFINITION:
            return None
        instruction = function.instructions[made.at]
        if instruction.opcode.mnemonic in _LOADS:
            return made.at
        if instruction.opcode.mnemonic != "mov" or len(known.reads[made.at]) != 1:
            return None
        if isinstance(instruction.operands[0], Vector):
            return None
        value = known.reads[made.at][0]


def _unused(known: Values, load: int) -> tuple[Register, ...]:
    """The registers of a load whose values nothing reads, phis included."""
    carried = {operand for value in known.all for operand in value.operands}
    return tuple(
        register
        for value in known.writes[load]
        if not known.readers(value) and value not in carried
        if (register := known.use.registers[known.all[value].register]) is not None
    )
