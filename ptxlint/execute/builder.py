"""Lowering: operands to slots, and the shapes of operation that most instructions have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..ptx.ir import (
    Address,
    Element,
    Float,
    Function,
    Generic,
    Instruction,
    Integer,
    Offset,
    Operand,
    Prefixed,
    Register,
    Sink,
    SpecialRegister,
    Subscript,
    Symbol,
    Variable,
    Vector,
)
from .constants import as_bits
from .layout import Layout, element_type
from .memory import SHARED_WINDOW
from .result import Unsupported
from .types import FULL, TYPES, Type

if TYPE_CHECKING:
    from .code import Code, Op, Run
    from .storage import Storage

Function1 = Callable[..., int]
VOLATILE = frozenset(
    {"%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi"}
)
CARRY = "carry flag"
SINK = "sink"
INT = TYPES["b64"]


class Builder:
    """Lowers the instructions of one function."""

    def __init__(self, code: Code, layout: Layout) -> None:
        self.code = code
        self.layout = layout
        self.volatile: list[tuple[int, str]] = []

    def constant(self, value: int) -> int:
        """The slot of a constant."""
        return self.code.slots.filled("constant", value)

    def sources(self, operands: Sequence[Operand], type_: Type) -> list[int]:
        """The slots of operands that are read as ``type_``."""
        return [self.source(operand, type_) for operand in operands]

    def source(self, operand: Operand, type_: Type = INT) -> int:
        """The slot of an operand that is read; raises Unsupported."""
        if isinstance(operand, (Register, Element)):
            return self.register(operand)
        if isinstance(operand, (Integer, Float)):
            return self.constant(as_bits(operand, type_))
        if isinstance(operand, SpecialRegister):
            return self._special(operand.name)
        return self._address_value(operand, type_)

    def _special(self, name: str) -> int:
        slot = self.code.slots.filled("special", name)
        if name in VOLATILE:
            self.volatile.append((slot, name))
        return slot

    def _address_value(self, operand: Operand, type_: Type) -> int:
        if isinstance(operand, Symbol):
            if isinstance(operand.target, Function):
                return self.constant(self.layout.function_address(operand.target))
            if isinstance(operand.target, Variable):
                return self._variable(operand.target, 0)
        elif isinstance(operand, Offset) and isinstance(operand.base, Symbol):
            if isinstance(operand.base.target, Variable):
                return self._variable(operand.base.target, operand.offset)
        elif isinstance(operand, Subscript) and isinstance(operand.base, Symbol):
            variable = operand.base.target
            if isinstance(variable, Variable):
                return self._variable(variable, operand.index * element_type(variable).size)
        elif isinstance(operand, Generic) and isinstance(operand.base, Symbol):
            variable = operand.base.target
            if isinstance(variable, Variable):
                window = SHARED_WINDOW if variable.space == "shared" else 0
                return self._variable(variable, operand.offset + window)
        raise Unsupported(f"operand {type(operand).__name__}")

    def _variable(self, variable: Variable, offset: int) -> int:
        if variable in self.code.locals:
            if offset:
                raise Unsupported("sum with a local address")
            return self.code.slots.filled("local", variable)
        address = self.layout.address(variable)
        if address is None:
            raise Unsupported(f"address of {variable.name}")
        return self.constant(address + offset)

    def register(self, operand: Operand) -> int:
        """The slot of a register or of an element of a vector register."""
        if isinstance(operand, Register):
            return self.code.slots.register(operand, self._width(operand))
        if isinstance(operand, Element) and isinstance(operand.base, Register):
            names = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}
            if operand.selector in names:
                return self._element(operand.base, names[operand.selector])
        raise Unsupported(f"operand {type(operand).__name__}")

    def _width(self, register: Register) -> int:
        type_ = TYPES.get(register.variable.type)
        if type_ is None:
            raise Unsupported(f"register of type {register.variable.type}")
        return type_.width

    def _element(self, register: Register, index: int) -> int:
        return self.code.slots.register((register, index), self._width(register))

    def carry(self) -> int:
        """The slot of the carry flag (PTX ISA, "Extended-Precision Arithmetic")."""
        return self.code.slots.register(CARRY, 1)

    def target(self, operand: Operand) -> int:
        """The slot of an operand that is written; a sink has one that nobody reads."""
        if isinstance(operand, Sink):
            return self.code.slots.register(SINK, 128)
        return self.register(operand)

    def width(self, slot: int) -> int:
        """Bits of a slot's register."""
        return self.code.slots.widths[slot]

    def elements(self, operand: Operand) -> list[Operand]:
        """The parts of a vector operand, or the operand itself."""
        if isinstance(operand, Vector):
            return list(operand.elements)
        if isinstance(operand, Register) and operand.variable.vector > 1:
            return [Element(operand, "xyzw"[i]) for i in range(operand.variable.vector)]
        return [operand]

    def predicate(self, operand: Operand) -> tuple[int, bool]:
        """The slot of a predicate operand and whether it is negated."""
        if isinstance(operand, Prefixed):
            return self.register(operand.operand), True
        return self.source(operand, TYPES["pred"]), False

    def address(self, operand: Operand) -> tuple[int, int, str]:
        """Slot and offset of an address operand, and the space that its symbol says ("")."""
        if not isinstance(operand, Address):
            return self.source(operand), 0, ""
        base, offset = operand.base, operand.offset
        if base is None:
            return self.constant(0), offset, ""
        if isinstance(base, Vector):
            raise Unsupported("vector address")
        if isinstance(base, Offset):
            offset += base.offset
            base = base.base
        space = ""
        if isinstance(base, Symbol) and isinstance(base.target, Variable):
            space = base.target.space
        return self.source(base), offset, space


def spread(mask: int) -> Function1:
    """Undefined bits of a result that is undefined as a whole if any bit of an operand is."""

    def marks(*columns: int) -> int:
        return mask if any(columns[len(columns) // 2 :]) else 0

    return marks


def upward(mask: int) -> Function1:
    """Of a sum or product: everything from the lowest undefined bit on."""

    def marks(*columns: int) -> int:
        unknown = 0
        for column in columns[len(columns) // 2 :]:
            unknown |= column
        return -(unknown & -unknown) & mask

    return marks


def elementwise(
    function: Function1, target: int, sources: Sequence[int], marks: Function1 | None
) -> Run:
    """``target = function(*sources)`` in each lane.

    ``marks`` takes the operands' values, then their undefined bits, and gives the result's.
    """
    slots = tuple(sources)

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        values, undefined = storage.values, storage.undefined
        unknown = False
        for slot in slots:
            if undefined[slot] is not None:
                unknown = True
        if not unknown and mask == FULL:
            values[target] = list(map(function, *[values[slot] for slot in slots]))
            undefined[target] = None
            return
        columns = [[values[slot][lane] for lane in lanes] for slot in slots]
        results = list(map(function, *columns))
        if not unknown or marks is None:
            storage.put(target, mask, lanes, results)
            return
        known = [storage.marks(slot, lanes) for slot in slots]
        if not any(known):
            storage.put(target, mask, lanes, results)
            return
        zeros = [0] * len(lanes)
        marked = list(map(marks, *columns, *[each or zeros for each in known]))
        storage.put(target, mask, lanes, results, marked)

    return run


def nothing(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
    """The operation that does nothing."""


def in_turn(runs: Sequence[Run]) -> Run:
    """Operations one after the other."""
    steps = tuple(runs)
    if len(steps) == 1:
        return steps[0]

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for step in steps:
            step(storage, mask, lanes)

    return run


Maker = Callable[["Builder", Instruction, "Op"], None]
