"""Generic accesses that surely go to one space, where the opcode could say so."""

from __future__ import annotations

from typing import NamedTuple

from ...isa.memory import ATOMIC, READ, REDUCE, WRITE
from ...ptx.ir import Address, Function, Instruction, Register
from ..facts import Facts
from .access import Access
from .accesses import accesses
from .bases import Base
from .forms import asks_space, conversions, made_by
from .opcodes import GENERIC, SPACES, generic_opcodes
from .pointers import pointers

_KINDS = frozenset({READ, WRITE, ATOMIC, REDUCE})


class Generic(NamedTuple):
    """``accesses`` of one ``base`` (None: not known which) by generic addresses that are all in
    ``space``, as ``origin`` tells: the cvta, or the symbol, that they come from.
    """

    space: str
    base: Base | None
    origin: Instruction | None
    accesses: tuple[Access, ...]


def known_generic(function: Function, facts: Facts) -> list[Generic]:
    """The generic accesses of known space, by space and base.

    None of code made for a debugger, nor of a function that asks which space an address is of.
    """
    if "debug" in facts.module.targets or not facts.once(function, generic_opcodes):
        return []
    if asks_space(function, facts):
        return []
    groups: dict[tuple[str, Base | None], list[Access]] = {}
    for access in facts.once(function, accesses):
        if access.effect.space != "generic" or access.kind not in _KINDS or access.role != "data":
            continue
        operand = access.operand
        # Of a symbol in brackets ptxas takes the space itself.
        if type(operand) is not Address or type(operand.base) is not Register or access.tensor:
            continue
        # An offset in a window is no generic address: PTX320's.
        if access.space in SPACES and access.form not in ("shared", "local", "const"):
            groups.setdefault((access.space, access.base), []).append(access)
    return [
        Generic(space, base, _origin(group[0], function, facts), tuple(group))
        for (space, base), group in groups.items()
        if group[0].instruction.opcode.mnemonic in GENERIC
    ]


def _origin(access: Access, function: Function, facts: Facts) -> Instruction | None:
    """What tells the space: on the way to the address, or elsewhere of the same parameter."""
    found = made_by(function, facts, access.index, access.operand, access.form)
    if found is not None and access.form not in ("", "generic"):
        return found
    known = facts.once(function, pointers)
    for at, to, space in conversions(function, facts):
        made = function.instructions[at]
        if to and space == access.space and known.of(at, made.operands[1]).base is access.base:
            return made
    return None
