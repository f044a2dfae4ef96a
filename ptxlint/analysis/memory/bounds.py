"""Accesses outside the object that they are based on, in a thread that surely makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...isa.memory import PREFETCH
from ...ptx.ir import Address, Function, Symbol, Variable
from ..facts import Facts
from ..symbols import address_of, symbol_addresses
from ..values.assumed import ONE_DIMENSION, texts
from ..values.pattern import Pattern
from ..values.patterns import patterns
from .access import CALL, Access
from .accesses import accesses
from .certain import Certain, certainty
from .glance import overrunning, size_in
from .requests import request_size

_SOME_THREAD = "a thread gets past the check at line {}"


class Outside(NamedTuple):
    """``access`` at ``offset`` bytes from the start of ``variable``, which has ``size``.

    ``width`` are the bytes accessed; ``thread`` the linear number of the thread that is meant
    (None: any that gets there), ``threads`` how many are outside. ``assumptions`` in words.
    """

    access: Access
    variable: Variable
    size: int
    offset: int
    width: int
    thread: int | None
    threads: int
    assumptions: tuple[str, ...]


def outside(function: Function, facts: Facts) -> list[Outside]:
    """All accesses of a kernel that are surely made and surely outside, in order."""
    if not function.is_kernel:
        return []
    suspects = facts.once(function, overrunning)
    if not suspects:
        return []
    found = []
    for access, variable, pattern, offset in _based(function, facts, suspects):
        size, width = size_in(function, variable), request_size(access) or 1
        if not size or not _judged(access):
            continue
        low = high = offset
        if pattern is not None and pattern.vector is not None:
            low, high = low + pattern.vector.low, high + pattern.vector.high
        if low < 0 or high + width > size:
            one = _outside(access, variable, size, pattern, offset, width, function, facts)
            if one is not None:
                found.append(one)
    return sorted(found, key=lambda one: one.access.index)


_Based = tuple[Access, Variable, "Pattern | None", int]


def _based(function: Function, facts: Facts, suspects: frozenset[int]) -> Iterator[_Based]:
    """(access, its object, how threads differ, offset) of those at known places of an object."""
    constant = facts.once(function, symbol_addresses)
    for access in facts.once(function, accesses):
        operand = access.operand
        if id(access.instruction) not in suspects or type(operand) is not Address:
            continue
        if type(operand.base) is Symbol or operand.base in constant:
            found = address_of(operand, constant)
            if found is not None:
                yield access, found.variable, None, found.offset
            continue
        pattern = facts.once(function, patterns).address(access.index, operand)
        variable = None if pattern is None else _object(pattern)
        if pattern is not None and variable is not None:
            yield access, variable, pattern, pattern.const


def _judged(access: Access) -> bool:
    """Not what has no one place; nor a copy that may be told to read nothing."""
    if access.kind in (CALL, PREFETCH) or access.tensor or access.role == "tensormap":
        return False
    if not isinstance(access.operand, Address):
        return False
    instruction = access.instruction
    plain_copy = instruction.opcode.mnemonic == "cp" and "bulk" not in instruction.opcode.modifiers
    return not (plain_copy and access.reads and len(instruction.operands) > 3)


def _outside(
    access: Access,
    variable: Variable,
    size: int,
    pattern: Pattern | None,
    offset: int,
    width: int,
    function: Function,
    facts: Facts,
) -> Outside | None:
    steps = None if pattern is None else pattern.vector
    sure = facts.once(function, certainty).of(access.index)
    who = None if sure is None else _who(sure, steps is not None, function, facts)
    if who is None:
        return None
    assumed = 0 if pattern is None else pattern.assumptions & ~who.needless
    assumptions = tuple(dict.fromkeys((*texts(assumed), *who.assumptions)))
    if steps is None:
        return Outside(access, variable, size, offset, width, who.first, 0, assumptions)
    wrong = {
        thread: offset + step
        for thread, step in enumerate(steps.values)
        if who.bits >> thread & 1 and not 0 <= offset + step <= size - width
    }
    if not wrong:
        return None
    thread = next(iter(wrong))
    return Outside(access, variable, size, wrong[thread], width, thread, len(wrong), assumptions)


class _Who(NamedTuple):
    """``bits`` are threads that every launch has and that execute the access, ``first`` of them
    (None: some thread, not known which). ``needless`` are assumptions that are facts for them.
    """

    bits: int
    first: int | None
    assumptions: tuple[str, ...]
    needless: int = 0


def _who(sure: Certain, by_lane: bool, function: Function, facts: Facts) -> _Who | None:
    if sure.threads is None:
        if by_lane:
            return None
        checks = [_SOME_THREAD.format(_line(check, function, facts)) for check in sure.checks]
        return _Who(0, None, tuple(checks))
    space = facts.once(function, patterns).space
    bits, assumed = sure.threads.bits, sure.threads.assumptions
    if not by_lane and bits == space.everyone:
        return _Who(bits, None, texts(assumed))
    needless, more = 0, space.shape.assumption
    if not space.exact:
        # A block has a first thread, whose coordinates are 0 whatever its shape.
        bits &= 1
        needless = ONE_DIMENSION if space.whole else 0
    assumptions = texts(assumed & ~needless)
    if space.exact and more is not None:
        assumptions = (*assumptions, more)
    first = (bits & -bits).bit_length() - 1
    return _Who(bits, first, assumptions, needless) if bits else None


def _object(pattern: Pattern) -> Variable | None:
    """The object whose address (in its window, or generic) is all of it that is not known."""
    parts = sorted([(s.kind, factor) for s, factor in pattern.terms])
    alone = parts in ([("base", 1)], [("base", 1), ("window", 1)])
    return pattern.object if alone and not pattern.lanes else None


def _line(check: int, function: Function, facts: Facts) -> int:
    return facts.module.source.line_of(function.instructions[check].start)
