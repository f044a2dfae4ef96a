"""How many blocks of a kernel an SM holds at once, what limits them, and whether a launch fails.

The arithmetic is that of cuda_occupancy.h (CUDA 13.5), which the driver's
cuOccupancyMaxActiveBlocksPerMultiprocessor agrees with (378 points on an H200).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import NamedTuple

from .limits import Limits, limits
from .shuffles import WARP_SIZE

REGISTERS, SHARED, WARPS, BLOCKS, BARRIERS = (
    "registers",
    "shared memory",
    "warps",
    "blocks",
    "barriers",
)
OUT_OF_RESOURCES, INVALID_VALUE = 701, 1
# Warps whose registers hardware checks together, on 6.0 too, which has two partitions alone.
_CHECKED = 4
_REGISTER_STEP = 8  # registers of a thread come in eights: 256 for each warp


class Failure(NamedTuple):
    """Why a launch fails: the CUresult (701: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 1:
    CUDA_ERROR_INVALID_VALUE), and in words.
    """

    code: int
    why: str

    @property
    def name(self) -> str:
        """The CUresult's name."""
        if self.code == OUT_OF_RESOURCES:
            return "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
        return "CUDA_ERROR_INVALID_VALUE"


class Occupancy(NamedTuple):
    """``blocks`` of a kernel that an SM holds at once, and their ``warps``, of ``most_warps``.

    ``allowed`` are the blocks that each resource would allow; ``limiter`` names those that allow
    the fewest. ``failure`` is why no launch succeeds, None where one does.
    """

    blocks: int
    warps: int
    most_warps: int
    allowed: dict[str, int]
    limiter: tuple[str, ...]
    failure: Failure | None

    @property
    def share(self) -> float:
        """Active warps of those that the SM has places for, 0 to 1."""
        return self.warps / self.most_warps


class Bounds(NamedTuple):
    """What a kernel's directives ask of a block: ``most`` threads (.maxntid, as a product), or
    exactly the shape ``required`` (.reqntid). None where there is no such directive.
    """

    most: int | None = None
    required: tuple[int, int, int] | None = None

    @classmethod
    def of(cls, most: Sequence[int] | None, required: Sequence[int] | None) -> Bounds:
        """From the directives' sizes, as many as are written."""
        return cls(prod(most) if most else None, three(required) if required else None)


UNBOUND = Bounds()


def three(sizes: Sequence[int]) -> tuple[int, int, int]:
    """A block's sizes; those left out are 1."""
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


class Step(NamedTuple):
    """With ``value`` of ``resource`` (registers of a thread, bytes of shared memory, threads of a
    block), or fewer, an SM holds ``warps``.
    """

    resource: str
    value: int
    warps: int


def occupancy(
    target: str, *, registers: int, threads: int, shared: int = 0, barriers: int = 0
) -> Occupancy | None:
    """The occupancy of a kernel on a target (``sm_80``, ``8.0``).

    ``registers`` of a thread, ``threads`` of a block, ``shared``: bytes of a block, static and
    dynamic, without what the system reserves; ``barriers``: CTA barriers in use, which limit
    blocks from sm_90 on. None where the target's limits are not published. Raises ValueError for
    numbers that no launch has.
    """
    if threads < 1 or registers < 0 or shared < 0 or barriers < 0:
        raise ValueError("threads must be at least 1, and nothing less than 0")
    known = limits(target)
    return None if known is None else _occupancy(known, registers, threads, shared, barriers)


def launch_failure(
    target: str,
    *,
    registers: int,
    block: tuple[int, int, int],
    shared: int = 0,
    bounds: Bounds = UNBOUND,
) -> Failure | None:
    """Why cuLaunchKernel refuses a block of that shape; None where it takes it, or where the
    target's limits are not published. 5,040 launches on an H200 were as it says.
    """
    threads = prod(block)
    if bounds.required is not None and block != bounds.required:
        why = f"a block of {_shape(block)}, and .reqntid demands {_shape(bounds.required)}"
        return Failure(INVALID_VALUE, why)
    if bounds.most is not None and threads > bounds.most:
        why = f"{threads:,} threads of a block, and .maxntid allows {bounds.most:,}"
        return Failure(INVALID_VALUE, why)
    known = limits(target)
    return None if known is None else _failure(known, registers, threads, shared)


def _shape(block: tuple[int, int, int]) -> str:
    return "x".join(map(str, block))


def steps(
    target: str, *, registers: int, threads: int, shared: int = 0, barriers: int = 0
) -> list[Step]:
    """The next larger occupancies: for registers and shared memory each, the most that gives more
    warps than now. Empty where nothing of it helps, or the limits are not known.
    """
    known = limits(target)
    if known is None:
        return []
    now = _occupancy(known, registers, threads, shared, barriers).warps
    found = []
    for resource, value, unit, at in (
        (REGISTERS, registers, _REGISTER_STEP, lambda r: (r, threads, shared)),
        (SHARED, shared, known.shared_unit, lambda s: (registers, threads, s)),
    ):
        fewer = _fewer(known, now, value, unit, at, barriers)
        if fewer is not None:
            found.append(Step(resource, *fewer))
    return found


def _fewer(
    known: Limits,
    now: int,
    value: int,
    unit: int,
    at: Callable[[int], tuple[int, int, int]],
    barriers: int,
) -> tuple[int, int] | None:
    """The largest multiple of ``unit`` below ``value`` that gives more warps, and how many."""
    low, high = 0, (value - 1) // unit  # in units; warps only fall as they grow

    def warps(units: int) -> int:
        return _occupancy(known, *at(units * unit), barriers).warps

    if value <= 0 or warps(0) <= now:
        return None
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if warps(middle) > now else (low, middle - 1)
    return low * unit, warps(low)


def _occupancy(
    known: Limits, registers: int, threads: int, shared: int, barriers: int
) -> Occupancy:
    warps = _up(threads, WARP_SIZE) // WARP_SIZE
    allowed = {
        REGISTERS: _by_registers(known, registers, warps),
        SHARED: _by_shared(known, shared),
        WARPS: 0 if threads > known.threads_per_block else known.warps_per_sm // warps,
        BLOCKS: known.blocks_per_sm,
    }
    if known.barriers_per_sm and barriers:
        allowed[BARRIERS] = known.barriers_per_sm // barriers
    blocks = min(allowed.values())
    return Occupancy(
        blocks,
        blocks * warps,
        known.warps_per_sm,
        allowed,
        tuple(name for name, number in allowed.items() if number == blocks),
        _failure(known, registers, threads, shared),
    )


def _by_registers(known: Limits, registers: int, warps: int) -> int:
    if _over_registers(known, registers, warps):
        return 0
    a_warp = _up(registers * WARP_SIZE, known.register_unit)
    if not a_warp:
        return known.blocks_per_sm
    in_partition = known.registers_per_sm // known.sub_partitions // a_warp
    return in_partition * known.sub_partitions // warps


def _over_registers(known: Limits, registers: int, warps: int) -> bool:
    """Whether a block has too many; hardware counts its warps in all partitions alike."""
    a_warp = _up(registers * WARP_SIZE, known.register_unit)
    in_all = a_warp * _up(warps, _CHECKED)
    return in_all > known.registers_per_block or registers > known.registers_per_thread


def _by_shared(known: Limits, shared: int) -> int:
    taken = _up(shared + known.shared_reserved, known.shared_unit)
    if known.shared_optin is not None and shared > known.shared_optin:
        return 0
    return known.shared_per_sm // taken if taken else known.blocks_per_sm


def _failure(known: Limits, registers: int, threads: int, shared: int) -> Failure | None:
    most = known.shared_optin
    if threads > known.threads_per_block:
        why = f"{threads:,} threads of a block, and {known.threads_per_block:,} is the most"
        return Failure(INVALID_VALUE, why)
    if most is not None and shared > most:
        why = f"{shared:,} bytes of shared memory, and {most:,} is the most for a block"
        return Failure(INVALID_VALUE, why)
    warps = _up(threads, WARP_SIZE) // WARP_SIZE
    if _over_registers(known, registers, warps):
        a_warp = _up(registers * WARP_SIZE, known.register_unit)
        in_all = _up(warps, _CHECKED)
        why = (
            f"{registers} registers take {a_warp:,} a warp, {a_warp * in_all:,} for {in_all} warps,"
            f" and a block has {known.registers_per_block:,}"
        )
        return Failure(OUT_OF_RESOURCES, why)
    return None


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
