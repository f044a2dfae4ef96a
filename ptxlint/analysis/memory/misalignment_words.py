"""Misaligned accesses in words: which address, in which threads, and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd
from typing import Any, NamedTuple

from ...model import Span
from ...ptx.ir import Address, Function, Variable
from ...ptx.printer import print_operand
from ..alignment import Need, smaller
from ..facts import Facts
from ..places import at_lines, operand_span
from ..values.patterns import patterns
from ..values.threads import WARP_SIZE
from .misalignment import Misalignment, misalignments
from .requirements import requirement_of


class Described(NamedTuple):
    """Misaligned accesses of one cause, in words: the first one, and ``notes`` on the others."""

    need: Need
    message: str
    span: Span
    variable: Variable | None
    notes: tuple[str, ...]
    help: str
    assumptions: tuple[str, ...]
    data: dict[str, Any]


def described(function: Function, facts: Facts) -> Iterator[Described]:
    """The misaligned accesses of a function: one for each base and way of being wrong."""
    groups: dict[object, list[Misalignment]] = {}
    for each in facts.once(function, misalignments):
        place = each.access.base or each.access.index
        key = (place, each.need.bytes, each.modulus, each.residues, each.apart, each.assumptions)
        groups.setdefault(key, []).append(each)
    for group in groups.values():
        yield _described(group, function, facts)


def _described(group: list[Misalignment], function: Function, facts: Facts) -> Described:
    first = group[0]
    access, need, base = first.access, first.need, first.access.base
    assert isinstance(access.operand, Address)
    more, lines = at_lines([each.access.instruction.start for each in group[1:]], facts)
    data: dict[str, Any] = {
        "needs": need.bytes,
        "modulus": first.modulus,
        "residues": first.residues
        if isinstance(first.residues, int)
        else list(first.residues[:WARP_SIZE]),
        "thread": first.thread,
        "apart": first.apart,
        "lines": lines,
    }
    notes = first.stated
    requirement = None if base is None else requirement_of(base, function, facts)
    if requirement is not None:
        name, size, _, why = requirement
        notes += (f"`{name}` must be {size}-byte aligned: {why}",)
        data["requirement"] = {"base": name, "bytes": size, "why": why}
    return Described(
        need,
        f"{what_is_wrong(first, function, facts)}: {need.what} needs a multiple of {need.bytes}",
        operand_span(access.instruction, access.operand, facts),
        None if base is None else base.variable,
        (*notes, *more),
        what_to_do(first),
        first.assumptions,
        data,
    )


def what_is_wrong(found: Misalignment, function: Function, facts: Facts) -> str:
    """``[%rd3] (in p) is 4 past a multiple of 16 in the thread …``, the need left out."""
    base = found.access.base
    of = "" if base is None or base.variable is None else f" (in `{base}`)"
    start = f"`{print_operand(found.access.operand)}`{of}"
    if found.thread is None:
        residues = found.residues
        if isinstance(residues, int):
            return f"{start} is {residues} past a multiple of {found.modulus} in every thread"
        return f"{start} is no multiple of {found.modulus} in any thread"
    thread = thread_in_words(found.thread, function, facts)
    if found.apart:
        moves = f"moves by {abs(found.apart):,} bytes from one thread to the next"
        return f"{start} {moves} (at {thread}), wherever it begins"
    return (
        f"{start} is {found.residue} past a multiple of {found.modulus} in the thread with {thread}"
    )


def thread_in_words(thread: int, function: Function, facts: Facts) -> str:
    """A thread of the function's thread space, by its coordinates: ``%tid.x = 1``."""
    shape = facts.once(function, patterns).space.shape
    if shape.block is None or shape.block[1:] == (1, 1):
        return f"%tid.x = {thread}"
    return f"%tid = {shape.place(thread)}"


def what_to_do(found: Misalignment) -> str:
    """How to mend it."""
    need = found.need
    if isinstance(found.residues, int):
        return f"use an offset that is a multiple of {need.bytes}{smaller(need, found.residue)}"
    step = gcd(need.bytes, found.modulus, *found.residues)
    return f"let threads lie multiples of {need.bytes} bytes apart{smaller(need, step)}"
