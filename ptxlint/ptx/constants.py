"""Literals, and constant expressions folded as PTX does it: 64 bits, signed unless said otherwise.

Source: PTX ISA, "Constants" and "Constant Expressions"; ptxas 13.5 on the corner cases.
"""

from __future__ import annotations

import struct

from .ir import Float, Integer, Operand

_MASK = (1 << 64) - 1
_SIGN = 1 << 63

WARP_SIZE = Integer(32)


def literal(lexeme: str) -> Integer | Float:
    """The operand of an integer or floating literal; raises ``ValueError`` for anything else."""
    lower = lexeme.lower()
    if lower[:2] in ("0f", "0d"):
        return Float(int(lower[2:], 16), 32 if lower[1] == "f" else 64)
    digits = lexeme[:-1] if lexeme.endswith("U") else lexeme
    if digits.isdigit():
        octal = len(digits) > 1 and digits[0] == "0"
        return _integer(int(digits, 8 if octal else 10), digits is not lexeme)
    if lower[:2] == "0x":
        return _integer(int(digits[2:], 16), digits is not lexeme)
    if lower[:2] == "0b":
        return _integer(int(digits[2:], 2), digits is not lexeme)
    return _double(float(lexeme))


def _integer(value: int, unsigned: bool) -> Integer:
    """A 64-bit integer: what doesn't fit a signed one is unsigned."""
    value &= _MASK
    return Integer(value, unsigned or value >= _SIGN)


def _double(value: float) -> Float:
    return Float(int.from_bytes(struct.pack("<d", value), "little"), 64)


def float_value(operand: Float) -> float:
    """The value of a floating constant."""
    if operand.width == 32:
        return float(struct.unpack("<f", operand.bits.to_bytes(4, "little"))[0])
    return float(struct.unpack("<d", operand.bits.to_bytes(8, "little"))[0])


def _number(operand: Operand) -> int | float:
    if isinstance(operand, Integer):
        return operand.value
    if isinstance(operand, Float):
        return float_value(operand)
    raise ValueError("not a constant")


def whole(operand: Operand) -> int:
    """The value of an integer constant; raises ``ValueError`` for any other."""
    if not isinstance(operand, Integer):
        raise ValueError("an integer constant is expected here")
    return operand.value


def _wrap(value: int, unsigned: bool) -> Integer:
    value &= _MASK
    if not unsigned and value >= _SIGN:
        value -= 1 << 64
    return Integer(value, unsigned)


def unary(operator: str, operand: Operand) -> Operand:
    """``+ - ! ~`` of a constant."""
    if isinstance(operand, Float) and operator in "+-":
        value = float_value(operand)
        return _double(-value if operator == "-" else value)
    value = whole(operand)
    unsigned = _unsigned(operand)
    if operator == "!":
        return Integer(int(not value))
    if operator == "-":
        # -9223372036854775808 is written with a literal that alone would be unsigned.
        return _wrap(-value, unsigned and value != _SIGN)
    return _wrap(~value, unsigned) if operator == "~" else operand


def cast(type_: str, operand: Operand) -> Operand:
    """``(.s64)x`` or ``(.u64)x``."""
    return _wrap(whole(operand), type_ == ".u64")


def binary(operator: str, left: Operand, right: Operand) -> Operand:
    """Any two-sided operator; raises ``ValueError`` for a division by zero."""
    if left.__class__ is not right.__class__:
        raise ValueError("an integer and a floating constant in one expression")
    if operator in _COMPARISONS:
        return Integer(int(_COMPARISONS[operator](_number(left), _number(right))))
    if isinstance(left, Float):
        return _binary_float(operator, _number(left), _number(right))
    a, b = whole(left), whole(right)
    if operator in ("&&", "||"):
        return Integer(int(bool(a and b) if operator == "&&" else bool(a or b)))
    unsigned = _unsigned(left) or (_unsigned(right) and operator not in ("<<", ">>"))
    if operator in ("/", "%"):
        if b == 0:
            raise ValueError("division by zero in a constant expression")
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return _wrap(quotient if operator == "/" else a - quotient * b, unsigned)
    if operator in ("<<", ">>"):
        b &= 63
        return _wrap(a << b if operator == "<<" else a >> b, unsigned)
    return _wrap(_ARITHMETIC[operator](a, b), unsigned)


def _binary_float(operator: str, a: float, b: float) -> Float:
    if operator == "/" and b == 0:
        raise ValueError("division by zero in a constant expression")
    if operator not in _FLOATING:
        raise ValueError(f"'{operator}' of floating constants")
    return _double(_FLOATING[operator](a, b))


def _unsigned(operand: Operand) -> bool:
    return isinstance(operand, Integer) and operand.unsigned


def truth(operand: Operand) -> bool:
    """Whether an integer constant counts as true."""
    return bool(whole(operand))


_COMPARISONS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
_ARITHMETIC = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
_FLOATING = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}
