"""Which threads come along which edge into a join, where every choice is known by thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .divergence import AGREED
from .pattern import Pattern

if TYPE_CHECKING:
    from .solver import Solver

_LARGEST_REGION = 400


class ThreadSets(NamedTuple):
    """``by_edge[p]`` are the threads, as bits, that enter from block *p*, of those that come at
    all; ``assumptions`` are what the predicates rest on.
    """

    by_edge: dict[int, int]
    assumptions: int


def thread_sets(solver: Solver, block: int, predecessors: list[int]) -> ThreadSets | None:
    """The threads on each of these edges into ``block``; None where a choice is not known."""
    top = solver.dominators.parent[block]
    around = solver.divergence.around
    if top < 0 or around[top] & ~around[block]:
        return None
    region = _region(solver, top, block, predecessors)
    if region is None:
        return None
    sets = {top: solver.space.everyone}
    found: dict[int, int] = {}
    assumptions = 0

    def give(source: int, to: int, threads: int) -> None:
        into, key = (found, source) if to == block else (sets, to)
        into[key] = into.get(key, 0) | threads

    for each in region:
        threads = sets.get(each)
        if threads is None:
            continue
        ways = solver.divergence.ways(each)
        if len(ways) == 1:
            give(each, ways[0], threads)
            continue
        taken = None if around[each] & ~around[block] else taken_by(solver, each)
        if taken is not None:
            assumptions |= taken.assumptions
            split = solver.flow.blocks[each]
            for way in ways:
                through = 0
                if way in split.taken:
                    through |= threads & taken.threads
                if way == split.following:
                    through |= threads & ~taken.threads
                give(each, way, through)
        elif ways:
            join = solver.divergence.control.join(each)
            if join == block or join not in region or region[join] <= region[each]:
                return None
            give(each, join, threads)
    return ThreadSets(found, assumptions)


class Taken(NamedTuple):
    """The threads, as bits, for which a branch's guard holds."""

    threads: int
    assumptions: int


def taken_by(solver: Solver, block: int) -> Taken | None:
    """The threads that take the branch at a block's end; None where that is not known, or where
    all do alike.
    """
    if solver.divergence.levels[block] == AGREED:
        return None
    terminator = solver.flow.terminator(solver.flow.blocks[block])
    if terminator is None or terminator.guard is None or terminator.opcode.mnemonic != "bra":
        return None
    predicate = solver.guard_at(solver.flow.blocks[block].stop - 1)
    if predicate is None or not predicate.is_exact:
        return None
    return Taken(bits_of(solver, predicate), predicate.assumptions)


def bits_of(solver: Solver, predicate: Pattern) -> int:
    """An exact predicate as a bit set."""
    return solver.algebra.vectors.threads(predicate.exact)


def _region(solver: Solver, top: int, block: int, predecessors: list[int]) -> dict[int, int] | None:
    """The blocks between ``top`` and ``block`` in reverse post-order, each with its place."""
    seen, stack = {top, block}, list(predecessors)
    flow = solver.flow
    while stack:
        each = stack.pop()
        if each not in seen and flow.reached >> each & 1:
            seen.add(each)
            stack += flow.blocks[each].predecessors
            if len(seen) > _LARGEST_REGION:
                return None
    seen.discard(block)
    position = solver.position
    return {each: position[each] for each in sorted(seen, key=lambda b: position[b])}
