"""Addresses that are a declared object plus a constant, directly or through registers.

A register counts only if one instruction of the function writes it. Every defined use then reads
that instruction's value, whatever path led there; PTX gives an undefined use no value at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from typing import NamedTuple

from ..isa.types import signed
from ..ptx.ir import (
    Address,
    Arguments,
    Element,
    Function,
    Instruction,
    Integer,
    Offset,
    Opcode,
    Operand,
    Pair,
    Register,
    Symbol,
    Variable,
    Vector,
)
from .facts import Facts, by_opcode

_WORDS = frozenset({"u32", "s32", "b32", "u64", "s64", "b64"})
# What writes no register, or a predicate, which is no address.
_NO_RESULT = frozenset({"st", "red", "bra", "ret", "setp"})
_COMPOUND = frozenset({Vector, Pair, Arguments, Element})  # operands with registers in them


class SymbolAddress(NamedTuple):
    """``variable + offset`` (bytes). Its low bits hold in any space: windows are aligned.

    ``origin`` is the instruction that last made it in a register; None where it is written out.
    """

    variable: Variable
    offset: int
    origin: Instruction | None = None


class _Link(NamedTuple):
    """``made`` gives ``register`` the value of ``source`` and ``distance`` bytes more."""

    register: Register
    source: Operand
    distance: int
    made: Instruction


def address_of(
    address: Address | Offset, known: dict[Operand, SymbolAddress]
) -> SymbolAddress | None:
    """What ``[base+offset]`` or ``base+offset`` is, by what symbol_addresses found; None: open."""
    base = address.base
    if type(base) is Symbol and isinstance(base.target, Variable):
        return SymbolAddress(base.target, address.offset)
    if base is None or (found := known.get(base)) is None:
        return None
    return found._replace(offset=found.offset + address.offset)


def symbol_addresses(function: Function, facts: Facts) -> dict[Operand, SymbolAddress]:
    """For ``facts.once``: the registers of ``function`` that hold such an address."""
    index = facts.once(function, by_opcode)
    makers = [made for opcode in index if _keeps_bits(opcode) for made in index[opcode]]
    candidates = _candidates(makers)
    if not candidates:
        return {}
    writes = writes_of(index, candidates)
    for outside in (*function.parameters, *function.returns):
        candidates = {r for r in candidates if getattr(r, "variable", None) is not outside}
    links = [
        link
        for made in makers
        if made.operands and (register := made.operands[0]) in candidates
        if writes[register] == 1 and (link := _link(register, made)) is not None
    ]
    known: dict[Operand, SymbolAddress] = {}
    size = -1
    while len(known) > size:  # a few times: as often as a chain changes its kind of instruction
        size = len(known)
        for register, source, distance, made in links:
            found: SymbolAddress | None
            if type(source) is Register:
                found = known.get(source)
            elif type(source) is Symbol and isinstance(source.target, Variable):
                found = SymbolAddress(source.target, 0)
            else:
                found = address_of(source, known) if type(source) is Offset else None
            if found is not None:
                known[register] = SymbolAddress(found.variable, found.offset + distance, made)
    return known


def _candidates(makers: list[Instruction]) -> set[Operand]:
    """The registers that an object's address may come to, if no other instruction writes them."""
    found: set[Operand] = set()
    steps: list[tuple[Operand, Operand]] = []
    for made in makers:
        operands = made.operands
        if len(operands) < 2:
            continue
        kind = type(operands[1])
        if kind is Symbol or kind is Offset:
            found.add(operands[0])
        elif kind is Register:
            if len(operands) == 2 or type(operands[2]) is Integer:
                steps.append((operands[1], operands[0]))
        elif kind is Integer and len(operands) > 2:
            steps.append((operands[2], operands[0]))
    size = -1
    while len(found) > size:
        size = len(found)
        found.update([register for source, register in steps if source in found])
    return found


def writes_of(index: dict[Opcode, list[Instruction]], wanted: Set[Operand]) -> Counter[Operand]:
    """How many instructions write each register of ``wanted``, or more.

    A first operand counts as written even where it is only read (``bar``, ``nanosleep``).
    """
    first = [
        operand
        for opcode, instructions in index.items()
        if opcode.mnemonic not in _NO_RESULT
        for instruction in instructions
        if instruction.operands
        if (operand := instruction.operands[0]) in wanted or type(operand) in _COMPOUND
    ]
    # tcgen05.ld.red is the one instruction that writes its second operand too.
    for opcode in index:
        if opcode.mnemonic == "tcgen05":
            first += [i.operands[1] for i in index[opcode] if len(i.operands) > 1]
    return Counter(register for operand in first for register in _registers(operand))


def _keeps_bits(opcode: Opcode) -> bool:
    """Whether it may make an address of an address: of whole words, or of another window.

    cvta and mapa leave the low bits as they are: windows begin at multiples of all that matters.
    """
    if opcode.mnemonic in ("cvta", "mapa"):
        return True
    return opcode.mnemonic in ("mov", "cvt", "add", "sub") and _WORDS.issuperset(opcode.modifiers)


def _link(register: Operand, made: Instruction) -> _Link | None:
    """What ``made`` does to ``register``, if that keeps an address an address."""
    operands, mnemonic = made.operands, made.opcode.mnemonic
    if operands[0] is not register or type(register) is not Register or len(operands) < 2:
        return None
    source, distance = operands[1], 0
    if mnemonic in ("add", "sub"):
        if len(operands) != 3:
            return None
        constant = operands[2]
        if type(source) is Integer and mnemonic == "add":
            source, constant = constant, source
        if type(constant) is not Integer:
            return None
        bits = 32 if made.opcode.modifiers[0].endswith("32") else 64
        distance = signed(constant.value, bits)
        distance = distance if mnemonic == "add" else -distance
    return _Link(register, source, distance, made)


def _registers(operand: Operand) -> Iterator[Register]:
    if isinstance(operand, Register):
        yield operand
    elif not isinstance(operand, Address):
        for child in operand.children():
            yield from _registers(child)
