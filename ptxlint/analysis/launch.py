"""The shape of a kernel's thread blocks, as far as it is told."""

from __future__ import annotations

import json
from math import prod
from typing import NamedTuple

from ..ptx.ir import Address, Directive, Function, Operand, SpecialRegister
from .facts import Facts
from .named import named_operands
from .shared import named_symbols

# PTX ISA, "Performance-Tuning Directives": no target takes more threads in a block.
MOST_THREADS = 1024
_WARP = 32
# Keys of Triton's metadata that, where set, add warps to those of `num_warps`.
_MORE_WARPS = ("num_consumer_groups", "num_buffers_warp_spec", "enable_warp_specialization")


# What is assumed, and printed, where no shape is told.
ONE_DIMENSION = "the block is one-dimensional"
WHOLE_WARPS = "blockDim.x is a multiple of 32"


class LaunchShape(NamedTuple):
    """``block`` is the launch shape (x, y, z) in threads where it is told, by ``source``.

    ``source`` is ``--block``, ``.reqntid`` or ``Triton metadata``; empty where ``block`` is None.
    ``most`` bounds the threads of a block. ``reads`` are the special registers that depend on the
    shape (``%tid.y``, ``%ntid.x`` …) and that the function, or one that it calls, reads.
    """

    block: tuple[int, int, int] | None
    source: str
    most: int
    reads: frozenset[str]

    @property
    def threads(self) -> int | None:
        """Threads of a block, where the shape is told."""
        return None if self.block is None else prod(self.block)

    def place(self, thread: int) -> tuple[int, int, int]:
        """The (x, y, z) of a thread by its number in the block; of a block that is not told, one
        in x.
        """
        if self.block is None:
            return thread, 0, 0
        x, y, _ = self.block
        return thread % x, thread // x % y, thread // (x * y)

    @property
    def assumption(self) -> str | None:
        """What a claim about the told block rests on; None where the file itself demands it."""
        if self.block is None or self.source == ".reqntid":
            return None
        return f"the block is {'x'.join(map(str, self.block))} threads, as {self.source} says"

    @property
    def linear(self) -> bool:
        """Whether nothing but ``%tid.x`` tells the threads of a block apart."""
        return not self.reads & {"%tid", "%tid.y", "%tid.z"}


class Metadata(NamedTuple):
    """What Triton's metadata says: the kernel's ``name`` (None: any), and its block, if sure."""

    name: str | None
    block: tuple[int, int, int] | None


def launch_shape(function: Function, facts: Facts) -> LaunchShape:
    """The launch shape of a kernel; of a device function, what holds of any kernel's.

    ``.maxntid`` is a bound and no shape: ``__launch_bounds__`` writes it whatever is launched.
    """
    reads = facts.once(function, coordinates)
    block = facts.options.block
    if block is not None:
        return LaunchShape(block, "--block", prod(block), reads)
    required = _sizes(function.directive("reqntid"))
    if required is not None:
        return LaunchShape(required, ".reqntid", prod(required), reads)
    bound = _sizes(function.directive("maxntid"))
    most = MOST_THREADS if bound is None else min(prod(bound), MOST_THREADS)
    if function.is_kernel and facts.options.metadata is not None:
        told = shape_from_metadata(facts.options.metadata)
        if told is not None and told.block is not None and told.name in (None, function.name):
            return LaunchShape(told.block, "Triton metadata", prod(told.block), reads)
    return LaunchShape(None, "", most, reads)


def shape_from_metadata(text: str) -> Metadata | None:
    """The block of the JSON that Triton keeps beside a kernel; None where it is no such text.

    A block is 32 x ``num_warps`` threads in x. Where the compiler may add warps to those for
    warp specialisation, the shape is not sure, and ``block`` is None.
    """
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict) or not isinstance(warps := value.get("num_warps"), int):
        return None
    target = value.get("target")
    if isinstance(target, dict) and target.get("backend") not in (None, "cuda"):
        return None
    name = value.get("name")
    told = name if isinstance(name, str) else None
    if any(value.get(key) for key in _MORE_WARPS) or not 1 <= warps <= MOST_THREADS // _WARP:
        return Metadata(told, None)
    return Metadata(told, (_WARP * warps, 1, 1))


def is_told(function: Function, facts: Facts) -> bool:
    """Whether something beside the file tells the block of a kernel."""
    given = facts.options
    return function.is_kernel and (given.block is not None or given.metadata is not None)


def metadata_shared(facts: Facts) -> int:
    """Bytes of dynamic shared memory that Triton's metadata says; 0 where it does not."""
    try:
        value = json.loads(facts.options.metadata or "")
    except ValueError:
        return 0
    found = value.get("shared") if isinstance(value, dict) else None
    return found if isinstance(found, int) and found > 0 else 0


def coordinates(function: Function, facts: Facts) -> frozenset[str]:
    """Of ``%tid`` and ``%ntid``, the components that the function or one it calls reads."""
    found: set[str] = set()
    seen, waiting = {id(function)}, [function]
    while waiting:
        each = waiting.pop()
        for operand in facts.once(each, named_operands):
            _collect(operand, found)
        if "call" not in facts.module.mnemonics:
            break
        for target in facts.once(each, named_symbols):
            if isinstance(target, Function) and id(target) not in seen:
                seen.add(id(target))
                waiting.append(target)
    return frozenset(found)


def _collect(operand: Operand, found: set[str]) -> None:
    if type(operand) is SpecialRegister:
        if operand.name.startswith(("%tid", "%ntid")):
            found.add(operand.name)
    elif type(operand) is not Address or operand.rest:  # no base is a special register
        for child in operand.children():
            _collect(child, found)


def _sizes(directive: Directive | None) -> tuple[int, int, int] | None:
    """The sizes of ``.reqntid`` or ``.maxntid``; those left out are 1."""
    if directive is None:
        return None
    sizes = [size for size in directive.arguments if isinstance(size, int)]
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        return None
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z
