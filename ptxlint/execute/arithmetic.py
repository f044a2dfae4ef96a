"""Sums, products, quotients and roots of floats, rounded once, in any format and mode.

Each function takes and gives raw bits. The hardware's doubles serve where they are exact
enough; the rest is whole-number arithmetic (``formats``).
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from .formats import FORMATS, Format

Unary = Callable[[int], int]
Binary = Callable[[int, int], int]
Ternary = Callable[[int, int, int], int]
_U32, _F32 = struct.Struct("<I"), struct.Struct("<f")
_U64, _F64 = struct.Struct("<Q"), struct.Struct("<d")
F32, F64 = FORMATS["f32"], FORMATS["f64"]


def to_float(bits: int) -> float:
    """f32 bits as a float."""
    value: float = _F32.unpack(_U32.pack(bits))[0]
    return value


def from_float(value: float) -> int:
    """A float rounded to f32, as bits."""
    if value != value:
        return F32.nan
    try:
        bits: int = _U32.unpack(_F32.pack(value))[0]
    except OverflowError:
        return 0x7F80_0000 if value > 0 else 0xFF80_0000
    return bits


def to_double(bits: int) -> float:
    """f64 bits as a float."""
    value: float = _F64.unpack(_U64.pack(bits))[0]
    return value


def from_double(value: float) -> int:
    """A float as f64 bits; NaNs as the hardware makes them."""
    if value != value:
        return F64.nan
    bits: int = _U64.unpack(_F64.pack(value))[0]
    return bits


def choosing(format_: Format, function: Binary) -> Binary:
    """Of two NaNs a GPU gives on the second; what is made by an operation is the canonical one."""

    def chosen(a: int, b: int) -> int:
        if format_.is_nan(b):
            return format_.quiet(b)
        return format_.quiet(a) if format_.is_nan(a) else function(a, b)

    return chosen


def add(format_: Format, mode: str) -> Binary:
    """a + b."""
    if mode == "rn" and format_ is F32:
        return lambda a, b: from_float(to_float(a) + to_float(b))
    if mode == "rn" and format_ is F64:
        return choosing(F64, lambda a, b: from_double(to_double(a) + to_double(b)))
    one = format_.round(1, 0)
    fused = fma(format_, mode)
    return choosing(format_, lambda a, b: fused(a, one, b))


def multiply(format_: Format, mode: str) -> Binary:
    """a * b."""
    if mode == "rn" and format_ is F32:
        return lambda a, b: from_float(to_float(a) * to_float(b))
    if mode == "rn" and format_ is F64:
        return choosing(F64, lambda a, b: from_double(to_double(a) * to_double(b)))

    def product(a: int, b: int) -> int:
        special = _special_product(format_, a, b)
        if special is not None:
            return special
        (m, e), (n, f) = format_.finite(a), format_.finite(b)
        sign = (a ^ b) & format_.sign
        return format_.round(m * n, e + f, mode) if m and n else sign

    return choosing(format_, product)


def _special_product(format_: Format, a: int, b: int) -> int | None:
    """The product where an operand is infinite (none is a NaN); None otherwise."""
    if not (format_.is_inf(a) or format_.is_inf(b)):
        return None
    magnitude = format_.sign - 1
    if not a & magnitude or not b & magnitude:
        return format_.nan
    return (a ^ b) & format_.sign | format_.inf


def fma(format_: Format, mode: str) -> Ternary:
    """a * b + c with one rounding."""

    def fused(a: int, b: int, c: int) -> int:
        for each in (b, c, a):
            if format_.is_nan(each):
                return format_.quiet(each)
        special = _special_product(format_, a, b)
        if special is not None or format_.is_nan(c) or format_.is_inf(c):
            return _special_sum(format_, special, c)
        (m, e), (n, f), (o, g) = format_.finite(a), format_.finite(b), format_.finite(c)
        m, e = m * n, e + f
        low = min(e, g)
        total = (m << (e - low)) + (o << (g - low))
        if total:
            return format_.round(total, low, mode)
        signs = {(a ^ b) & format_.sign, c & format_.sign}
        if len(signs) == 1:
            return signs.pop()
        return format_.sign if mode == "rm" else 0

    if format_ is F32 and mode == "rn":
        return _quick_fma(fused)
    return fused


def _quick_fma(exact: Ternary) -> Ternary:
    """f32 in doubles: the product is exact, the sum is checked for a remainder."""

    def fused(a: int, b: int, c: int) -> int:
        product, addend = to_float(a) * to_float(b), to_float(c)
        total = product + addend
        if total - total != 0.0:
            return exact(a, b, c)
        back = total - product
        if (product - (total - back)) + (addend - back) == 0.0:
            return from_float(total)
        return exact(a, b, c)

    return fused


def _special_sum(format_: Format, product: int | None, c: int) -> int:
    """The sum where the product or the addend is not finite."""
    if product is None:
        return c
    if format_.is_nan(product):
        return product
    if format_.is_inf(c) and (product ^ c) & format_.sign:
        return format_.nan
    return product


def divide(format_: Format, mode: str) -> Binary:
    """a / b."""

    def quotient(a: int, b: int) -> int:
        sign = (a ^ b) & format_.sign
        for each in (a, b):
            if format_.is_nan(each):
                return format_.quiet(each)
        if format_.is_inf(a):
            return format_.nan if format_.is_inf(b) else sign | format_.inf
        if format_.is_inf(b):
            return sign
        (m, e), (n, f) = format_.finite(a), format_.finite(b)
        if not n:
            return sign | format_.inf if m else format_.nan
        if not m:
            return sign
        shift = max(0, format_.precision + 3 + n.bit_length() - m.bit_length())
        whole, rest = divmod(abs(m) << shift, abs(n))
        negative = -1 if sign else 1
        return format_.round(negative * whole, e - f - shift, mode, negative if rest else 0)

    return quotient


def root(format_: Format, mode: str) -> Unary:
    """The square root."""

    def square_root(a: int) -> int:
        if format_.is_nan(a):
            return format_.quiet(a)
        m, e = format_.finite(a)
        if not a & (format_.sign - 1):
            return a
        if a & format_.sign:
            return format_.nan
        if format_.is_inf(a):
            return a
        shift = max(0, 2 * (format_.precision + 3) - m.bit_length())
        shift += (e - shift) & 1
        m, e = m << shift, e - shift
        whole = math.isqrt(m)
        return format_.round(whole, e // 2, mode, int(whole * whole != m))

    return square_root
