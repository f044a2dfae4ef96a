"""Launches for any kernel: shapes, grids and arguments chosen without knowing what it computes.

Numbers are such that loops take a few turns and bounds fall inside a warp; what a pointer points
to is defined data, small integers in one launch and random bytes in the next.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from ptxlint.execute import Buffer, Launch
from ptxlint.ptx.ir import Function

from .parameters import Field, Shape, shapes

BLOCKS = (
    (64, 1, 1),
    (40, 1, 1),
    (16, 8, 1),
    (96, 1, 1),
    (32, 4, 1),
    (128, 1, 1),
    (8, 8, 2),
    (100, 1, 1),
    (32, 1, 1),
    (256, 1, 1),
)
_SCHEDULES = ("reconverge", "reconverge", "reconverge", "lane", "reconverge", "random")
_GRIDS = (((1, 1, 1), (0, 0, 0)), ((4, 2, 1), (3, 1, 0)), ((7, 1, 1), (5, 0, 0)))
SMALL, LARGE = 1 << 16, 1 << 22
DYNAMIC_SHARED = 227 << 10


@dataclass(frozen=True)
class Plan:
    """One launch before its buffers exist: everything that a repetition needs."""

    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    ctaid: tuple[int, int, int]
    seed: int
    schedule: str
    tame: bool = False
    """After a fault: buffers of 4 MiB with small integers in them, numbers all multiples of 16."""

    def __str__(self) -> str:
        shape = ",".join(map(str, self.block))
        place = ",".join(map(str, self.ctaid))
        tame = " tame" if self.tame else ""
        return f"block {shape} cta {place} seed {self.seed} {self.schedule}{tame}"


def plans(kernel: Function, count: int) -> Iterator[Plan]:
    """``count`` different launches that the kernel's directives allow."""
    allowed = [block for block in _blocks(kernel)]
    start = zlib.crc32(kernel.name.encode())
    for i in range(count):
        grid, ctaid = _GRIDS[i % len(_GRIDS)]
        schedule = _SCHEDULES[i % len(_SCHEDULES)]
        yield Plan(allowed[i % len(allowed)], grid, ctaid, (start + i) % 1000003, schedule)


def _blocks(kernel: Function) -> list[tuple[int, int, int]]:
    required = kernel.directive("reqntid")
    if required is not None:
        given = [int(n) for n in required.arguments]
        x, y, z = (*given, 1, 1, 1)[:3]
        return [(x, y, z)]
    bound = kernel.directive("maxntid")
    limit = 1024
    if bound is not None:
        limit = 1
        for n in bound.arguments:
            limit *= int(n)
    fitting = [b for b in BLOCKS if b[0] * b[1] * b[2] <= limit]
    return fitting or [(limit, 1, 1)]


def launch(kernel: Function, plan: Plan, max_steps: int) -> Launch:
    """The launch of a plan. Lanes that run one by one get more steps."""
    draw = random.Random(plan.seed)
    size = LARGE if plan.tame else SMALL
    arguments = {name: _argument(shape, plan, draw, size) for name, shape in shapes(kernel).items()}
    return Launch(
        block=plan.block,
        grid=plan.grid,
        ctaid=plan.ctaid,
        parameters=arguments,
        dynamic_shared=DYNAMIC_SHARED,
        schedule=plan.schedule,
        seed=plan.seed,
        max_steps=max_steps if plan.schedule == "reconverge" else 4 * max_steps,
    )


def pointers(kernel: Function) -> frozenset[str]:
    """The parameters, or places in them (``name+8``), that launches give a buffer's address."""
    return frozenset(
        f"{name}+{field.offset}" if field.offset else name
        for name, shape in shapes(kernel).items()
        for field in shape.fields
        if field.kind == "pointer"
    )


def _argument(
    shape: Shape, plan: Plan, draw: random.Random, size: int
) -> int | bytes | Buffer | dict[int, Buffer | bytes]:
    """One argument: a number, a buffer, or the bytes and buffers of a structure's fields."""
    fields = shape.fields
    if len(fields) == 1 and fields[0].offset == 0 and fields[0].kind == "pointer":
        return Buffer(size, contents(size, draw, plan.tame))
    if not any(f.kind == "pointer" for f in fields):
        image = bytearray(shape.size)
        for each in fields:
            image[each.offset : each.offset + each.size] = _number(each, plan, draw)
        return bytes(image)
    return {  # the interpreter puts the buffers' addresses at these offsets
        f.offset: Buffer(size, contents(size, draw, plan.tame))
        if f.kind == "pointer"
        else _number(f, plan, draw)
        for f in fields
    }


def contents(size: int, draw: random.Random, small: bool) -> bytes:
    """Small integers, or anything."""
    if draw.random() < 0.7 or small:
        words = [draw.choice((0, 1, 1, 2, 3, 5, 8, 13, 31, 40)) for _ in range(509)]
        period = struct.pack("<509I", *words)
    else:
        period = draw.randbytes(4093)
    return (period * (size // len(period) + 1))[:size]


def _number(each: Field, plan: Plan, draw: random.Random) -> bytes:
    if each.kind == "float":
        value = draw.choice((1.0, 0.5, -2.0, 3.25))
        return {2: struct.pack("<e", value), 4: struct.pack("<f", value)}.get(
            each.size, struct.pack("<d", value)
        )
    threads = plan.block[0] * plan.block[1] * plan.block[2]
    grid = plan.grid[0] * plan.grid[1] * plan.grid[2]
    choices = (37, 100, threads - 3, threads + 1, grid * threads - 5, 8, 64, 4, 1, 5, 16, 33)
    value = draw.choice(choices[:6] if draw.random() < 0.6 else choices)
    if plan.tame:
        value = draw.choice((16, 48, 64, 128))
    return (value & ((1 << 8 * each.size) - 1)).to_bytes(each.size, "little")
