"""Which object each address is based on: a sparse fixed point over the SSA values behind it.

Right by provenance: an address made of one object's is taken to lie in that object, as PTX wants
of an access. Where numbers and addresses can't be told apart, nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...isa.types import SIZES
from ...ptx.ir import (
    Address,
    Float,
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
from ..flow.ssa import ENTRY, GUARDED, PHI, Value, Values, values
from .bases import (
    AMBIGUOUS,
    ANYTHING,
    BOTTOM,
    DIFFERENCE,
    NOTHING,
    NOWHERE,
    NUMBER,
    STRONG,
    UNKNOWN,
    WEAK,
    Anchor,
    Base,
    Mark,
    Pointer,
    join,
)
from .steps import Source, Step, either, mixed_step, step_of

_LOADS = frozenset({"ld", "ldu"})
_POINTER_TYPES = frozenset({"b32", "u32", "s32", "b64", "u64", "s64"})
# What makes new values of what lies elsewhere: another lane, another function, memory.
_FOREIGN = frozenset({"shfl", "call", "atom", "alloca", "mapa"})
_CONSTANT = (Integer, Float, SpecialRegister, Symbol)  # no symbol of an object: a function's


class Pointers:
    """The bases of a function's addresses, worked out for what is asked and kept."""

    __slots__ = ("_bases", "_function", "_marks", "_narrow", "_steps", "_values")

    def __init__(self, function: Function, found: Values, narrow: bool) -> None:
        self._function = function
        self._values = found
        self._narrow = narrow  # 32-bit addresses of global memory
        self._bases: dict[tuple[str, int, int], Base] = {}
        self._marks: dict[int, Mark] = {}
        self._steps: dict[int, Step] = {}

    def of(self, instruction: int, operand: Operand) -> Pointer:
        """What an address, or a register or symbol as one, of an instruction is."""
        distance = 0
        if isinstance(operand, (Address, Offset)):
            if operand.base is None:
                return NOWHERE
            distance, operand = operand.offset, operand.base
        source = self._source(instruction, operand)
        if isinstance(source, Mark):
            return Pointer(source.base, source.base, distance, source.form)
        self.solve((source,))
        mark = self._marks[source]
        anchor: Anchor = source
        while type(anchor) is int and (step := self._steps[anchor]).distance is not None:
            distance += step.distance
            last = step.sources[0]
            if isinstance(last, Mark):
                anchor = last.base if last.base is not None else anchor
                break
            anchor = last
        if mark.state not in (WEAK, STRONG):
            return Pointer(None, anchor, distance, mark.form)
        return Pointer(mark.base, anchor, distance, mark.form)

    def solve_all(self, places: Iterable[tuple[int, Operand]]) -> None:
        """Work out many (instruction, address) at once, before ``of`` is asked for each."""
        sources = (
            self._source(at, operand.base if type(operand) is Address and operand.base else operand)
            for at, operand in places
            if type(operand) is not Address or type(operand.base) is Register
        )
        found = [source for source in sources if type(source) is int]
        self.solve(found)
        self._learn(found)

    def _learn(self, addresses: list[int]) -> None:
        """A base that memory is accessed through is an address, and no number to add to another."""
        marks = self._marks
        used = {marks[a].base for a in addresses if marks[a].state == WEAK}
        unsure = (AMBIGUOUS, DIFFERENCE, UNKNOWN)
        if not used or not any(marks[a].state in unsure for a in addresses):
            return
        for value, mark in marks.items():
            if mark.state == WEAK and mark.base in used:
                marks[value] = mark._replace(state=STRONG)
        for value in [value for value, mark in marks.items() if mark.state in unsure]:
            del marks[value]
        self.solve(addresses)

    def mark(self, value: int) -> Mark:
        """What is known of an SSA value."""
        self.solve((value,))
        return self._marks[value]

    def solve(self, wanted: Iterable[int]) -> None:
        """Work out the marks of values, and of all that they are made of."""
        marks, steps = self._marks, self._steps
        order, changed = self._collect([value for value in wanted if value not in marks])
        while changed:  # values in a cycle, that were read before they were known
            last, changed = changed, set()
            for value in order:
                step = steps[value]
                if last.isdisjoint(step.sources):
                    continue
                old = marks[value]
                new = step.rule([s if type(s) is Mark else marks[s] for s in step.sources])  # type: ignore[index]
                if new != old and (new := join(old, new)) != old:
                    marks[value] = new
                    changed.add(value)

    def _collect(self, wanted: list[int]) -> tuple[list[int], set[int]]:
        """Mark the values behind ``wanted``, each after what it is made of; gives them in that
        order, and those that others were made of before they had a mark.
        """
        order: list[int] = []
        early: set[int] = set()
        marks, steps = self._marks, self._steps
        stack: list[tuple[int, bool]] = [(value, False) for value in wanted]
        while stack:
            value, made = stack.pop()
            if made:
                step = steps[value]
                given: list[Mark] = []
                for source in step.sources:
                    if type(source) is int:
                        mark = marks[source]
                        if mark.state == BOTTOM:
                            early.add(source)
                        given.append(mark)
                    else:
                        given.append(source)  # type: ignore[arg-type]
                marks[value] = step.rule(given)
                order.append(value)
            elif value not in marks:
                marks[value] = NOTHING
                step = steps.get(value) or self._step(self._values.all[value])
                steps[value] = step
                stack.append((value, True))
                stack += [(s, False) for s in step.sources if type(s) is int and s not in marks]
        return order, early

    def _step(self, value: Value) -> Step:
        if value.kind == PHI:
            return Step(either, value.operands or (NOTHING,))
        if value.kind == ENTRY:
            register = self._values.use.registers[value.register]
            if register is not None and register.variable in self._function.parameters:
                return Step(either, (Mark(WEAK, self._base("argument", value.index)),))
            return Step(either, (NOTHING,))  # undefined: what reads it gets no value at all
        made = self._function.instructions[value.at]
        step = self._definition(value, made)
        if value.kind == GUARDED:
            return _guarded(step, value)
        return step

    def _definition(self, value: Value, made: Instruction) -> Step:
        mnemonic = made.opcode.mnemonic
        register = self._values.use.registers[value.register]
        if register is None or register.variable.type == "pred":
            return Step(either, (NUMBER,))
        if mnemonic in _LOADS:
            mark = self._loaded(value, made)
            whole = mark.base is not None and mark.base.variable is not None
            return Step(either, (mark,), 0 if whole else None)
        if mnemonic in _FOREIGN:
            kind = {"atom": "loaded", "alloca": "stack", "mapa": "remote"}.get(mnemonic, "value")
            state = STRONG if kind in ("stack", "remote") else WEAK
            return Step(either, (Mark(state, self._base(kind, value.index)),))

        def source(operand: Operand) -> Source:
            return self._source(value.at, operand)

        return step_of(made, source) or mixed_step(self._values.reads[value.at])

    def _source(self, instruction: int, operand: Operand) -> Source:
        """What an operand is: an SSA value, or what is known of it at once."""
        if type(operand) is Register:
            value = self._values.value_of(instruction, operand)
            # None: not reached, or read in no way that is known
            return ANYTHING if value is None else value
        base = operand.base if isinstance(operand, Offset) else operand
        if isinstance(base, Symbol) and isinstance(base.target, Variable):
            variable = base.target
            kind = "stack" if variable.space == "local" else "variable"
            return Mark(STRONG, self._base(kind, 0, variable), variable.space)
        return NUMBER if isinstance(operand, _CONSTANT) else ANYTHING

    def _loaded(self, value: Value, made: Instruction) -> Mark:
        modifiers, operands = made.opcode.modifiers, made.operands
        type_ = modifiers[-1] if modifiers else ""
        if type_ not in _POINTER_TYPES or len(operands) < 2:
            return NUMBER
        if "param" in modifiers or "param::entry" in modifiers:
            place = self._written_out(value.at, operands[1])
            if place is not None and place[0] in self._function.parameters:
                return self._parameter(place[0], place[1] + self._place(value, made), type_)
        return Mark(WEAK, self._base("loaded", value.index))

    def _written_out(self, instruction: int, operand: Operand) -> tuple[Variable, int] | None:
        """The variable and distance that an address comes to by moves and constants alone."""
        distance = 0
        if isinstance(operand, Address) and operand.base is not None:
            distance, operand = operand.offset, operand.base
        source = self._source(instruction, operand)
        while type(source) is int:
            step = self._steps.get(source)
            if step is None:
                step = self._steps[source] = self._step(self._values.all[source])
            if step.distance is None:
                return None
            distance += step.distance
            source = step.sources[0]
        base = source.base if isinstance(source, Mark) else None
        return None if base is None or base.variable is None else (base.variable, distance)

    def _parameter(self, variable: Variable, offset: int, type_: str) -> Mark:
        base = self._base("argument", offset, variable)
        if not self._function.is_kernel:
            return Mark(WEAK, base)
        base = self._base("parameter", offset, variable)
        if variable.pointer is not None and offset == 0:
            return Mark(STRONG, base, variable.pointer[0] or "generic")
        if SIZES[type_] == 4 and not self._narrow:
            return NUMBER
        return Mark(WEAK, base)

    def _place(self, value: Value, made: Instruction) -> int:
        """Bytes from the start of what an instruction loads to the element that is the value."""
        result = made.operands[0]
        register = self._values.use.registers[value.register]
        if isinstance(result, Vector) and register in result.elements:
            return result.elements.index(register) * SIZES[made.opcode.modifiers[-1]]
        return 0

    def _base(self, kind: str, number: int, variable: Variable | None = None) -> Base:
        """The one base of that kind: ``number`` is an offset, or a value without a variable."""
        key = (kind, id(variable), number)
        found = self._bases.get(key)
        if found is None:
            if variable is None:
                found = Base(kind, value=number)
            else:
                found = Base(kind, variable, number)
            self._bases[key] = found
        return found


def _guarded(step: Step, value: Value) -> Step:
    """A guarded definition: where the guard is false, the old value stays."""
    count = len(step.sources)

    def rule(marks: list[Mark]) -> Mark:
        return join(step.rule(marks[:count]), marks[count])

    return Step(rule, (*step.sources, value.operands[0]))


def pointers(function: Function, facts: Facts) -> Pointers:
    """The bases of the function's addresses."""
    found = facts.once(function, values)
    return Pointers(function, found, facts.module.address_size == 32)
