"""How many registers ptxas will give a kernel, from its text alone: a model, with its interval.

A regression on register pressure, fitted on kernels of several projects and tested on those of
projects left out (``bench/registers.py``); isa/data/register_estimate.json has its constants and
figures.
"""

from __future__ import annotations

from functools import cache
from math import exp, log, prod
from typing import Any, NamedTuple

from ..isa.limits import Limits, limits
from ..isa.shuffles import WARP_SIZE
from ..ptx.ir import Function
from ..resources import isa_data
from .facts import Facts
from .flow.graph import control_flow
from .flow.liveness import liveness
from .pressure import Pressure, pressure

FEWEST = 16  # registers that anything is estimated at
_LOADS = 96  # more in a block are not brought forward all together
_DEFAULT = "sm_80"


class Estimate(NamedTuple):
    """Registers a thread: ``middle``, and the interval that nine of ten kernels were in."""

    low: int
    middle: int
    high: int


def register_estimate(kernel: Function, facts: Facts) -> Estimate:
    """For ``facts.once``: the estimate for a kernel, within what its directives allow."""
    most = most_registers(kernel, facts)
    return Estimate(*[min(value, most) for value in facts.once(kernel, register_demand)])


def register_demand(kernel: Function, facts: Facts) -> Estimate:
    """For ``facts.once``: the registers that the kernel would have if nothing bounded them."""
    model = _model()
    expected = exp(_expected(model["constants"], facts.once(kernel, pressure)))
    low, middle, high = (expected * factor for factor in (model["low"], 1.0, model["high"]))
    return Estimate(*[max(round(value), FEWEST) for value in (low, middle, high)])


def may_exceed(function: Function, facts: Facts) -> bool:
    """Whether a kernel may need more than it may have, at a glance: by how many are live."""
    if not function.is_kernel:
        return False
    return _at_most(function, facts) > _harmless(most_registers(function, facts))


@cache
def _harmless(most: int) -> int:
    """So many live registers, of 64 bits each, lead to no estimate over ``most``."""
    model = _model()
    constants: list[float] = model["constants"]
    live = 0
    while True:
        bound = log(2 * (live + 1) + 8)
        highest = (1.0, bound, bound, bound, log(_LOADS + 8), bound)
        expected = sum(c * value for c, value in zip(constants, highest, strict=True))
        if exp(expected) * model["low"] > most:
            return live
        live += 1


def _at_most(function: Function, facts: Facts) -> int:
    """The most registers that are live at once, or a bound on it where that is small."""
    enough = _harmless(most_registers(function, facts))
    live, flow = facts.once(function, liveness), facts.once(function, control_flow)
    most = 0
    for index in flow.order:
        block = flow.blocks[index]
        bound = live.live_in[index].bit_count() + len(block)  # about one result an instruction
        if bound > enough:
            bound = max((now.bit_count() for _, now in live.after(block)), default=0) + 1
        most = max(most, bound)
    return most


def features(found: Pressure) -> tuple[float, ...]:
    """What the model is a sum of: logarithms of the figures of the register pressure."""
    loads = min(found.loads, _LOADS)
    return (
        1.0,
        *[log(value + 8) for value in (found.peak, found.lazy, found.edge, loads, found.every)],
    )


def most_registers(kernel: Function, facts: Facts) -> int:
    """The most that ptxas may give a thread of the kernel, by its directives and its target."""
    known = limits(facts.target or _DEFAULT) or limits(_DEFAULT)
    assert known is not None
    most = known.registers_per_thread
    own = kernel.directive("maxnreg")
    if own is not None and own.arguments and isinstance(own.arguments[0], int):
        most = min(most, own.arguments[0])
    threads = _threads(kernel)
    if threads:
        blocks = kernel.directive("minnctapersm")
        count = blocks.arguments[0] if blocks is not None and blocks.arguments else 1
        most = min(most, _by_threads(known, threads, count if isinstance(count, int) else 1))
    return max(most, FEWEST)


def _threads(kernel: Function) -> int:
    """Threads of the largest block that the directives allow; 0 where they do not say."""
    for name in ("reqntid", "maxntid"):
        found = kernel.directive(name)
        if found is not None:
            return prod(n for n in found.arguments if isinstance(n, int))
    return 0


def _by_threads(known: Limits, threads: int, blocks: int) -> int:
    warps = -(-threads // WARP_SIZE) * max(1, blocks)
    units = known.registers_per_sm // warps // known.register_unit
    return units * (known.register_unit // WARP_SIZE)


def _expected(constants: list[float], found: Pressure) -> float:
    return sum(c * value for c, value in zip(constants, features(found), strict=True))


@cache
def _model() -> dict[str, Any]:
    model: dict[str, Any] = isa_data("register_estimate.json")
    return model
