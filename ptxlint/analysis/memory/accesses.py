"""Finding the memory accesses of a function, their spaces and the bases of their addresses."""

from __future__ import annotations

from ...isa.memory import READ, WRITE, AddressEffect, MemoryEffect, memory_effect
from ...ptx.ir import (
    Address,
    Arguments,
    Function,
    Instruction,
    Opcode,
    Operand,
    Register,
    Symbol,
    Variable,
)
from ..facts import Facts, by_opcode
from .access import CALL, Access, Context
from .bases import Base
from .pointers import Pointers, pointers

_ARGUMENT = AddressEffect(READ, "data", "param", False)
_RESULT = AddressEffect(WRITE, "data", "param", False)
_CALLEE = AddressEffect(CALL, "data", "generic", False)


def accesses(function: Function, facts: Facts) -> list[Access]:
    """Every access of the function, in the order of its instructions and their operands.

    Code that can't be reached has its accesses too; their bases are known only where written out.
    """
    context = Context(function, facts)
    effects: dict[int, MemoryEffect | None] = {}
    found: list[Access] = []
    for index, instruction in enumerate(function.instructions):
        key = id(instruction.opcode)
        if key in effects:
            what = effects[key]
        else:
            what = effects[key] = _effect(instruction.opcode)
        if what is not None:
            found += _of(context, index, instruction, what)
    context.locate = lambda: _locate(found, function, facts)
    return found


def _effect(opcode: Opcode) -> MemoryEffect | None:
    """The effect of an opcode that touches memory."""
    what = memory_effect(opcode.mnemonic, opcode.modifiers)
    return what if what.addresses or what.values or opcode.mnemonic == CALL else None


def _of(context: Context, index: int, instruction: Instruction, what: MemoryEffect) -> list[Access]:
    if instruction.opcode.mnemonic == CALL:
        return _of_call(context, index, instruction, what)
    rows, place = what.addresses, 0
    found = []
    for operand in instruction.operands:
        if type(operand) is Address and rows:
            found.append(Access(context, index, operand, rows[min(place, len(rows) - 1)], what))
            place += 1
    for position, row in what.values:
        if position < len(instruction.operands):
            value = instruction.operands[position]
            if type(value) is Register:
                found.append(Access(context, index, value, row, what))
    return found


def _of_call(
    context: Context, index: int, instruction: Instruction, what: MemoryEffect
) -> list[Access]:
    """Parameters that the call passes, and whatever the callee does."""
    found = []
    operands = instruction.operands
    callee: Operand | None = None
    for place, operand in enumerate(operands):
        if not isinstance(operand, Arguments):
            callee = operand if callee is None else callee
            continue
        row = _RESULT if place == 0 else _ARGUMENT
        found += [
            Access(context, index, each, row, what)
            for each in operand.elements
            if isinstance(each, Symbol) and isinstance(each.target, Variable)
        ]
    if callee is not None:
        found.append(Access(context, index, callee, _CALLEE, what))
    return found


def _locate(found: list[Access], function: Function, facts: Facts) -> None:
    known = facts.once(function, pointers)
    known.solve_all([(access.index, access.operand) for access in found])
    windows = _windows(function, facts, known)
    for access in found:
        if access.effect.kind == CALL:
            continue
        pointer = known.of(access.index, access.operand)
        space = access.effect.space
        if space == "generic":
            space = _space(pointer.base, pointer.form, windows)
        access.place(space, pointer)


def _space(base: Base | None, form: str, windows: dict[Base, str]) -> str:
    """Where a generic address surely points."""
    if form.startswith("generic:"):
        return form[len("generic:") :]
    if form == "global":  # the one window whose addresses are generic as they are
        return form
    if form in ("", "generic") and base in windows:
        return windows[base]
    return "generic"


def _windows(function: Function, facts: Facts, known: Pointers) -> dict[Base, str]:
    """The space of each kernel parameter that the kernel itself converts to that space.

    Nothing where it asks which space an address is of: then not all of its code holds for all.
    """
    index = facts.once(function, by_opcode)
    found: dict[Base, set[str]] = {}
    conversions = []
    for opcode in index:
        if opcode.mnemonic == "isspacep":
            return {}
        if opcode.mnemonic == "cvta" and "to" in opcode.modifiers:
            conversions += index[opcode]
    if not function.is_kernel or not conversions:
        return {}
    places = {id(made) for made in conversions}
    for at, made in enumerate(function.instructions):
        if id(made) in places and len(made.operands) == 2:
            base = known.of(at, made.operands[1]).base
            if base is not None and base.kind == "parameter":
                space = next(m for m in made.opcode.modifiers if m not in ("to", "u32", "u64"))
                found.setdefault(base, set()).add(space.partition("::")[0])
    return {base: spaces.pop() for base, spaces in found.items() if len(spaces) == 1}
