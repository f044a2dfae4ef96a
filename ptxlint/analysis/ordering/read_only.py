"""Loads through the read-only path from memory that the same kernel writes."""

from __future__ import annotations

from typing import NamedTuple

from ...isa.memory import memory_effect
from ...ptx.ir import (
    Address,
    Function,
    Instruction,
    Offset,
    Opcode,
    Operand,
    Register,
    Symbol,
    Variable,
)
from ..facts import Facts
from ..memory.bases import Base
from ..memory.pointers import pointers
from ..named import definitions

_OUTSIDE = ("global", "generic")
_DEEP = 200


class WrittenToo(NamedTuple):
    """``load`` reads ``base`` as if nobody wrote it, and ``store`` does."""

    load: Instruction
    store: Instruction
    base: Base


def suspects(function: Function, facts: Facts) -> frozenset[int]:
    """The ids of loads by ``.nc`` and stores of one parameter or object, by names."""
    loads, stores = _accesses(function, facts)
    if not loads or not stores:
        return frozenset()
    roots = _Roots(function, facts)
    read = {id(each): roots.of(_address(each)) for each in loads}
    written = {id(each): roots.of(_address(each)) for each in stores}
    both = {root for root in read.values() if root is not None} & set(written.values())
    return frozenset(i for found in (read, written) for i, root in found.items() if root in both)


def written_too(function: Function, facts: Facts) -> list[WrittenToo]:
    """Each such load, with a store to the same parameter's or object's memory."""
    chosen = facts.once(function, suspects)
    if not chosen:
        return []
    loads, stores = _accesses(function, facts)
    known = facts.once(function, pointers)
    index = {id(each): at for at, each in enumerate(function.instructions)}
    written: dict[Base, Instruction] = {}
    for store in stores:
        base = known.of(index[id(store)], _address(store)).base if id(store) in chosen else None
        if base is not None and base.kind in ("parameter", "variable"):
            written.setdefault(base, store)
    found = []
    for load in loads:
        base = known.of(index[id(load)], _address(load)).base if id(load) in chosen else None
        if base is not None and base in written:
            found.append(WrittenToo(load, written[base], base))
    return found


def _accesses(function: Function, facts: Facts) -> tuple[list[Instruction], list[Instruction]]:
    """(loads by ``.nc`` or ``ldu``, stores and atomics) of global memory, each in order."""
    return facts.of_opcodes(function, _is_read_only), facts.of_opcodes(function, _stores)


def _is_read_only(opcode: Opcode) -> bool:
    return opcode.mnemonic == "ldu" or (opcode.mnemonic == "ld" and "nc" in opcode.modifiers)


def _stores(opcode: Opcode) -> bool:
    if opcode.mnemonic not in ("st", "atom", "red"):
        return False
    effect = memory_effect(opcode.mnemonic, opcode.modifiers)
    return any(row.space in _OUTSIDE for row in effect.addresses)


def _address(instruction: Instruction) -> Operand:
    return next(operand for operand in instruction.operands if type(operand) is Address)


class _Roots:
    """The parameter or object that an address comes from, by names; None where it is not one."""

    def __init__(self, function: Function, facts: Facts) -> None:
        self._made = facts.once(function, definitions)
        self._known: dict[Register, Variable | None] = {}
        self._depth = 0

    def of(self, operand: Operand | None) -> Variable | None:
        if isinstance(operand, (Address, Offset)):
            return self.of(operand.base)
        if isinstance(operand, Symbol):
            return operand.target if isinstance(operand.target, Variable) else None
        if type(operand) is not Register:
            return None
        if operand not in self._known and self._depth < _DEEP:
            self._known[operand] = None  # for cycles: until known
            self._depth += 1
            roots = [self._result(made) for made in self._made.get(operand, ())]
            self._depth -= 1
            self._known[operand] = next((root for root in roots if root is not None), None)
        return self._known.get(operand)

    def _result(self, made: Instruction) -> Variable | None:
        mnemonic, operands = made.opcode.mnemonic, made.operands
        if mnemonic == "ld":
            return self.of(operands[1]) if "param" in made.opcode.modifiers else None
        if mnemonic in ("mov", "cvta", "add", "sub", "cvt", "mad", "selp"):
            found = [self.of(each) for each in operands[1:]]
            return next((root for root in found if root is not None), None)
        return None
