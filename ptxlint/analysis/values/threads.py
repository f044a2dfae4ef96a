"""The index space of thread vectors: which threads there are, and what their coordinates are."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from ...ptx.ir import Function, Module
from ..facts import Facts
from ..launch import MOST_THREADS, LaunchShape, launch_shape
from .assumed import ONE_DIMENSION, ROWS_OF_16, ROWS_OF_32, WHOLE_WARPS
from .symbols import BLOCK, EVERY_BIT, GRID, WARP
from .vectors import Vectors

WARP_SIZE = 32
# PTX ISA, "Special Registers": %nctaid.x up to 2^31 - 1, y and z up to 65,535.
_GRID_BITS = {"x": (1 << 31) - 1, "y": (1 << 16) - 1, "z": (1 << 16) - 1}
_BLOCK_BITS = {"x": 2047, "y": 2047, "z": 127}


class Coordinate:
    """A special register: ``values`` by thread, or 0; plus ``factor`` x a symbol of ``mask`` and
    ``scope``, where ``mask`` is not None. ``assumed`` is what ``values`` rest on,
    ``mask_assumed`` what ``mask`` does.
    """

    __slots__ = ("assumed", "factor", "mask", "mask_assumed", "scope", "values")

    def __init__(
        self,
        values: tuple[int, ...] | None = None,
        assumed: int = 0,
        mask: int | None = None,
        scope: int = BLOCK,
        factor: int = 1,
        mask_assumed: int = 0,
    ) -> None:
        self.values = values
        self.assumed = assumed
        self.mask = mask
        self.scope = scope
        self.factor = factor
        self.mask_assumed = mask_assumed


class ThreadSpace:
    """``size`` threads, in linear order: those of a block, or the lanes of one warp.

    ``whole`` is whether they are a block's (all that it may have: a real one is a prefix), else
    one warp's whose place in the block is not known. ``exact`` is whether the block has all
    of them in every launch. ``alternative`` reads the same kernel in rows of 16 threads.
    """

    __slots__ = ("alternative", "exact", "registers", "shape", "size", "whole")

    def __init__(
        self,
        size: int,
        whole: bool,
        exact: bool,
        shape: LaunchShape,
        registers: dict[str, Coordinate],
    ) -> None:
        self.size = size
        self.whole = whole
        self.exact = exact
        self.shape = shape
        self.registers = registers
        self.alternative: ThreadSpace | None = None

    @property
    def everyone(self) -> int:
        """All threads, as a bit set."""
        return (1 << self.size) - 1


def thread_space(function: Function, facts: Facts) -> ThreadSpace:
    """The space of a function's thread vectors, by its launch shape or the stated assumption."""
    shape = facts.once(function, launch_shape)
    threads = shape.threads
    if shape.block is not None and threads is not None and threads <= MOST_THREADS:
        return _known(shape, shape.block, threads)
    if shape.linear:
        return _line(shape)
    space = _rows_of_32(shape)
    space.alternative = _rows_of_16(shape)
    return space


def vectors_of_module(module: Module, facts: Facts) -> dict[int, Vectors]:
    """The module's interned vectors, by size of the space; filled as they are asked for."""
    return {}


def _known(shape: LaunchShape, block: tuple[int, int, int], threads: int) -> ThreadSpace:
    return ThreadSpace(threads, True, True, shape, _block_registers(block))


def _line(shape: LaunchShape) -> ThreadSpace:
    threads = max(1, shape.most)
    return ThreadSpace(threads, True, False, shape, _line_registers(threads))


def _rows_of_32(shape: LaunchShape) -> ThreadSpace:
    return ThreadSpace(WARP_SIZE, False, False, shape, _registers_of_32())


def _rows_of_16(shape: LaunchShape) -> ThreadSpace:
    return ThreadSpace(WARP_SIZE, False, False, shape, _registers_of_16())


@lru_cache(maxsize=64)
def _block_registers(block: tuple[int, int, int]) -> dict[str, Coordinate]:
    x, y, z = block
    threads = x * y * z
    registers = {
        "%tid.x": Coordinate(tuple([t % x for t in range(threads)])),
        "%tid.y": Coordinate(tuple([t // x % y for t in range(threads)])),
        "%tid.z": Coordinate(tuple([t // (x * y) for t in range(threads)])),
    }
    for axis, size in zip("xyz", block, strict=True):
        registers[f"%ntid.{axis}"] = Coordinate((size,) * threads)
    return _common(registers, threads)


@lru_cache(maxsize=64)
def _line_registers(threads: int) -> dict[str, Coordinate]:
    mask = 2047 & EVERY_BIT << 5
    registers = {
        "%tid.x": Coordinate(tuple(range(threads)), ONE_DIMENSION),
        "%ntid.x": Coordinate(mask=mask, scope=GRID, mask_assumed=WHOLE_WARPS),
    }
    return _common(registers, threads)


@lru_cache(maxsize=1)
def _registers_of_32() -> dict[str, Coordinate]:
    mask, zeros = 2047 & EVERY_BIT << 5, (0,) * WARP_SIZE
    registers = {
        "%tid.x": Coordinate(
            tuple(range(WARP_SIZE)), ROWS_OF_32, mask=31, scope=WARP, factor=WARP_SIZE
        ),
        "%tid.y": Coordinate(zeros, ROWS_OF_32, mask=1023, scope=WARP),
        "%tid.z": Coordinate(zeros, ROWS_OF_32, mask=63, scope=WARP),
        "%ntid.x": Coordinate(mask=mask, scope=GRID, mask_assumed=ROWS_OF_32),
    }
    return _common(registers, WARP_SIZE)


@lru_cache(maxsize=1)
def _registers_of_16() -> dict[str, Coordinate]:
    lanes = range(WARP_SIZE)
    rows = tuple([t >> 4 for t in lanes])
    registers = {
        "%tid.x": Coordinate(tuple([t & 15 for t in lanes]), ROWS_OF_16),
        "%tid.y": Coordinate(rows, ROWS_OF_16, mask=31, scope=WARP, factor=2),
        "%tid.z": Coordinate((0,) * WARP_SIZE, ROWS_OF_16, mask=63, scope=WARP),
        "%ntid.x": Coordinate((16,) * WARP_SIZE, ROWS_OF_16),
    }
    return _common(registers, WARP_SIZE)


def _common(registers: dict[str, Coordinate], threads: int) -> dict[str, Coordinate]:
    """With what does not depend on the shape."""
    lanes = [t % WARP_SIZE for t in range(threads)]
    registers["%laneid"] = Coordinate(tuple(lanes))
    for name, mask in _LANE_MASKS.items():
        registers[f"%lanemask_{name}"] = Coordinate(tuple([mask(lane) for lane in lanes]))
    for axis, bits in _GRID_BITS.items():
        registers[f"%ctaid.{axis}"] = Coordinate(mask=bits, scope=BLOCK)
        registers[f"%nctaid.{axis}"] = Coordinate(mask=bits, scope=GRID)
    for axis, bits in _BLOCK_BITS.items():
        registers.setdefault(f"%ntid.{axis}", Coordinate(mask=bits, scope=GRID))
    # PTX ISA, "%warpid": the same in a warp, but neither dense nor fixed.
    registers["%warpid"] = Coordinate(mask=EVERY_BIT, scope=WARP)
    for name in _OF_BLOCK:
        registers[name] = Coordinate(mask=EVERY_BIT, scope=BLOCK)
    for name in _OF_GRID:
        registers[name] = Coordinate(mask=EVERY_BIT, scope=GRID)
    return registers


_LANE_MASKS: dict[str, Callable[[int], int]] = {
    "eq": lambda lane: 1 << lane,
    "le": lambda lane: (2 << lane) - 1,
    "lt": lambda lane: (1 << lane) - 1,
    "ge": lambda lane: 0xFFFFFFFF & ~((1 << lane) - 1),
    "gt": lambda lane: 0xFFFFFFFF & ~((2 << lane) - 1),
}
_OF_BLOCK = (
    *(f"%cluster_ctaid.{axis}" for axis in "xyz"),
    *(f"%clusterid.{axis}" for axis in "xyz"),
    "%cluster_ctarank",
)
_OF_GRID = (
    *(f"%cluster_nctaid.{axis}" for axis in "xyz"),
    *(f"%nclusterid.{axis}" for axis in "xyz"),
    *(f"%envreg{i}" for i in range(32)),
    "%cluster_nctarank",
    "%is_explicit_cluster",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%aggr_smem_size",
    "%gridid",
)
