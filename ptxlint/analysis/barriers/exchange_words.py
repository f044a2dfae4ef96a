"""Exchanges through shared memory in words: threads, places, and what each of them does there."""

from __future__ import annotations

from typing import Any

from ...ptx.ir import Function
from ..facts import Facts
from ..launch import launch_shape
from .exchanges import RAW, Exchange


def thread_text(number: int, function: Function, facts: Facts) -> str:
    """``thread 33``, or by coordinates where the block has more than one dimension."""
    x, y, z = facts.once(function, launch_shape).place(number)
    return f"thread {x}" if y == z == 0 else f"thread ({x}, {y}, {z})"


def what_happens(found: Exchange, function: Function, facts: Facts) -> str:
    """``thread 1 reads tile+4, which thread 0 writes at line 19``."""
    first = thread_text(found.first, function, facts)
    second = thread_text(found.second, function, facts)
    line = facts.module.source.line_of(found.earlier.access.instruction.start)
    place = f"`{found.variable.name}`+{found.offset}"
    if found.kind == RAW:
        return f"{second} reads {place}, which {first} writes at line {line}"
    return f"{second} writes {place}, which {first} reads at line {line}"


def witness(found: Exchange, function: Function, facts: Facts) -> dict[str, Any]:
    """The two threads, the block, and the place."""
    shape = facts.once(function, launch_shape)
    return {
        "threads": [list(shape.place(thread)) for thread in (found.first, found.second)],
        "block": list(shape.block or ()),
        "object": found.variable.name,
        "offset": found.offset,
        "kind": found.kind,
    }
