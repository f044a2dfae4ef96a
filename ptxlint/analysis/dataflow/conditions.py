"""What is known of predicates along one path."""

from __future__ import annotations

from collections.abc import Hashable

from ...ptx.ir import Instruction, Integer, Operand, Prefixed, Register, Vector

# Results of these are the same whenever opcode and operands are.
_PURE = frozenset({
    "setp", "set", "selp", "and", "or", "xor", "not", "mov", "add", "sub", "mul", "mad", "shl",
    "shr", "cvt", "min", "max", "neg",
})  # fmt: skip
_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_INTEGERS = tuple(f"{sign}{bits}" for sign in "bsu" for bits in (16, 32, 64))


class Conditions:
    """Values of registers along one path, by number, and which predicates are true.

    Equal computations have equal numbers, so that two tests of one condition agree. ``assume``
    enters an outcome and what follows from it; it is False where that contradicts what is known.
    """

    __slots__ = ("_facts", "_made", "_numbers", "_values")

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._made: list[tuple[Hashable, ...]] = []
        self._values: dict[Register, int] = {}
        self._facts: dict[int, bool] = {}

    def copy(self) -> Conditions:
        """For the other arm of a branch."""
        new = Conditions()
        new._numbers = self._numbers  # numbers mean the same on all paths
        new._made = self._made
        new._values = dict(self._values)
        new._facts = dict(self._facts)
        return new

    def known(self, predicate: Operand) -> bool | None:
        """Whether a predicate holds; None: either."""
        return self._truth(self._value(predicate)) if isinstance(predicate, Register) else None

    def assume(self, predicate: Operand, holds: bool) -> bool:
        """Enter an outcome; False if it can't be."""
        return not isinstance(predicate, Register) or self._enter(self._value(predicate), holds)

    def write(self, instruction: Instruction, registers: list[Register], certain: bool) -> None:
        """An instruction gives these registers new values; ``certain``: it surely runs."""
        mnemonic = instruction.opcode.mnemonic
        if certain and mnemonic in _PURE and not any(map(_compound, instruction.operands[1:])):
            sources = tuple(map(self._key, instruction.operands[1:]))
            if len(registers) == 1:
                self._values[registers[0]] = self._computed(instruction, sources)
                return
            if mnemonic == "setp" and len(sources) == 2:  # p|q: a test and its opposite
                positive = self._computed(instruction, sources)
                self._values[registers[0]] = positive
                self._values[registers[1]] = self._new(("not", ("pred",), positive))
                return
        for register in registers:
            self._values[register] = self._new(("fresh", len(self._made)))

    def state(self, registers: list[Register]) -> tuple[bool | None, ...]:
        """What is known of these predicates: for telling paths apart."""
        return tuple(self.known(register) for register in registers)

    def _computed(self, instruction: Instruction, sources: tuple[Hashable, ...]) -> int:
        opcode = instruction.opcode
        if opcode.mnemonic == "mov" and isinstance(sources[0], int):
            return sources[0]
        modifiers = opcode.modifiers
        if opcode.mnemonic == "setp" and len(sources) == 2 and modifiers[-1] in _INTEGERS:
            opposite = _OPPOSITE.get(modifiers[0])
            if opposite in ("eq", "ge", "le"):  # each test of a pair by the same one
                positive = self._new(("setp", (opposite, *modifiers[1:]), *sources))
                return self._new(("not", ("pred",), positive))
        return self._new((opcode.mnemonic, modifiers, *sources))

    def _new(self, key: tuple[Hashable, ...]) -> int:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._made)
            self._made.append(key)
        return number

    def _value(self, register: Register) -> int:
        if register not in self._values:
            self._values[register] = self._new(("entry", register))
        return self._values[register]

    def _key(self, operand: Operand) -> Hashable:
        if isinstance(operand, Register):
            return self._value(operand)
        if isinstance(operand, Integer):
            return ("constant", operand.value)
        if isinstance(operand, Prefixed) and operand.operator == "!":
            inner = self._key(operand.operand)
            return self._new(("not", ("pred",), inner))
        return operand

    def _truth(self, number: int) -> bool | None:
        known = self._facts.get(number)
        if known is not None:
            return known
        what, _, *parts = self._made[number]
        numbers = [part for part in parts if isinstance(part, int)]
        if what == "not":
            inner = self._truth(numbers[0]) if numbers else None
            return None if inner is None else not inner
        if what in ("and", "or") and len(numbers) == 2:
            decisive = what == "or"
            truths = [self._truth(each) for each in numbers]
            if decisive in truths:
                return decisive
            return (not decisive) if None not in truths else None
        if what == "setp" and (same := self._same_constants(number)) is not None:
            return same
        return self._of_selection(number)

    def _same_constants(self, number: int) -> bool | None:
        """``setp.eq`` of two constants; None: not both are."""
        _, modifiers, *operands = self._made[number]
        values = [self._constant(operand) for operand in operands]
        if not isinstance(modifiers, tuple) or modifiers[0] != "eq" or len(values) != 2:
            return None
        return None if None in values else values[0] == values[1]

    def _constant(self, key: Hashable) -> Hashable:
        if isinstance(key, int):
            what, _, *parts = self._made[key]
            return self._constant(parts[0]) if what == "mov" else None
        return key[1] if isinstance(key, tuple) and key[0] == "constant" else None

    def _of_selection(self, number: int) -> bool | None:
        """``setp.ne (selp 1, 0, p), 0`` is p again."""
        found = self._selection(number)
        if found is None:
            return None
        truth = self._truth(found[0])
        return None if truth is None else truth == found[1]

    def _selection(self, number: int) -> tuple[int, bool] | None:
        """(predicate, what it must be) for a test of a selection between two constants."""
        key = self._made[number]
        if key[0] != "setp" or len(key) != 4 or not isinstance(key[1], tuple):
            return None
        selection, against = key[2], key[3]
        if key[1][0] != "eq" or not isinstance(selection, int) or not isinstance(against, tuple):
            return None
        chosen = self._made[selection]
        if chosen[0] != "selp" or len(chosen) != 5 or not isinstance(chosen[4], int):
            return None
        if (chosen[2] == against) == (chosen[3] == against):
            return None
        if not (isinstance(chosen[2], tuple) and isinstance(chosen[3], tuple)):
            return None
        return chosen[4], chosen[2] == against

    def _enter(self, number: int, holds: bool) -> bool:
        known = self._truth(number)
        if known is not None:
            return known == holds
        self._facts[number] = holds
        what, _, *parts = self._made[number]
        numbers = [part for part in parts if isinstance(part, int)]
        if what == "not" and numbers:
            return self._enter(numbers[0], not holds)
        if what in ("and", "or") and len(numbers) == 2 and holds == (what == "and"):
            return all(self._enter(each, holds) for each in numbers)
        if (found := self._selection(number)) is not None:
            return self._enter(found[0], holds == found[1])
        return True


def _compound(operand: Operand) -> bool:
    return isinstance(operand, Vector) or (
        bool(operand.children()) and not isinstance(operand, Prefixed)
    )
