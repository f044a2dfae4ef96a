"""Integer operations that have no linear form: exact thread by thread, or uniform."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from .algebra import Algebra
from .assumed import NOT_NEGATIVE
from .bitwise import bitwise
from .pattern import Pattern
from .predicates import compare, select, with_assumptions
from .ranges import fits
from .shifts import shift_left, shift_right
from .symbols import EVERY_BIT


def by_thread(
    algebra: Algebra,
    name: Hashable,
    operation: Callable[..., int],
    operands: Sequence[Pattern],
    signed: bool,
    width: int,
) -> Pattern | None:
    """Where all operands are exact, the operation; where they are uniform, a symbol for it."""
    assumptions = 0
    for operand in operands:
        if not operand.is_exact:
            break
        assumptions |= operand.assumptions
    else:
        exact = algebra.vectors.apply(
            (name, signed), operation, width, *[(o.exact, o.width, signed) for o in operands]
        )
        return algebra.of(exact, width, assumptions)
    return uniform(algebra, name, operands, width)


def uniform(
    algebra: Algebra,
    name: Hashable,
    operands: Sequence[Pattern],
    width: int,
    mask: int = EVERY_BIT,
) -> Pattern | None:
    """A symbol for the result of uniform operands; None where one is not."""
    if all([operand.is_uniform for operand in operands]):
        return algebra.derived(name, tuple(operands), width, mask)
    return None


def divide(algebra: Algebra, a: Pattern, b: Pattern, signed: bool) -> Pattern | None:
    """a / b, towards zero."""
    shift = _power_of_two(b)
    if shift is not None and not a.is_exact:
        if not signed:
            return shift_right(algebra, a, shift, False)
        if fits(a, True) and _not_negative(a):
            found = shift_right(algebra, a, shift, False)
            return None if found is None else with_assumptions(algebra, found, a.symbols_assumed)
        if not a.is_uniform:
            found = shift_right(algebra, a, shift, True)
            return None if found is None else with_assumptions(algebra, found, NOT_NEGATIVE)
    return by_thread(algebra, "div", _quotient, (a, b), signed, a.width)


def remainder(algebra: Algebra, a: Pattern, b: Pattern, signed: bool) -> Pattern | None:
    """a % b, with the sign of a."""
    shift = _power_of_two(b)
    if shift is not None and not a.is_exact:
        sure = not signed or (fits(a, True) and _not_negative(a))
        if sure or not a.is_uniform:
            mask = algebra.constant((1 << shift) - 1, a.width)
            found = bitwise(algebra, "and", lambda x, y: x & y, (a, mask))
            if found is None or not signed:
                return found
            rests_on = a.symbols_assumed if sure else NOT_NEGATIVE
            return with_assumptions(algebra, found, rests_on)
    return by_thread(algebra, "rem", _remainder, (a, b), signed, a.width)


def extreme(
    algebra: Algebra, a: Pattern, b: Pattern, signed: bool, largest: bool, interior: bool
) -> Pattern | None:
    """min or max: a choice by comparison."""
    name = "gt" if largest else "lt"
    return select(algebra, compare(algebra, name, a, b, signed, interior), a, b)


def extract(
    algebra: Algebra, a: Pattern, start: Pattern, length: Pattern, signed: bool
) -> Pattern | None:
    """bfe: ``length`` bits from ``start``."""
    width = a.width
    if start.is_constant and length.is_constant:
        first, count = start.const & 255, length.const & 255
        if not signed and first < width:
            shifted = shift_right(algebra, a, first, False)
            if shifted is None:
                return None
            if first + count >= width:
                return shifted
            mask = algebra.constant((1 << count) - 1, width)
            return bitwise(algebra, "and", lambda x, y: x & y, (shifted, mask))
        if signed and count > 0 and first + count <= width:
            high = shift_left(algebra, a, width - first - count)
            return shift_right(algebra, high, width - count, True)
    return by_thread(
        algebra,
        ("bfe", width),
        lambda x, p, n: _field(x, p, n, width, signed),
        (a, start, length),
        signed,
        width,
    )


def insert(
    algebra: Algebra, a: Pattern, b: Pattern, start: Pattern, length: Pattern
) -> Pattern | None:
    """bfi: ``length`` bits of a put into b at ``start``."""
    width = a.width
    if not (start.is_constant and length.is_constant):
        return uniform(algebra, "bfi", (a, b, start, length), width)
    first, count = start.const & 255, length.const & 255
    if first >= width or not count:
        return b
    field = ((1 << count) - 1) << first & ((1 << width) - 1)
    moved = shift_left(algebra, a, first)
    inside = bitwise(algebra, "and", lambda x, y: x & y, (moved, algebra.constant(field, width)))
    outside = bitwise(algebra, "and", lambda x, y: x & y, (b, algebra.constant(~field, width)))
    if inside is None or outside is None:
        return None
    return bitwise(algebra, "or", lambda x, y: x | y, (inside, outside))


def shift_by(
    algebra: Algebra, name: str, a: Pattern, count: Pattern, signed: bool
) -> Pattern | None:
    """shl or shr by any count (32 bits, unsigned)."""
    width = a.width
    if count.is_constant:
        number = count.const & 0xFFFFFFFF
        if name == "shl":
            return with_assumptions(algebra, shift_left(algebra, a, number), count.assumptions)
        return shift_right(algebra, a, number, signed)
    if a.is_exact and count.is_exact:
        operation = _left if name == "shl" else _right
        exact = algebra.vectors.apply(
            (name, width),
            lambda x, n: operation(x, n, width),
            width,
            (a.exact, width, signed),
            (count.exact, 32, False),
        )
        return algebra.of(exact, width, a.assumptions | count.assumptions)
    if name == "shl" and count.is_uniform and not a.is_uniform:
        return algebra.multiply(a, algebra.derived("power of two", (count,), width))
    return uniform(algebra, (name, signed), (a, count), width)


def _left(value: int, count: int, width: int) -> int:
    return value << count if count < width else 0


def _right(value: int, count: int, width: int) -> int:
    return value >> min(count, width)


def _power_of_two(pattern: Pattern) -> int | None:
    number = pattern.const
    if not pattern.is_constant or number <= 0 or number & (number - 1):
        return None
    return number.bit_length() - 1


def _not_negative(pattern: Pattern) -> bool:
    return fits(pattern, False)


def _quotient(a: int, b: int) -> int:
    """PTX leaves division by zero open; ptxas gives all ones."""
    if not b:
        return -1
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a - _quotient(a, b) * b if b else a


def _field(value: int, start: int, length: int, width: int, signed: bool) -> int:
    start, length = start & 255, length & 255
    bits = value >> start & ((1 << length) - 1) if start < width or signed else 0
    if signed and length:
        top = min(start + length - 1, width - 1)
        if value >> top & 1:
            bits |= -1 << length if start + length <= width else -1 << max(width - start, 0)
    return bits
