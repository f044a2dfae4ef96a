"""Objects whose declaration does not give the alignment that accesses to them need."""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function, Variable
from ..alignment import LARGEST, Need
from ..facts import Facts
from ..objects import alignment_of
from .access import Access
from .accesses import accesses
from .based import based
from .pointers import pointers
from .requirements import need_of
from .small_objects import concerned, most_needed, small_objects

_KINDS = ("variable", "stack")


class Shortfall(NamedTuple):
    """``access`` is ``distance`` bytes (modulo what it needs) into ``variable``, whose alignment
    is less than ``need`` asks.
    """

    access: Access
    need: Need
    variable: Variable
    distance: int


def shortfalls(function: Function, facts: Facts) -> list[Shortfall]:
    """All such accesses, in order. Dynamic shared memory is left out: the launch aligns it.

    What can't be right wherever the object lies, being at no multiple of its alignment, is not
    among them (PTX301), nor what is at an unknown distance, which may make up for it, nor wmma,
    which hardware lets pass below the alignment that the ISA wants.
    """
    spaces = facts.once(function, small_objects)
    if not spaces:
        return []
    found = []
    places, known = facts.once(function, based), facts.once(function, pointers)
    for access in facts.once(function, accesses):
        opcode, space = access.instruction.opcode, access.effect.space
        least = spaces.get(space, LARGEST) if space != "generic" else min(spaces.values())
        if most_needed(opcode) <= least:
            continue
        # Of this address alone: the bases of all accesses together cost more.
        need, base = need_of(access), known.of(access.index, access.operand).base
        variable = None if base is None else base.variable
        if need is None or not need.faults or base is None or base.kind not in _KINDS:
            continue
        if variable is None or not concerned(variable) or alignment_of(variable) >= need.bytes:
            continue
        distance = places.distance(access, need.bytes.bit_length() - 1)
        if distance is not None and not distance % alignment_of(variable):
            found.append(Shortfall(access, need, variable, distance))
    return found
