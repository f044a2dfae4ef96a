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
from ..ptx.ir import Function
from ..resources import isa_data
from .facts import Facts
from .pressure import Pressure, pressure

FEWEST = 16  # registers that anything is estimated at
_WARP = 32
_DEFAULT = "sm_80"


class Estimate(NamedTuple):
    """Registers a thread: ``middle``, and the interval that nine of ten kernels were in."""

    low: int
    middle: int
    high: int


def register_estimate(kernel: Function, facts: Facts) -> Estimate:
    """For ``facts.once``: the estimate for a kernel, within what its directives allow."""
    model, most = _model(), most_registers(kernel, facts)
    expected = exp(_expected(model["constants"], facts.once(kernel, pressure)))
    low, middle, high = (expected * factor for factor in (model["low"], 1.0, model["high"]))
    bound = [min(max(round(value), FEWEST), most) for value in (low, middle, high)]
    return Estimate(*bound)


def features(found: Pressure) -> tuple[float, ...]:
    """What the model is a sum of: logarithms of the figures of the register pressure."""
    loads = min(found.loads, 96)
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
    warps = -(-threads // _WARP) * max(1, blocks)
    return known.registers_per_sm // warps // known.register_unit * (known.register_unit // _WARP)


def _expected(constants: list[float], found: Pressure) -> float:
    return sum(c * value for c, value in zip(constants, features(found), strict=True))


@cache
def _model() -> dict[str, Any]:
    model: dict[str, Any] = isa_data("register_estimate.json")
    return model
