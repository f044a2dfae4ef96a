"""Approximate functions: rsqrt, ex2, lg2, sin, cos, tanh and the approximate rcp, sqrt, div.

The hardware's tables are not public; these are correctly rounded or nearly so, which is within
the error that the ISA allows but not bit for bit what a GPU gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .arithmetic import divide, from_double, from_float, root, to_double, to_float
from .builder import Function1
from .formats import FORMATS, Format, convert

F32, F64 = FORMATS["f32"], FORMATS["f64"]


def _real(format_: Format) -> Callable[[int], float]:
    if format_ is F32:
        return to_float
    if format_ is F64:
        return to_double
    return lambda bits: to_float(convert(bits, format_, F32))


def _bits(format_: Format) -> Callable[[float], int]:
    if format_ is F32:
        return from_float
    if format_ is F64:
        return from_double
    return lambda value: convert(from_double(value), F64, format_)


def _from(function: Callable[[float], float]) -> Callable[[Format], Function1]:
    """The function in each format; where it has no value it gives NaN."""

    def make(format_: Format) -> Function1:
        real, bits = _real(format_), _bits(format_)

        def apply(a: int) -> int:
            try:
                return bits(function(real(a)))
            except ValueError:
                return format_.nan

        return apply

    return make


def _ex2(x: float) -> float:
    if x != x or math.isinf(x):
        return x if x != x or x > 0 else 0.0
    if x > 2000 or x < -2000:
        return math.inf if x > 0 else 0.0
    try:
        return math.pow(2.0, x)
    except OverflowError:
        return math.inf


def _lg2(x: float) -> float:
    if x == 0:
        return -math.inf
    return x if x == math.inf else math.log2(x)


def _rsqrt(x: float) -> float:
    if x == 0:
        return math.copysign(math.inf, x)
    return 0.0 if x == math.inf else 1.0 / math.sqrt(x)


def _rcp(format_: Format) -> Function1:
    quotient, one = divide(format_, "rn"), format_.round(1, 0)
    return lambda a: quotient(one, a)


def _sqrt(format_: Format) -> Function1:
    return root(format_, "rn")


ELEMENTARY: dict[str, Callable[[Format], Function1]] = {
    "ex2": _from(_ex2),
    "lg2": _from(_lg2),
    "rsqrt": _from(_rsqrt),
    "sin": _from(math.sin),
    "cos": _from(math.cos),
    "tanh": _from(math.tanh),
    "rcp": _rcp,
    "sqrt": _sqrt,
}
