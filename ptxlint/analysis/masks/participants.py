"""Who takes part in an operation: the lanes that execute it, their masks, and where they read."""

from __future__ import annotations

from typing import NamedTuple

from ...isa.shuffles import source_lane
from ...ptx.ir import Function
from ..facts import Facts
from ..values.assumed import INTERIOR, WHOLE_WARPS
from ..values.threads import WARP_SIZE
from .execution import Known, known, known_in_rows_of_16, known_inside
from .operations import FULL, WarpOperation


class Warp(NamedTuple):
    """One warp at an operation. ``there`` are the lanes that it has at all, ``executing`` those
    that execute, as bit sets. Of each of these, by lane: ``masks``, and ``sources``, the lane that
    it reads (only shuffles whose operands are known; its own where that is out of range).
    """

    number: int
    there: int
    executing: int
    masks: dict[int, int]
    sources: dict[int, int]

    @property
    def named(self) -> int:
        """The lanes that some mask names."""
        found = 0
        for mask in self.masks.values():
            found |= mask
        return found & FULL


class Participants(NamedTuple):
    """An operation whose mask is known for each thread.

    ``warps`` are those that may execute it. ``sure`` is whether the executing lanes are known;
    else those whose mask names themselves stand for them (all, if none does). ``assumptions`` are
    what all this rests on, as bits of ``values.assumed``; ``known`` is where it comes from.
    """

    operation: WarpOperation
    warps: tuple[Warp, ...]
    sure: bool
    assumptions: int
    known: Known

    @property
    def executing(self) -> int:
        """The threads that execute it, as a bit set."""
        return sum(warp.executing << WARP_SIZE * warp.number for warp in self.warps)


def participants(function: Function, facts: Facts, operation: WarpOperation) -> Participants | None:
    """The participants of an operation; None where its mask is not known for each thread."""
    found = _among(facts.once(function, known), operation)
    if found is not None and not found.sure and function.is_kernel:
        inside = _among(facts.once(function, known_inside), operation)
        if inside is not None and inside.sure:
            return inside._replace(assumptions=inside.assumptions | INTERIOR)
    return found


def in_rows_of_16(
    function: Function, facts: Facts, operation: WarpOperation
) -> Participants | None:
    """The same in blocks that are 16 threads wide; None where nothing depends on the width."""
    other = facts.once(function, known_in_rows_of_16)
    return None if other is None else _among(other, operation)


def _among(given: Known, operation: WarpOperation) -> Participants | None:
    pattern = given.operand(operation.at, operation.mask)
    masks = given.numbers(pattern)
    if pattern is None or masks is None:
        return None
    threads = given.threads(operation.at)
    assumptions = pattern.assumptions
    if threads is not None:
        assumptions |= threads.assumptions | (0 if given.space.exact else WHOLE_WARPS)
    executing = _own(masks) or given.space.everyone if threads is None else threads.bits
    lanes = _lanes_and_clamps(given, operation)
    if lanes is not None:
        assumptions |= lanes[2]
    warps = []
    for first in range(0, given.space.size, WARP_SIZE):
        warp = _warp(first, given.space.size, executing, masks)
        if not warp.executing:
            continue
        if lanes is not None and operation.mode is not None:
            for lane in warp.masks:
                b, c = lanes[0][first + lane], lanes[1][first + lane]
                source = source_lane(operation.mode, lane, b, c)
                warp.sources[lane] = lane if source is None else source
        warps.append(warp)
    return Participants(operation, tuple(warps), threads is not None, assumptions, given)


def _lanes_and_clamps(
    given: Known, operation: WarpOperation
) -> tuple[tuple[int, ...], tuple[int, ...], int] | None:
    """Operands b and c of a shuffle by thread, and what they rest on."""
    if operation.mode is None:
        return None
    b, c = (given.operand(operation.at, o) for o in operation.instruction.operands[2:4])
    lanes, clamps = given.numbers(b), given.numbers(c)
    if b is None or c is None or lanes is None or clamps is None:
        return None
    return lanes, clamps, b.assumptions | c.assumptions


def _own(values: tuple[int, ...]) -> int:
    """The threads whose own lane is in their mask."""
    bits = 0
    for thread, mask in enumerate(values):
        bits |= (mask >> thread % WARP_SIZE & 1) << thread
    return bits


def _warp(first: int, size: int, threads: int, values: tuple[int, ...]) -> Warp:
    there = (1 << min(WARP_SIZE, size - first)) - 1
    executing = threads >> first & there
    masks = {lane: values[first + lane] for lane in lanes_of(executing)}
    return Warp(first // WARP_SIZE, there, executing, masks, {})


def lanes_of(bits: int) -> list[int]:
    """The members of a set of lanes, lowest first."""
    return [lane for lane in range(WARP_SIZE) if bits >> lane & 1]
