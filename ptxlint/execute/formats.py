"""Binary floating formats, exactly: every finite value is an integer times a power of two.

Rounding modes are those of PTX: rn (nearest even), rz, rm (down), rp (up), rna (nearest away).
"""

from __future__ import annotations


class Format:
    """``precision`` counts the mantissa with its hidden bit; ``infinite``: whether it has inf.

    ``inf`` are the bits of +infinity (of a format without: of the binade that it would begin),
    ``nan`` those of the NaN that the hardware makes, ``largest`` those of the largest number.
    """

    __slots__ = ("bias", "emin", "inf", "infinite", "largest", "nan", "precision", "sign", "width")

    def __init__(self, width: int, precision: int, infinite: bool = True) -> None:
        self.width = width
        self.precision = precision
        self.infinite = infinite
        self.sign = 1 << (width - 1)
        self.bias = (1 << (width - precision - 1)) - 1
        self.emin = 1 - self.bias
        self.inf = (self.sign - 1) >> (precision - 1) << (precision - 1)
        self.nan = 0xFFF8_0000_0000_0000 if width == 64 else self.sign - 1
        self.largest = self.inf - 1 if infinite else self.sign - 2

    def is_nan(self, bits: int) -> bool:
        """Whether these are the bits of a NaN."""
        magnitude = bits & (self.sign - 1)
        return magnitude > self.inf if self.infinite else magnitude == self.sign - 1

    def quiet(self, bits: int) -> int:
        """What an operation makes of a NaN: only doubles keep its sign and payload."""
        return bits | 1 << (self.precision - 2) if self.width == 64 else self.nan

    def is_inf(self, bits: int) -> bool:
        """Whether these are the bits of an infinity."""
        return self.infinite and bits & (self.sign - 1) == self.inf

    def is_subnormal(self, bits: int) -> bool:
        """Whether the value is neither zero nor normal."""
        return 0 < bits & (self.sign - 1) < 1 << (self.precision - 1)

    def finite(self, bits: int) -> tuple[int, int]:
        """``(m, e)`` with value ``m * 2**e``; the sign is the sign of ``m``."""
        fraction = self.precision - 1
        exponent = (bits & (self.sign - 1)) >> fraction
        mantissa = bits & ((1 << fraction) - 1)
        if exponent:
            mantissa |= 1 << fraction
        else:
            exponent = 1
        scale = exponent - self.bias - fraction
        return (-mantissa if bits & self.sign else mantissa), scale

    def flush(self, bits: int) -> int:
        """Subnormals to zero of the same sign, the rest as it is (``.ftz``)."""
        return bits & self.sign if self.is_subnormal(bits) else bits

    def round(self, m: int, e: int, mode: str = "rn", sticky: int = 0) -> int:
        """The bits of ``m * 2**e``; a zero is +0.

        ``sticky`` is the sign of what the exact value has beyond ``m * 2**e`` (less than 1 unit).
        """
        if not m and not sticky:
            return 0
        if sticky:
            # Two more bits hold a remainder that is known only as not zero.
            m, e = (m << 2) + sticky, e - 2
        sign = self.sign if m < 0 else 0
        m = abs(m)
        scale = max(m.bit_length() + e - self.precision, self.emin - self.precision + 1)
        shift = scale - e
        if shift <= 0:
            quotient = m << -shift
        else:
            quotient, rest = m >> shift, m & ((1 << shift) - 1)
            quotient += _up(mode, quotient, rest, 1 << (shift - 1), bool(sign))
        if quotient >> self.precision:
            quotient, scale = quotient >> 1, scale + 1
        if quotient >> (self.precision - 1):
            exponent = scale + self.precision - 1 + self.bias
            bits = (exponent << (self.precision - 1)) + quotient - (1 << (self.precision - 1))
        else:
            bits = quotient
        if bits > self.largest:
            bits = self._overflow(mode, bool(sign))
        return sign | bits

    def _overflow(self, mode: str, negative: bool) -> int:
        if mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative):
            return self.largest
        return self.inf if self.infinite else self.sign - 1


def _up(mode: str, quotient: int, rest: int, half: int, negative: bool) -> int:
    """Whether the magnitude is rounded up."""
    if not rest or mode == "rz":
        return 0
    if mode == "rn":
        return int(rest > half or (rest == half and quotient & 1))
    if mode == "rna":
        return int(rest >= half)
    return int((mode == "rm") == negative)


FORMATS = {
    "f16": Format(16, 11),
    "bf16": Format(16, 8),
    "tf32": Format(32, 24),
    "f32": Format(32, 24),
    "f64": Format(64, 53),
    "e4m3": Format(8, 4, infinite=False),
    "e5m2": Format(8, 3),
}


def _convert_nan(bits: int, source: Format, target: Format) -> int:
    """To and from doubles sign and payload are kept, as far as they fit."""
    if 64 not in (source.width, target.width):
        return target.nan
    fraction = bits & ((1 << (source.precision - 1)) - 1)
    shift = target.precision - source.precision
    fraction = fraction << shift if shift > 0 else fraction >> -shift
    sign = target.sign if bits & source.sign else 0
    return sign | target.inf | fraction | 1 << (target.precision - 2)


def convert(bits: int, source: Format, target: Format, mode: str = "rn") -> int:
    """A value in another format; a NaN becomes the target's NaN."""
    if source.is_nan(bits):
        return _convert_nan(bits, source, target)
    negative = bits & source.sign
    if source.is_inf(bits):
        return (target.sign if negative else 0) | (
            target.inf if target.infinite else target.sign - 1
        )
    m, e = source.finite(bits)
    if not m:
        return target.sign if negative else 0
    return target.round(m, e, mode)
