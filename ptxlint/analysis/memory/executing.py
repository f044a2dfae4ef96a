"""The threads that make an access, warp by warp, and which of them are sure to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...ptx.ir import Function
from ..bitset import members
from ..facts import Facts
from ..launch import launch_shape
from ..values.assumed import texts
from ..values.patterns import interior_patterns, patterns
from ..values.threads import WARP_SIZE
from .access import Access
from .requests import matrices


class Executing(NamedTuple):
    """``warps``: for each warp that can execute an instruction, the threads that then do, lowest
    first, by number in the thread space; under ``assumptions``, in words. ``exact`` is whether a
    block has all of them in every launch.
    """

    warps: list[list[int]]
    assumptions: tuple[str, ...]
    exact: bool


def executing(access: Access, function: Function, facts: Facts) -> Executing | None:
    """Who makes an access; None where that is not known. Of ldmatrix and stmatrix, whose address
    is used.

    Where lanes differ in a check against a bound, they are taken to agree, which is said.
    """
    known = facts.once(function, patterns)
    threads = known.threads(access.index)
    if threads is None:
        threads = facts.once(function, interior_patterns).threads(access.index)
        if threads is None:
            return None
    lanes = 8 * matrices(access) or WARP_SIZE
    warps: dict[int, list[int]] = {}
    for thread in members(threads.bits):
        if thread % WARP_SIZE < lanes:
            warps.setdefault(thread // WARP_SIZE, []).append(thread)
    assumed = texts(threads.assumptions)
    return Executing(list(warps.values()), assumed, known.space.exact) if warps else None


class Misfits(NamedTuple):
    """``thread`` is the first that is wrong, after ``before`` (itself where there is none before),
    under ``assumptions``.
    """

    thread: int
    before: int
    assumptions: tuple[str, ...]


def misaligned_threads(who: Executing, residues: Sequence[int]) -> Misfits | None:
    """The threads whose residue is not 0; ``residues`` are those of all, or repeat."""
    size = len(residues)
    wrong = [[t for t in warp if residues[t % size]] for warp in who.warps]
    first = next((some[0] for some in wrong if some), None)
    if first is None:
        return None
    # A launch that has any thread of a warp has its first one.
    exists = all(some and some[0] == warp[0] for some, warp in zip(wrong, who.warps, strict=True))
    return Misfits(first, first, _sure(who, first, all(wrong), exists))


def threads_apart(who: Executing, offsets: Sequence[int], low: int) -> Misfits | None:
    """The first thread that is no multiple of ``low + 1`` bytes from the others of its warp."""
    wrong = [[t for t in warp if offsets[t] - offsets[warp[0]] & low] for warp in who.warps]
    for warp, some in zip(who.warps, wrong, strict=True):
        if some:
            before = warp[warp.index(some[0]) - 1]
            return Misfits(some[0], before, _sure(who, some[0], all(wrong), False))
    return None


def _sure(who: Executing, thread: int, everywhere: bool, exists: bool) -> tuple[str, ...]:
    """What it takes for ``thread`` to be there; ``everywhere``: every warp has one like it."""
    if not everywhere:
        return (*who.assumptions, f"a warp with thread {thread} of the block executes it")
    if who.exact or exists:
        return who.assumptions
    return (*who.assumptions, f"a block has at least {thread + 1} threads in x")


def block_assumption(function: Function, facts: Facts) -> tuple[str, ...]:
    """What a claim about the threads of a block rests on, where its shape was told from outside."""
    told = facts.once(function, launch_shape).assumption
    return () if told is None else (told,)
