"""Congruence: what each integer value is modulo a power of two, in each thread.

Sound under wrap-around, widening and any control flow: a value that may be one of two is known as
far as these agree. Worked out on demand, for the values that an address depends on.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...isa.types import SIZES
from ...ptx.ir import (
    Address,
    Function,
    Instruction,
    Integer,
    Offset,
    Operand,
    Register,
    SpecialRegister,
    Symbol,
    Variable,
    Vector,
)
from ..facts import Facts
from ..flow.graph import control_flow
from ..flow.registers import RegisterUse
from ..flow.ssa import DEFINITION, ENTRY, PHI, Value, Values, values
from .assumptions import Assumptions
from .congruence_numbers import EXACT, UNKNOWN, Lanes, State
from .congruence_sources import Pointers, Threads
from .congruence_transfer import transfer_of
from .types import types_of

# How many of an instruction's sources its transfer looks at, where that is not all.
_USED = {"selp": 1 + 2, "shfl": 1 + 1, "cvta": 1 + 1, "mapa": 1 + 1}


class Congruent(NamedTuple):
    """A value modulo ``2**bits``; ``residues`` has one for each index of the index space, or is
    one int for all. ``assumptions`` are texts of what it rests on.
    """

    bits: int
    residues: int | tuple[int, ...]
    assumptions: tuple[str, ...]


class Congruence:
    """The residues of a function's values; ``threads`` is their index space."""

    def __init__(
        self,
        function: Function,
        facts: Facts,
        hypothesis: Mapping[str, int] | None = None,
        whole_warps: bool = False,
    ) -> None:
        self._instructions = facts.once(function, control_flow).instructions
        self._values: Values = facts.once(function, values)
        self._use: RegisterUse = self._values.use
        self.assumed = Assumptions()
        self.threads = Threads(function, facts, self.assumed, whole_warps)
        self._pointers = Pointers(function, self.assumed, hypothesis)
        self._states: dict[int, State] = {}
        self._open: dict[int, State | None] = {}

    def of(self, value: int) -> Congruent:
        """What is known of a value."""
        return self._told(self.state(value))

    def address(self, instruction: int, address: Address) -> Congruent:
        """What is known of an address in an instruction's brackets."""
        base: State = (EXACT, 0, 0)
        if address.base is not None:
            base = self._settled(instruction, address.base)
        numbers = self.threads.numbers
        return self._told(numbers.cut(numbers.add(base, (EXACT, address.offset, 0)), 64))

    def product(self, instruction: int, factors: tuple[Operand, ...]) -> Congruent:
        """What is known of the product of operands, as integers."""
        numbers = self.threads.numbers
        state: State = (EXACT, 1, 0)
        for factor in factors:
            state = numbers.multiply(state, self._settled(instruction, factor))
        return self._told(numbers.cut(state, 64))

    def _told(self, state: State) -> Congruent:
        k, residue, bits = state
        names = self.assumed.names(bits) if bits else ()
        return Congruent(k, residue.values if isinstance(residue, Lanes) else residue, names)

    def _settled(self, instruction: int, operand: Operand) -> State:
        if type(operand) is Register:
            value = self._values.value_of(instruction, operand)
            return UNKNOWN if value is None else self.state(value)
        return self._source(instruction, operand) or UNKNOWN

    def state(self, value: int) -> State:
        """What is known of a value, as (k, residue, assumptions)."""
        if value not in self._states:
            self._solve(value)
        return self._states[value]

    def _solve(self, wanted: int) -> None:
        """All that a value depends on, from the best guess downwards until nothing changes."""
        order, users = self._slice(wanted)
        self._open = dict.fromkeys(order)
        pending, waiting = order[::-1], set(order)
        while pending:
            each = pending.pop()
            waiting.discard(each)
            old = self._open[each]
            new = self._evaluate(self._values.all[each])
            if new is None or new == old:
                continue
            if old is not None:  # downwards only
                new = self.threads.numbers.join(old, new)
                if new == old:
                    continue
            self._open[each] = new
            for user in users.get(each, ()):
                if user not in waiting:
                    waiting.add(user)
                    pending.append(user)
        for each, state in self._open.items():
            self._states[each] = state or UNKNOWN
        self._open = {}

    def _slice(self, wanted: int) -> tuple[list[int], dict[int, list[int]]]:
        """What is to be worked out for a value, sources first, and what reads each of it."""
        order: list[int] = []
        users: dict[int, list[int]] = {}
        seen = {wanted}
        stack = [(wanted, iter(self._needs(wanted)))]
        while stack:
            value, needed = stack[-1]
            for need in needed:
                if need in self._states:
                    continue
                users.setdefault(need, []).append(value)
                if need not in seen:
                    seen.add(need)
                    stack.append((need, iter(self._needs(need))))
                    break
            else:
                order.append(value)
                stack.pop()
        return order, users

    def _needs(self, index: int) -> tuple[int, ...]:
        """The values that a value is worked out from."""
        value = self._values.all[index]
        if value.kind == ENTRY:
            return ()
        if value.kind == PHI:
            return value.operands
        instruction = self._instructions[value.at]
        opcode = instruction.opcode
        if opcode.mnemonic != "mov" and transfer_of(opcode.mnemonic, opcode.modifiers) is None:
            return value.operands
        return (*value.operands, *self._values.reads[value.at])

    def _evaluate(self, value: Value) -> State | None:
        """The state that follows from those of a value's sources; None: not yet."""
        if value.kind == ENTRY:
            return UNKNOWN
        if value.kind == PHI:
            return self._joined(value.operands, None)
        made = self._made(value)
        if value.kind == DEFINITION or made is None:
            return made
        return self._joined(value.operands, made)

    def _joined(self, operands: tuple[int, ...], state: State | None) -> State | None:
        """What is one of these values, or of ``state``; what was never written is none of them."""
        for operand in operands:
            if operand < 0 or self._values.undefined(operand):
                continue
            other = self._open[operand] if operand in self._open else self._states[operand]
            if other is not None:
                state = other if state is None else self.threads.numbers.join(state, other)
                if not state[0]:
                    return UNKNOWN
        return state

    def _made(self, value: Value) -> State | None:
        """What an instruction makes of its sources."""
        index = value.at
        instruction = self._instructions[index]
        opcode = instruction.opcode
        position = self._values.writes[index].index(value.index)
        width = self._width(value.register)
        if opcode.mnemonic == "mov":
            state = self._moved(index, instruction, value.register)
        elif opcode.mnemonic == "ld" and "param" in (m.split("::")[0] for m in opcode.modifiers):
            readers = [self._instructions[i] for i in self._values.readers(value.index)]
            state = self._pointers.parameter(
                instruction, position * types_of(opcode.modifiers).width // 8, position, readers
            )
        else:
            transfer = transfer_of(opcode.mnemonic, opcode.modifiers)
            if transfer is None or position:
                return UNKNOWN
            sources = []
            for operand in instruction.operands[1 : _USED.get(opcode.mnemonic)]:
                source = self._source(index, operand)
                if source is None:
                    return None
                sources.append(source)
            state = transfer(self.threads.numbers, opcode.modifiers, tuple(sources))
        return None if state is None else self.threads.numbers.cut(state, width)

    def _width(self, register: int) -> int:
        known = self._use.registers[register]
        return 0 if known is None else 8 * SIZES.get(known.variable.type, 0)

    def _source(self, index: int, operand: Operand) -> State | None:
        kind = type(operand)
        if kind is Register:
            value = self._values.value_of(index, operand)  # type: ignore[arg-type]
            if value is None:
                return UNKNOWN
            return self._open[value] if value in self._open else self._states[value]
        if isinstance(operand, Integer):
            return (EXACT, operand.value, 0)
        if isinstance(operand, SpecialRegister):
            return self.threads.special(operand.name)
        if isinstance(operand, Symbol):
            target = operand.target
            return self._pointers.symbol(target) if isinstance(target, Variable) else UNKNOWN
        if isinstance(operand, Offset):
            base = self._source(index, operand.base) or UNKNOWN
            return self.threads.numbers.add(base, (EXACT, operand.offset, 0))
        return UNKNOWN

    def _moved(self, index: int, instruction: Instruction, register: int) -> State | None:
        """``mov``: of one value, of several into one, of one into several."""
        numbers = self.threads.numbers
        result, source = instruction.operands[:2]
        if type(result) is Vector:
            state = self._source(index, source)
            if state is None or not state[0]:
                return state
            total = self._vector_width(result)
            state = numbers.integer(state, total, False)
            at = 0
            for element in result.elements:
                if type(element) is Register and self._use.numbers.get(element) == register:
                    return numbers.right(state, at)
                at += total // len(result.elements)
            return UNKNOWN
        if type(source) is not Vector:
            return self._source(index, source)
        width = self._width(register) // len(source.elements)
        packed: State = (0, 0, 0)
        for i, element in enumerate(source.elements):
            state = self._source(index, element)
            if state is None:
                return None
            packed = numbers.pack(packed, numbers.cut(state, width), i * width)
        return packed

    def _vector_width(self, vector: Vector) -> int:
        """Bits of all the registers in braces; those dropped (`_`) are as wide as the others."""
        widths = [8 * SIZES.get(e.variable.type, 0) for e in vector.elements if type(e) is Register]
        return widths[0] * len(vector.elements) if widths else 0


def congruence(function: Function, facts: Facts) -> Congruence:
    """The residues of the function's values, under the usual assumptions on pointers."""
    return Congruence(function, facts)


def congruence_of_whole_warps(function: Function, facts: Facts) -> Congruence:
    """The same where ``blockDim.x`` is a multiple of 32, which is assumed and said."""
    return Congruence(function, facts, whole_warps=True)


def congruence_if(function: Function, facts: Facts, hypothesis: Mapping[str, int]) -> Congruence:
    """The same where parameters are what the hypothesis says, modulo 256.

    Its keys are parameter names, ``name+8`` for what lies 8 bytes into one.
    """
    return Congruence(function, facts, hypothesis)
