"""What the accesses of a function need of its pointers and objects: of what to be a multiple."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...ptx.ir import Address, Function, Instruction
from ..alignment import MNEMONICS, Need, needs
from ..facts import Facts
from .access import Access
from .accesses import accesses
from .based import based
from .bases import Base

_KINDS = frozenset({"parameter", "argument", "variable", "stack"})


class Requirement(NamedTuple):
    """``base`` (a parameter, ``name+8`` for what lies 8 bytes into one, or an object) must be a
    multiple of ``bytes``: ``instruction`` accesses it at a multiple of as many from there.

    ``why`` says so in words, with the line.
    """

    base: str
    bytes: int
    instruction: Instruction
    why: str


class Use(NamedTuple):
    """An access at a multiple of what it needs from its base."""

    access: Access
    base: Base
    need: Need


def alignment_requirements(function: Function, facts: Facts) -> list[Requirement]:
    """For each pointer parameter and object, the most that an access needs of it.

    In the order of the accesses that need it. Nothing of addresses that can't be followed to one
    base, or whose distance from it is not known; those are then no more aligned than it says.
    """
    strictest: dict[Base, Use] = {}
    for use in facts.once(function, aligned_uses):
        known = strictest.get(use.base)
        if known is None or known.need.bytes < use.need.bytes:
            strictest[use.base] = use
    found = [_requirement(use, facts) for use in strictest.values()]
    return sorted(found, key=lambda each: each.instruction.start)


def requirement_of(base: Base, function: Function, facts: Facts) -> Requirement | None:
    """The same of one base alone."""
    uses = list(_uses_of(base, function, facts))
    return _requirement(max(uses, key=lambda use: use.need.bytes), facts) if uses else None


def aligned_uses(function: Function, facts: Facts) -> list[Use]:
    """For ``facts.once``: every such access, of all bases."""
    return list(_uses_of(None, function, facts))


def _uses_of(base: Base | None, function: Function, facts: Facts) -> Iterator[Use]:
    found = facts.once(function, based)
    for access in facts.once(function, accesses):
        if access.instruction.opcode.mnemonic not in MNEMONICS or access.effect.space == "param":
            continue
        need = need_of(access)
        if need is None:
            continue
        its = access.base
        if its is None or its.kind not in _KINDS or (base is not None and its is not base):
            continue
        if found.distance(access, need.bytes.bit_length() - 1) == 0:
            yield Use(access, its, need)


def need_of(access: Access) -> Need | None:
    """What the access's address needs, where that is known and more than a byte.

    Constant memory is read 4 bytes at a time (measured: see PTX301).
    """
    if not isinstance(access.operand, Address):
        return None
    for need in needs(access.instruction):
        if need.address is access.operand:
            if access.effect.space == "const":
                need = need._replace(bytes=min(need.bytes, 4))
            return need if need.bytes > 1 else None
    return None


def _requirement(use: Use, facts: Facts) -> Requirement:
    instruction = use.access.instruction
    line = facts.module.source.line_of(instruction.start)
    why = f"`{instruction.opcode}` at line {line} is {use.need.what}"
    return Requirement(str(use.base), use.need.bytes, instruction, why)
