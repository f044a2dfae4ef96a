"""Accesses that some thread makes at an address that is no multiple of what they need.

An address is judged by its residues (``values.congruence``: sound through wrap-around and loops),
and by how far lanes are apart (``values.patterns``), which needs nothing of the base.
"""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Address, Function
from ..alignment import Need
from ..facts import Facts
from ..objects import alignment_of
from ..symbols import address_of, symbol_addresses
from ..values.assumed import texts
from .access import Access
from .accesses import accesses
from .based import based
from .bases import Base
from .executing import (
    Executing,
    block_assumption,
    executing,
    misaligned_threads,
    threads_apart,
)
from .glance import unaligned
from .requirements import need_of

_STATED = ".ptr .align says"
_OF_MALLOC = "pointer parameter `{}` is 256-byte aligned, as cudaMalloc returns it"
_BASES = ("parameter", "variable", "stack")
_MOST_PLACES = 16  # for the base are tried


class Misalignment(NamedTuple):
    """``access`` must be at a multiple of ``need.bytes`` and is not.

    ``residue`` is what the address is modulo ``modulus`` in thread ``thread``, or in every thread
    where that is None. Where ``apart`` is no 0, the base is unknown: thread ``thread`` is so many
    bytes from the one before it that executes the access, so that one of the two is misaligned.
    ``residues`` are those of all threads: one number, or one for each of an index space.
    ``assumptions`` in words; ``stated``: what the file says and the finding needs.
    """

    access: Access
    need: Need
    modulus: int
    residue: int
    residues: int | tuple[int, ...]
    thread: int | None
    apart: int
    assumptions: tuple[str, ...]
    stated: tuple[str, ...]


def misalignments(function: Function, facts: Facts) -> list[Misalignment]:
    """All such accesses but those at a constant distance from a declared object.

    In the order of the text. The .param space is left out.
    """
    suspects = facts.once(function, unaligned)
    if not suspects:
        return []
    constant = facts.once(function, symbol_addresses)
    found = []
    for access in facts.once(function, accesses):
        operand = access.operand
        if id(access.instruction) not in suspects or type(operand) is not Address:
            continue
        if access.effect.space == "param" or address_of(operand, constant) is not None:
            continue
        need = need_of(access)
        one = None if need is None else _judge(access, need, function, facts)
        # That hardware lets some wmma pass and that a pointer may be elsewhere is too much at once.
        if one is not None and (one.need.faults or not one.assumptions):
            found.append(one)
    return found


class _Low(NamedTuple):
    """An address modulo ``low + 1``: one residue, or one for each of the index space."""

    low: int
    residues: int | tuple[int, ...]
    assumed: tuple[str, ...]
    stated: tuple[str, ...]


def _judge(access: Access, need: Need, function: Function, facts: Facts) -> Misalignment | None:
    if need.bytes & (need.bytes - 1):
        return None
    known = _low_bits(access, need.bytes.bit_length() - 1, function, facts)
    low, residues, assumed, stated = known
    if isinstance(residues, int) or all(residues):
        at = residues if isinstance(residues, int) else residues[0]
        if at:
            return Misalignment(access, need, low + 1, at, residues, None, 0, assumed, stated)
    if isinstance(residues, int) or not any(residues):
        return _by_distance(access, need, function, facts)
    who = executing(access, function, facts)
    found = None if who is None else misaligned_threads(who, residues)
    if who is None or found is None:
        return None
    if assumed and _whatever_the_base(access, low, who, facts, function):
        assumed, stated = block_assumption(function, facts), ()
    at = residues[found.thread % len(residues)]
    every = (*assumed, *found.assumptions)
    return Misalignment(access, need, low + 1, at, residues, found.thread, 0, every, stated)


def _low_bits(access: Access, bits: int, function: Function, facts: Facts) -> _Low:
    """What is known of the ``bits`` lowest bits of an address."""
    known = access.congruence
    if known is None:
        return _Low(0, 0, (), ())
    if known.bits < bits:
        # It knows a pointer where the kernel uses it as one at once; some is added to first.
        base = access.base
        if base is not None and base.kind == "parameter" and not _says_alignment(base):
            found = facts.once(function, based).address(access, 0, bits)
            if found is not None:
                told = block_assumption(function, facts)
                return _Low((1 << bits) - 1, found, (*told, _OF_MALLOC.format(base)), ())
    low = (1 << min(known.bits, bits)) - 1
    assumed = tuple([a for a in known.assumptions if not a.endswith(_STATED)])
    stated = tuple([a for a in known.assumptions if a.endswith(_STATED)])
    if isinstance(known.residues, int):
        return _Low(low, known.residues & low, assumed, stated)
    return _Low(low, tuple([r & low for r in known.residues]), assumed, stated)


def _says_alignment(base: Base) -> bool:
    pointer = None if base.variable is None or base.offset else base.variable.pointer
    return pointer is not None and (pointer[1] or 1) > 1


def _whatever_the_base(
    access: Access, low: int, who: Executing, facts: Facts, function: Function
) -> bool:
    """Whether some thread of each warp is wrong wherever the one base lies."""
    base = access.base
    if base is None or base.kind not in _BASES or low >= _MOST_PLACES:
        return False
    step = 1 if base.kind == "parameter" or base.variable is None else alignment_of(base.variable)
    places = facts.once(function, based)
    for place in range(0, low + 1, step):
        residues = places.address(access, place, low.bit_length())
        if isinstance(residues, int):
            residues = (residues,)
        if residues is None or not all(
            any(residues[t % len(residues)] for t in warp) for warp in who.warps
        ):
            return False
    return True


def _by_distance(
    access: Access, need: Need, function: Function, facts: Facts
) -> Misalignment | None:
    """By how far the lanes of a warp are apart, whatever they share."""
    pattern, low = access.pattern, need.bytes - 1
    bits = low.bit_length()
    if pattern is None or pattern.vector is None or pattern.vector.zeros >= bits:
        return None
    if any(symbol.zeros + steps.zeros < bits for symbol, steps in pattern.lanes):
        return None
    who = executing(access, function, facts)
    found = None if who is None else threads_apart(who, pattern.vector.values, low)
    if found is None:
        return None
    offsets = pattern.vector.values
    apart = offsets[found.thread] - offsets[found.before]
    told = block_assumption(function, facts)
    every = tuple(dict.fromkeys((*told, *texts(pattern.assumptions), *found.assumptions)))
    residues = tuple([each & low for each in offsets])
    at = residues[found.thread]
    return Misalignment(access, need, need.bytes, at, residues, found.thread, apart, every, ())
