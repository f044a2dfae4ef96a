"""Registers of a kernel, exact or estimated, and what GPUs make of it: occupancy, failures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from ..analysis.kernel_resources import KernelResources
from ..inputs.cubin import Kernel
from ..inputs.ptxas import Spills
from ..isa.limits import limits
from ..isa.occupancy import Occupancy, Step, occupancy, steps

ASSUMED_THREADS = 256
_COUNTS_RESERVED = 90  # since this sm_ number
CUBIN, PTXAS, ESTIMATE = "cubin", "ptxas", "estimate"


class Registers(NamedTuple):
    """Registers a thread: ``low`` to ``high``, one number where ``source`` is not ``estimate``.

    ``spills`` where ptxas said it, ``spilling`` the instructions that do it; ``source`` is
    ``cubin``, ``ptxas`` or ``estimate``.
    """

    low: int
    middle: int
    high: int
    source: str
    spills: Spills | None = None
    spilling: int | None = None

    @property
    def exact(self) -> bool:
        """Whether the number is a fact."""
        return self.source != ESTIMATE


class Launch(NamedTuple):
    """What is launched: ``threads`` of a block, whence (``--block``, ``.reqntid``, ``.maxntid``;
    empty: taken), and bytes of ``dynamic`` shared memory.
    """

    threads: int
    source: str
    dynamic: int


class Gpu(NamedTuple):
    """A kernel on one target. ``found`` by the middle of the registers, ``least`` and ``most`` by
    the ends of their interval; ``steps`` what would give more warps. None where the target's
    limits are not published.
    """

    target: str
    launch: Launch
    found: Occupancy | None
    least: Occupancy | None
    most: Occupancy | None
    steps: list[Step]


def launch_of_text(found: KernelResources, dynamic: int) -> Launch:
    """The launch of a kernel of PTX, as far as it is told."""
    if found.shape.block is not None:
        return Launch(prod(found.shape.block), found.shape.source, dynamic)
    most = found.bounds.get("maxntid")
    if most:
        return Launch(prod(most), ".maxntid", dynamic)
    return Launch(ASSUMED_THREADS, "", dynamic)


def launch_of_machine(kernel: Kernel, block: Sequence[int] | None, dynamic: int) -> Launch:
    """The launch of a kernel of a cubin."""
    for sizes, source in (
        (block, "--block"),
        (kernel.required_threads, ".reqntid"),
        (kernel.max_threads, ".maxntid"),
    ):
        if sizes:
            return Launch(prod(sizes), source, dynamic)
    return Launch(ASSUMED_THREADS, "", dynamic)


def gpus(
    targets: Sequence[str], registers: Registers, launch: Launch, shared: int, barriers: int
) -> list[Gpu]:
    """The kernel on each target; ``shared``: static bytes, without what the system reserves."""
    rows = []
    for target in targets:
        if limits(target) is None:
            rows.append(Gpu(target, launch, None, None, None, []))
            continue
        middle, fewest, most = (
            occupancy(
                target,
                registers=number,
                threads=launch.threads,
                shared=shared + launch.dynamic,
                barriers=barriers,
            )
            for number in (registers.middle, registers.low, registers.high)
        )
        more = steps(
            target,
            registers=registers.middle,
            threads=launch.threads,
            shared=shared + launch.dynamic,
            barriers=barriers,
        )
        rows.append(Gpu(target, launch, middle, most, fewest, more))
    return rows


def static_shared(kernel: Kernel, target: str) -> int:
    """Bytes of static shared memory of a cubin's kernel: from sm_90 on its header counts the
    reserved ones too.
    """
    known, number = limits(target), re.search(r"\d+", target)
    if known is None or number is None or int(number[0]) < _COUNTS_RESERVED:
        return kernel.shared
    return max(0, kernel.shared - known.shared_reserved)
