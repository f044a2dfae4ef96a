"""Registers of a kernel, exact or estimated, and what GPUs make of it: occupancy, failures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from ..analysis.kernel_resources import KernelResources
from ..inputs.cubin import Kernel
from ..inputs.ptxas import Spills
from ..isa.limits import limits
from ..isa.occupancy import (
    Bounds,
    Failure,
    Occupancy,
    Step,
    launch_failure,
    occupancy,
    steps,
    three,
)
from ..isa.targets import Target

ASSUMED_THREADS = 256
_COUNTS_RESERVED = 90  # since this sm_ number
CUBIN, PTXAS, ESTIMATE = "cubin", "ptxas", "estimate"


class Registers(NamedTuple):
    """Registers a thread: ``low`` to ``high``, one number where ``source`` is not ``estimate``.

    ``spills`` where ptxas said it, ``spilling`` the instructions that do it, ``lines`` how many
    of them each line of the PTX has; ``source`` is ``cubin``, ``ptxas`` or ``estimate``.
    """

    low: int
    middle: int
    high: int
    source: str
    spills: Spills | None = None
    spilling: int | None = None
    lines: dict[int, int] | None = None

    @property
    def exact(self) -> bool:
        """Whether the number is a fact."""
        return self.source != ESTIMATE


class Launch(NamedTuple):
    """What is launched: a ``block``, whence (``--block``, ``.reqntid``, ``.maxntid``; empty: it is
    taken), bytes of ``dynamic`` shared memory, and what the kernel's directives ask of it.
    """

    block: tuple[int, int, int]
    source: str
    dynamic: int
    bounds: Bounds

    @property
    def threads(self) -> int:
        """Threads of the block."""
        return prod(self.block)


class Gpu(NamedTuple):
    """A kernel on one target. ``found`` by the middle of the registers, ``least`` and ``most`` by
    the ends of their interval; ``steps`` what would give more warps; ``failure`` why every launch
    fails, of an estimate where its lower end does. None where a target's limits are not published.
    """

    target: str
    launch: Launch
    found: Occupancy | None
    least: Occupancy | None
    most: Occupancy | None
    steps: list[Step]
    failure: Failure | None


def launch_of_text(found: KernelResources, dynamic: int) -> Launch:
    """The launch of a kernel of PTX, as far as it is told."""
    bounds = Bounds.of(found.bounds.get("maxntid"), found.bounds.get("reqntid"))
    if found.shape.block is not None:
        return Launch(found.shape.block, found.shape.source, dynamic, bounds)
    return _launch(((found.bounds.get("maxntid"), ".maxntid"),), dynamic, bounds)


def launch_of_machine(kernel: Kernel, block: Sequence[int] | None, dynamic: int) -> Launch:
    """The launch of a kernel of a cubin."""
    shapes = (
        (block, "--block"),
        (kernel.required_threads, ".reqntid"),
        (kernel.max_threads, ".maxntid"),
    )
    return _launch(shapes, dynamic, Bounds.of(kernel.max_threads, kernel.required_threads))


def _launch(
    shapes: Iterable[tuple[Sequence[int] | None, str]], dynamic: int, bounds: Bounds
) -> Launch:
    """With the first shape that there is."""
    for sizes, source in shapes:
        if sizes:
            return Launch(three(sizes), source, dynamic, bounds)
    return Launch((ASSUMED_THREADS, 1, 1), "", dynamic, bounds)


def gpus(
    targets: Sequence[str], registers: Registers, launch: Launch, shared: int, barriers: int
) -> list[Gpu]:
    """The kernel on each target; ``shared``: static bytes, without what the system reserves."""
    rows = []
    for target in targets:
        if limits(target) is None:
            rows.append(Gpu(target, launch, None, None, None, [], None))
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
        failure = launch_failure(
            target,
            registers=registers.low,
            block=launch.block,
            shared=shared + launch.dynamic,
            bounds=launch.bounds,
        )
        rows.append(Gpu(target, launch, middle, most, fewest, more, failure))
    return rows


def static_shared(kernel: Kernel, target: str) -> int:
    """Bytes of static shared memory of a cubin's kernel: from sm_90 on its header counts the
    reserved ones too.
    """
    known, parsed = limits(target), Target.parse(target)
    if known is None or parsed is None or parsed.number < _COUNTS_RESERVED:
        return kernel.shared
    return max(0, kernel.shared - known.shared_reserved)
