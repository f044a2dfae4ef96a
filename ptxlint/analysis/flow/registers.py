"""What each instruction reads and writes: registers, by number, and the carry flag."""

from __future__ import annotations

from ...isa.effects import Effect, effect
from ...ptx.ir import (
    Address,
    Arguments,
    Element,
    Float,
    Function,
    Instruction,
    Integer,
    Opcode,
    Operand,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
)
from ..facts import Facts

# The carry flag of `add.cc` is a register that no declaration names; it has the number 0.
CARRY = 0


class RegisterUse:
    """Registers numbered by first mention; number 0 is the carry flag.

    ``reads[i]`` and ``writes[i]`` are those of instruction *i*, each once, in the order of its
    operands; the guard is read and comes first. ``guards[i]`` is twice its number, and 1 more where
    it is negated; -1 where there is none.
    Writing one element of a vector register reads the register too: the rest of it stays.
    """

    __slots__ = ("guards", "numbers", "reads", "registers", "writes")

    def __init__(self) -> None:
        self.registers: list[Register | None] = [None]
        self.numbers: dict[Register, int] = {}
        self.reads: list[tuple[int, ...]] = []
        self.writes: list[tuple[int, ...]] = []
        self.guards: list[int] = []

    def name(self, number: int) -> str:
        """``%r1``; of the carry flag, ``CC.CF``."""
        register = self.registers[number]
        return "CC.CF" if register is None else register.name

    def number(self, register: Register) -> int:
        """The register's number, a new one at its first mention."""
        known = self.numbers.get(register)
        if known is None:
            known = self.numbers[register] = len(self.registers)
            self.registers.append(register)
        return known


def register_use(function: Function, facts: Facts) -> RegisterUse:
    """The registers that each instruction of the function reads and writes."""
    use = RegisterUse()
    effects: dict[Opcode, Effect] = {}
    numbers, registers = use.numbers, use.registers
    for instruction in function.instructions:
        opcode, operands = instruction.opcode, instruction.operands
        what = effects.get(opcode)
        if what is None:
            what = effect(opcode.mnemonic, opcode.modifiers)
            effects[opcode] = what = _ONE if what == _ONE else what
        to = operands[0] if operands else None
        if what is not _ONE or type(to) is not Register or instruction.guard is not None:
            _enter(use, instruction, what)
            continue
        # Nearly all instructions are like this: one result in a register, no guard.
        number = numbers.get(to)
        if number is None:
            number = numbers[to] = len(registers)
            registers.append(to)
        use.writes.append((number,))
        use.guards.append(-1)
        reads: list[int] = []
        for operand in operands[1:]:
            if type(operand) is Register:
                reads.append(numbers.get(operand) or use.number(operand))
            elif type(operand) not in _LEAVES:
                _collect(use, operand, reads)
        use.reads.append(tuple(dict.fromkeys(reads)) if len(reads) > 1 else tuple(reads))
    return use


_ONE = Effect(1, False, False, False)
_LEAVES = frozenset({Integer, Float, SpecialRegister, Symbol, Sink})


def _enter(use: RegisterUse, instruction: Instruction, what: Effect) -> None:
    reads: list[int] = []
    writes: list[int] = []
    guard = -1
    if instruction.guard is not None:
        _collect(use, instruction.guard.register, reads)
        guard = reads[0] << 1 | instruction.guard.negated if reads else -1
    operands = instruction.operands
    results = what.results
    if instruction.opcode.mnemonic == "call" and len(operands) > 1:
        results = _call_results(operands)
    for i, operand in enumerate(operands):
        if type(operand) is Register:
            number = use.numbers.get(operand) or use.number(operand)
            (writes if i < results else reads).append(number)
            if i < results and what.accumulates:
                reads.append(number)
        elif i < results and type(operand) is not Address:
            _collect(use, operand, writes)
            if what.accumulates or _partial(operand):
                _collect(use, operand, reads)
        elif type(operand) not in _LEAVES:
            _collect(use, operand, reads)
    if what.reads_carry:
        reads.append(CARRY)
    if what.writes_carry:
        writes.append(CARRY)
    use.guards.append(guard)
    use.reads.append(tuple(dict.fromkeys(reads)) if len(reads) > 1 else tuple(reads))
    use.writes.append(tuple(dict.fromkeys(writes)) if len(writes) > 1 else tuple(writes))


def _call_results(operands: tuple[Operand, ...]) -> int:
    """1 where the call's first operand is the list of results: a name comes after it."""
    return 1 if isinstance(operands[0], Arguments) else 0


def _partial(operand: Operand) -> bool:
    return isinstance(operand, Element) or any(
        isinstance(child, Element) for child in operand.children()
    )


def _collect(use: RegisterUse, operand: Operand, into: list[int]) -> None:
    if type(operand) is Register:
        into.append(use.numbers.get(operand) or use.number(operand))
        return
    if type(operand) is Address and not operand.rest:  # the commonest of all that hold others
        base = operand.base
        if type(base) is Register:
            into.append(use.numbers.get(base) or use.number(base))
            return
    for child in operand.children():
        _collect(use, child, into)
