"""Branches, calls and the stack (PTX ISA, "Control Flow Instructions", "Stack Manipulation")."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.ir import Arguments, Function, Instruction, Operand, Register, Symbol, Variable
from .builder import Builder
from .code import Op
from .postdominators import targets_of
from .result import Unsupported
from .storage import Storage
from .types import TYPES

if TYPE_CHECKING:
    from .code import Code

U32 = TYPES["u32"]


class Jump:
    """Where a branch goes: the only place, or one of several by the value in ``index``."""

    __slots__ = ("index", "places")

    def __init__(self, places: list[int], index: int = -1) -> None:
        self.places = places
        self.index = index


class Passed:
    """One value that a call passes: local memory of the caller, or a slot."""

    __slots__ = ("slot", "variable")

    def __init__(self, variable: Variable | None, slot: int) -> None:
        self.variable = variable
        self.slot = slot


class Call:
    """A call: ``function`` if it is named, else the slot of its address."""

    __slots__ = ("arguments", "function", "results", "slot")

    def __init__(self, function: Function | None, slot: int) -> None:
        self.function = function
        self.slot = slot
        self.arguments: list[Passed] = []
        self.results: list[Passed] = []


def branch(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``bra`` and ``brx.idx``."""
    places = targets_of(instruction, builder.code.labels)
    if not places:
        raise Unsupported("branch without a target")
    op.kind = "branch"
    if instruction.opcode.mnemonic == "brx":
        op.detail = Jump(places, builder.source(instruction.operands[0], U32))
    else:
        op.detail = Jump(places)


def leave(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``exit``, ``ret`` and ``trap``."""
    op.kind = instruction.opcode.mnemonic


def call(builder: Builder, instruction: Instruction, op: Op) -> None:
    """Direct and indirect calls."""
    operands = list(instruction.operands)
    results: Operand | None = None
    if isinstance(operands[0], Arguments):
        results = operands.pop(0)
    target = operands.pop(0)
    named = target.target if isinstance(target, Symbol) else None
    if isinstance(named, Function):
        found = Call(named, -1)
    else:
        found = Call(None, builder.source(target))
    arguments = operands[0] if operands and isinstance(operands[0], Arguments) else None
    found.arguments = [_passed(builder, each) for each in _parts(arguments)]
    found.results = [_passed(builder, each) for each in _parts(results)]
    op.kind, op.detail, op.convergent = "call", found, False


def _parts(operand: Operand | None) -> tuple[Operand, ...]:
    return operand.elements if isinstance(operand, Arguments) else ()


def _passed(builder: Builder, operand: Operand) -> Passed:
    variable = operand.target if isinstance(operand, Symbol) else None
    if isinstance(variable, Variable) and variable in builder.code.locals:
        return Passed(variable, builder.source(operand))
    return Passed(None, builder.source(operand))


def formal_slot(code: Code, variable: Variable) -> int:
    """The slot of a parameter or result that a function has in a register."""
    for instruction in code.function.instructions:
        for operand in instruction.operands:
            for each in (operand, *operand.children()):
                if isinstance(each, Register) and each.variable is variable:
                    return code.slots.register(each, TYPES[variable.type].width)
    return code.slots.register(variable, TYPES[variable.type].width)


def alloca(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``alloca``: more of the thread's local memory, until the function returns."""
    target = builder.target(instruction.operands[0])
    size = builder.source(instruction.operands[1])
    align = getattr(instruction.operands[2], "value", 8) if len(instruction.operands) > 2 else 8

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        found = []
        for lane in lanes:
            start = -(-storage.warp.tops[lane] // align) * align
            storage.warp.reserve(lane, start, storage.values[size][lane] & 0xFFFFFFFF)
            found.append(start)
        storage.put(target, mask, lanes, found)

    op.run = run


def stack(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``stacksave`` and ``stackrestore``."""
    saves = instruction.opcode.mnemonic == "stacksave"
    operand = instruction.operands[0]
    slot = builder.target(operand) if saves else builder.source(operand)

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        tops = storage.warp.tops
        if saves:
            storage.put(slot, mask, lanes, [tops[lane] for lane in lanes])
            return
        for lane in lanes:
            tops[lane] = min(storage.values[slot][lane], tops[lane])

    op.run = run
