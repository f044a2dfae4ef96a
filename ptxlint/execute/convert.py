"""``cvt`` and ``cvt.pack`` (PTX ISA, "Data Movement and Conversion Instructions")."""

from __future__ import annotations

from ..isa.types import signed
from ..ptx.ir import Instruction
from .builder import Builder, Function1, elementwise, spread
from .code import Op
from .floats import flushing, mode_of, rectified, saturating
from .formats import FORMATS, Format, convert
from .result import Unsupported
from .types import Type, types_of

_INTEGRAL = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


def to_integral(format_: Format, bits: int, mode: str) -> int:
    """A finite float rounded to a whole number."""
    m, e = format_.finite(bits)
    if e >= 0:
        return m << e
    whole, rest = abs(m) >> -e, abs(m) & ((1 << -e) - 1)
    half = 1 << (-e - 1)
    if mode == "rn":
        whole += int(rest > half or (rest == half and whole & 1))
    elif rest and mode != "rz":
        whole += int((mode == "rm") == (m < 0))
    return -whole if m < 0 else whole


def _float_to_integer(format_: Format, target: Type, mode: str) -> Function1:
    low = -(1 << (target.width - 1)) if target.signed else 0
    high = (1 << (target.width - target.signed)) - 1
    # Of a NaN, 0; the highest bit alone where 64 bits are on either side (PTX ISA, "cvt").
    invalid = 1 << (target.width - 1) if 64 in (target.width, format_.width) else 0

    def cvt(a: int) -> int:
        if format_.is_nan(a):
            return invalid
        if format_.is_inf(a):
            return (low if a & format_.sign else high) & target.mask
        return min(max(to_integral(format_, a, mode), low), high) & target.mask

    return cvt


def _integer_to_float(source: Type, format_: Format, mode: str) -> Function1:
    mask, width = source.mask, source.width
    if source.signed:
        return lambda a: format_.round(signed(a & mask, width), 0, mode)
    return lambda a: format_.round(a & mask, 0, mode)


def _integer_to_integer(source: Type, target: Type, saturate: bool) -> Function1:
    low = -(1 << (target.width - 1)) if target.signed else 0
    high = (1 << (target.width - target.signed)) - 1

    def cvt(a: int) -> int:
        a &= source.mask
        value = signed(a, source.width) if source.signed else a
        if saturate:
            value = min(max(value, low), high)
        return value & target.mask

    return cvt


def _float_to_float(source: Format, target: Format, modifiers: tuple[str, ...]) -> Function1:
    whole = next((_INTEGRAL[m] for m in modifiers if m in _INTEGRAL), None)
    mode = "rna" if "rna" in modifiers else mode_of(modifiers)
    finite_only = "satfinite" in modifiers

    def cvt(a: int) -> int:
        if whole is not None and not (source.is_nan(a) or source.is_inf(a)):
            rounded = to_integral(source, a, whole)
            sign = a & source.sign
            a = source.round(rounded, 0) if rounded else sign
        found = convert(a, source, target, mode)
        if finite_only and not source.is_nan(a) and found & (target.sign - 1) > target.largest:
            return found & target.sign | target.largest
        return found

    return cvt


def _tf32(modifiers: tuple[str, ...]) -> Function1:
    """f32 to tf32: 10 bits of mantissa in the high bits of an f32."""
    short = Format(19, 11)
    mode = "rna" if "rna" in modifiers else mode_of(modifiers)
    f32 = FORMATS["f32"]

    def cvt(a: int) -> int:
        if f32.is_nan(a):
            # With rna a GPU cuts a NaN's bits off like those of any number.
            return (a if mode == "rna" else f32.nan) & ~0x1FFF
        return convert(a, f32, short, mode) << 13

    return cvt


def _function(target: Type, source: Type, modifiers: tuple[str, ...]) -> Function1:
    saturate = "sat" in modifiers
    if source.kind != "f" and target.kind != "f":
        return _integer_to_integer(source, target, saturate)
    if target.name == "tf32":
        return _tf32(modifiers)
    names = {each.name.removesuffix("x2") for each in (source, target) if each.kind == "f"}
    if not names <= FORMATS.keys():
        raise Unsupported("format")
    if source.kind != "f":
        format_ = FORMATS[target.name]
        function = _integer_to_float(source, format_, mode_of(modifiers))
        return saturating(function, format_) if saturate else function
    from_format = FORMATS[source.name.removesuffix("x2")]
    if target.kind != "f":
        mode = next((_INTEGRAL[m] for m in modifiers if m in _INTEGRAL), "rz")
        function = _float_to_integer(from_format, target, mode)
        return flushing(function, from_format, False) if "ftz" in modifiers else function
    return _checked_float(from_format, target, modifiers)


def _checked_float(source: Format, target: Type, modifiers: tuple[str, ...]) -> Function1:
    to_format = FORMATS[target.name.removesuffix("x2")]
    inner = _float_to_float(source, to_format, modifiers)
    function = inner
    if "ftz" in modifiers:
        f32 = FORMATS["f32"]

        def flushed(a: int) -> int:
            if source is f32:
                a = f32.nan if f32.is_nan(a) else f32.flush(a)
            found = inner(a)
            return to_format.flush(found) if to_format is f32 else found

        function = flushed
    if "sat" in modifiers:
        function = saturating(function, to_format)
    if "relu" in modifiers:
        function = rectified(function, to_format)
    return function


def cvt(builder: Builder, instruction: Instruction, op: Op) -> None:
    """All forms; narrow integers are extended to the register as their type says."""
    modifiers = instruction.opcode.modifiers
    if "rs" in modifiers or "scaled::n2::ue8m0" in modifiers:
        raise Unsupported("rounding")
    if "pack" in modifiers:
        return _pack(builder, instruction, op)
    types = types_of(modifiers)
    if len(types) != 2:
        raise Unsupported("types")
    to, source = types
    target = builder.target(instruction.operands[0])
    sources = builder.sources(instruction.operands[1:], source)
    if to.packed > 1:
        return _packed(builder, op, target, sources, to, source, modifiers)
    function = _function(to, source, modifiers)
    width = (1 << builder.width(target)) - 1
    if to.signed and builder.width(target) > to.width:
        function = _extended(function, to, width)
    op.run = elementwise(function, target, sources, _marks(to, source, modifiers, width))


def _extended(function: Function1, to: Type, mask: int) -> Function1:
    """The result sign-extended to a wider register."""
    return lambda a: signed(function(a), to.width) & mask


def _marks(to: Type, source: Type, modifiers: tuple[str, ...], width: int) -> Function1:
    """Undefined bits: exact where bits are only cut or extended."""
    if to.kind == "f" or source.kind == "f" or "sat" in modifiers:
        return spread(width)
    small = min(to.width, source.width)
    sign, mask = 1 << (small - 1), (1 << small) - 1
    extends = to.signed if to.width <= source.width else source.signed

    def marks(a: int, u: int) -> int:
        u &= mask
        return (u | -sign) & width if extends and u & sign else u

    return marks


def _packed(
    builder: Builder,
    op: Op,
    target: int,
    sources: list[int],
    to: Type,
    source: Type,
    modifiers: tuple[str, ...],
) -> None:
    """Two floats into one register (the first is the high half), or two from a packed one."""
    half = to.width // 2
    function = _function(to, source, modifiers)
    if source.packed > 1:
        part = source.width // 2

        def both(a: int) -> int:
            return function(a >> part) << half | function(a & ((1 << part) - 1))

        op.run = elementwise(both, target, sources, spread(to.mask))
        return
    if len(sources) != 2:
        raise Unsupported("operands")
    op.run = elementwise(
        lambda a, b: function(a) << half | function(b), target, sources, spread(to.mask)
    )


def _pack(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``cvt.pack.sat``: two s32 saturated and packed; with c below them."""
    types = types_of(instruction.opcode.modifiers)
    to = types[0]
    if to.width < 8 or "sat" not in instruction.opcode.modifiers:
        raise Unsupported("narrow pack")
    clamp = _integer_to_integer(types[1], to, True)
    width = to.width

    def pack(a: int, b: int, c: int = 0) -> int:
        return (c << 2 * width | clamp(a) << width | clamp(b)) & 0xFFFFFFFF

    sources = builder.sources(instruction.operands[1:], types[1])
    target = builder.target(instruction.operands[0])
    op.run = elementwise(pack, target, sources, spread(0xFFFFFFFF))
