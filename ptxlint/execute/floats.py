"""Floating-point arithmetic (PTX ISA, "Floating Point Instructions" and "Half Precision")."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ptx.ir import Instruction
from . import arithmetic
from .builder import Builder, Function1, elementwise, spread
from .code import Op
from .elementary import ELEMENTARY
from .formats import FORMATS, Format, convert
from .integers import pieces
from .result import Unsupported
from .types import Type, types_of

_MODES = ("rn", "rz", "rm", "rp")


def element(type_: Type) -> Format:
    """The format of a type's elements."""
    return FORMATS[type_.name.removesuffix("x2")]


def mode_of(modifiers: Sequence[str]) -> str:
    """The rounding mode that is written, or nearest even."""
    return next((m for m in modifiers if m in _MODES), "rn")


def flushing(function: Function1, format_: Format, result: bool = True) -> Function1:
    """``.ftz``: subnormal operands and results become zero of the same sign."""
    flush = format_.flush

    def flushed(*operands: int) -> int:
        found = function(*map(flush, operands))
        return flush(found) if result else found

    return flushed


def saturating(function: Function1, format_: Format) -> Function1:
    """``.sat``: results are clamped to [0, 1], NaN gives 0."""
    one = format_.round(1, 0)

    def saturated(*operands: int) -> int:
        found = function(*operands)
        if found & format_.sign or format_.is_nan(found):
            return 0
        return min(found, one)

    return saturated


def rectified(function: Function1, format_: Format) -> Function1:
    """``.relu``: negative results become 0, NaN the canonical one."""

    def clamped(*operands: int) -> int:
        found = function(*operands)
        if format_.is_nan(found):
            return format_.nan
        return 0 if found & format_.sign else found

    return clamped


def _sub(format_: Format, mode: str) -> Function1:
    add, sign = arithmetic.add(format_, mode), format_.sign
    return lambda a, b: add(a, b if format_.is_nan(b) else b ^ sign)


def _rcp(format_: Format, mode: str) -> Function1:
    divide, one = arithmetic.divide(format_, mode), format_.round(1, 0)
    return lambda a: divide(one, a)


_ARITHMETIC: dict[str, tuple[Callable[[Format, str], Function1], int]] = {
    "add": (arithmetic.add, 2),
    "sub": (_sub, 2),
    "mul": (arithmetic.multiply, 2),
    "fma": (arithmetic.fma, 3),
    "mad": (arithmetic.fma, 3),
    "div": (arithmetic.divide, 2),
    "rcp": (_rcp, 1),
    "sqrt": (arithmetic.root, 1),
}


def extreme(format_: Format, modifiers: Sequence[str], largest: bool) -> Function1:
    """``min`` and ``max``: -0 is less than +0; a NaN loses, or wins with ``.NaN``."""
    sign = format_.sign
    sticky = "NaN" in modifiers
    by_magnitude = "xorsign" in modifiers

    def order(bits: int) -> int:
        return ~bits if bits & sign else bits

    def choose(*operands: int) -> int:
        numbers = [each for each in operands if not format_.is_nan(each)]
        if not numbers or (sticky and len(numbers) < len(operands)):
            return format_.quiet(operands[-1])
        if by_magnitude:
            flip = (operands[0] ^ operands[1]) & sign
            numbers = [each & (sign - 1) for each in numbers]
            return (max if largest else min)(numbers) | flip
        keyed = [
            (order(each) if not each & sign else -(each & (sign - 1)) - 1, each) for each in numbers
        ]
        return (max if largest else min)(keyed)[1]

    return choose


def _sign_function(mnemonic: str, format_: Format) -> Function1:
    sign = format_.sign

    def apply(a: int) -> int:
        if format_.is_nan(a):
            return format_.quiet(a)
        return a & ~sign if mnemonic == "abs" else a ^ sign

    return apply


def _function(mnemonic: str, modifiers: Sequence[str], format_: Format) -> tuple[Function1, int]:
    if mnemonic in ("min", "max"):
        return extreme(format_, modifiers, mnemonic == "max"), 2
    if mnemonic in ("abs", "neg"):
        return _sign_function(mnemonic, format_), 1
    if mnemonic == "copysign":
        sign = format_.sign
        return (lambda a, b: a & sign | b & ~sign), 2
    if mnemonic in ELEMENTARY and ("approx" in modifiers or mnemonic not in _ARITHMETIC):
        return ELEMENTARY[mnemonic](format_), 1
    make, count = _ARITHMETIC[mnemonic]
    return make(format_, mode_of(modifiers)), count


def arithmetic_of(builder: Builder, instruction: Instruction, op: Op) -> None:
    """Everything from ``add`` to ``tanh`` in a floating type."""
    mnemonic, modifiers = instruction.opcode.mnemonic, instruction.opcode.modifiers
    types = types_of(modifiers)
    type_ = types[0]
    format_ = element(type_)
    function, count = _function(mnemonic, modifiers, format_)
    if len(instruction.operands) - 1 == 3 and count == 2 and mnemonic in ("min", "max"):
        count = 3
    if "ftz" in modifiers or ("approx" in modifiers and format_.width == 64):
        function = flushing(function, format_)
    if "sat" in modifiers:
        function = saturating(function, format_)
    if "relu" in modifiers:
        function = rectified(function, format_)
    if type_.packed > 1:
        function = pieces(function, format_.width, type_.packed)
    kinds = [type_] * count
    if len(types) > 1 and types[1] is not type_:
        # Mixed precision (`add.f32.f16 d, a, c`): the last operand has the type of the result.
        kinds = [types[1]] * (count - 1) + [type_]
        function = _widened(function, element(types[1]), format_)
    sources = [builder.source(o, k) for o, k in zip(instruction.operands[1:], kinds, strict=False)]
    target = builder.target(instruction.operands[0])
    op.run = elementwise(function, target, sources, spread(type_.mask))


def _widened(function: Function1, narrow: Format, wide: Format) -> Function1:
    def widened(*operands: int) -> int:
        first = [convert(each, narrow, wide) for each in operands[:-1]]
        return function(*first, operands[-1])

    return widened


def test_property(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``testp``."""
    modifiers = instruction.opcode.modifiers
    type_ = types_of(modifiers)[-1]
    format_ = element(type_)
    magnitude = format_.sign - 1
    tests: dict[str, Function1] = {
        "finite": lambda a: int(a & magnitude < format_.inf),
        "infinite": lambda a: int(format_.is_inf(a)),
        "number": lambda a: int(not format_.is_nan(a)),
        "notanumber": lambda a: int(format_.is_nan(a)),
        "normal": lambda a: int(a & magnitude < format_.inf and not format_.is_subnormal(a)),
        "subnormal": lambda a: int(format_.is_subnormal(a)),
    }
    test = next((tests[m] for m in modifiers if m in tests), None)
    if test is None:
        raise Unsupported("testp")
    sources = builder.sources(instruction.operands[1:2], type_)
    op.run = elementwise(test, builder.target(instruction.operands[0]), sources, spread(1))
