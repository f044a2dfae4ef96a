"""``set``, ``setp``, ``selp``, ``slct`` (PTX ISA, "Comparison and Selection Instructions")."""

from __future__ import annotations

from collections.abc import Callable

from ..ptx.ir import Instruction, Operand, Pair
from .builder import Builder, Function1, elementwise, in_turn, spread
from .code import Op, Run
from .floats import element
from .result import Unsupported
from .types import TYPES, Type, types_of

_INTEGER: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
    "lo": lambda a, b: a < b, "ls": lambda a, b: a <= b,
    "hi": lambda a, b: a > b, "hs": lambda a, b: a >= b,
}  # fmt: skip
_UNORDERED = frozenset({"equ", "neu", "ltu", "leu", "gtu", "geu"})
_JOIN: dict[str, Function1] = {
    "and": lambda r, c: r & c,
    "or": lambda r, c: r | c,
    "xor": lambda r, c: r ^ c,
}


def comparison(type_: Type, name: str, flush: bool) -> Function1:
    """The comparison as a function of raw bits giving 0 or 1."""
    if type_.kind == "f":
        return _float_comparison(type_, name, flush)
    if name not in _INTEGER:
        raise Unsupported(name)
    test = _INTEGER[name]
    # Flipping the sign bit turns the order of signed numbers into that of unsigned ones;
    # the names lo, ls, hi, hs are unsigned whatever the type.
    flip = 1 << (type_.width - 1) if type_.signed and name not in ("lo", "ls", "hi", "hs") else 0
    return lambda a, b: int(test(a ^ flip, b ^ flip))


def _float_comparison(type_: Type, name: str, flush: bool) -> Function1:
    format_ = element(type_)
    sign = format_.sign

    def order(bits: int) -> int:
        if flush:
            bits = format_.flush(bits)
        return -(bits & (sign - 1)) if bits & sign else bits

    if name in ("num", "nan"):
        want = name == "nan"
        return lambda a, b: int((format_.is_nan(a) or format_.is_nan(b)) == want)
    unordered = int(name in _UNORDERED)
    base = name.removesuffix("u") if name in _UNORDERED else name
    if base not in ("eq", "ne", "lt", "le", "gt", "ge"):
        raise Unsupported(name)
    test = _INTEGER[base]

    def compare(a: int, b: int) -> int:
        if format_.is_nan(a) or format_.is_nan(b):
            return unordered
        return int(test(order(a), order(b)))

    return compare


_NAMES = (*_INTEGER, *sorted(_UNORDERED), "num", "nan")


def _parts(modifiers: tuple[str, ...]) -> tuple[str, str | None]:
    name = next(m for m in modifiers if m in _NAMES)
    return name, next((m for m in modifiers if m in _JOIN), None)


def setp(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``p|q = (a cmp b) bool c``; q takes the comparison's opposite."""
    modifiers = instruction.opcode.modifiers
    type_ = types_of(modifiers)[-1]
    name, join = _parts(modifiers)
    if type_.packed > 1:
        return _packed_setp(builder, instruction, op, type_)
    compare = comparison(type_, name, "ftz" in modifiers)
    sources = builder.sources(instruction.operands[1:3], type_)
    first: Operand = instruction.operands[0]
    second: Operand | None = None
    if isinstance(first, Pair):
        second, first = first.second, first.first
    function, sources = _joined(builder, instruction, compare, sources, join, 0)
    if second is None:
        op.run = elementwise(function, builder.target(first), sources, spread(1))
        return
    opposite, _ = _joined(builder, instruction, compare, sources[:2], join, 1)
    op.run = _pair(builder, (first, second), (function, opposite), sources)


def _pair(
    builder: Builder,
    targets: tuple[Operand, Operand],
    functions: tuple[Function1, Function1],
    sources: list[int],
) -> Run:
    """Two predicates at once: the second is kept aside until the first is written."""
    spare = builder.code.slots.register("second predicate", 1)
    first, second = functions
    return in_turn(
        [
            elementwise(second, spare, sources, spread(1)),
            elementwise(first, builder.target(targets[0]), sources, spread(1)),
            elementwise(lambda a: a, builder.target(targets[1]), [spare], lambda a, u: u),
        ]
    )


def _joined(
    builder: Builder,
    instruction: Instruction,
    compare: Function1,
    sources: list[int],
    join: str | None,
    flip: int,
) -> tuple[Function1, list[int]]:
    if join is None:
        return (lambda a, b: compare(a, b) ^ flip), sources
    slot, negated = builder.predicate(instruction.operands[3])
    both = _JOIN[join]

    def function(a: int, b: int, c: int) -> int:
        return both(compare(a, b) ^ flip, c ^ negated)

    return function, [*sources[:2], slot]


def _packed_setp(builder: Builder, instruction: Instruction, op: Op, type_: Type) -> None:
    """``setp.f16x2 p|q``: each half has its own predicate."""
    modifiers = instruction.opcode.modifiers
    name, join = _parts(modifiers)
    half = Type(type_.name, type_.kind, type_.width // 2)
    compare = comparison(half, name, "ftz" in modifiers)
    first = instruction.operands[0]
    if not isinstance(first, Pair):
        raise Unsupported("one predicate of two")
    mask, width = half.mask, half.width
    sources = builder.sources(instruction.operands[1:3], type_)
    low, sources = _joined(
        builder, instruction, lambda a, b: compare(a & mask, b & mask), sources, join, 0
    )
    high, _ = _joined(
        builder, instruction, lambda a, b: compare(a >> width, b >> width), sources, join, 0
    )
    op.run = _pair(builder, (first.first, first.second), (low, high), sources)


def set_(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``set``: all ones or 1.0 for true."""
    modifiers = instruction.opcode.modifiers
    to, source = types_of(modifiers)
    name, join = _parts(modifiers)
    true = element(to).round(1, 0) if to.kind == "f" else to.mask
    sources = builder.sources(instruction.operands[1:3], source)
    if source.packed > 1:
        part = Type(source.name, source.kind, source.width // 2)
        function = _packed_set(comparison(part, name, "ftz" in modifiers), to, true)
        if join is not None:
            raise Unsupported("packed set with a predicate")
    else:
        compare = comparison(source, name, "ftz" in modifiers)
        test, sources = _joined(builder, instruction, compare, sources, join, 0)

        def function(*operands: int) -> int:
            return true if test(*operands) else 0

    target = builder.target(instruction.operands[0])
    op.run = elementwise(function, target, sources, spread(to.mask))


def _packed_set(compare: Function1, to: Type, true: int) -> Function1:
    true &= 0xFFFF

    def function(a: int, b: int) -> int:
        high = true if compare(a >> 16, b >> 16) else 0
        low = true if compare(a & 0xFFFF, b & 0xFFFF) else 0
        return high << 16 | low

    return function


def selp(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``d = c ? a : b``."""
    type_ = types_of(instruction.opcode.modifiers)[-1]
    sources = builder.sources(instruction.operands[1:3], type_)
    slot, negated = builder.predicate(instruction.operands[3])
    mask = type_.mask

    def marks(a: int, b: int, c: int, ua: int, ub: int, uc: int) -> int:
        return mask if uc else (ua if c ^ negated else ub)

    target = builder.target(instruction.operands[0])
    op.run = elementwise(lambda a, b, c: a if c ^ negated else b, target, [*sources, slot], marks)


def slct(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``d = c >= 0 ? a : b``; a NaN takes b, -0 takes a."""
    modifiers = instruction.opcode.modifiers
    type_, kind = types_of(modifiers)
    sign = 1 << (kind.width - 1)
    f32 = element(TYPES["f32"])

    def first(c: int) -> bool:
        if kind.kind != "f":
            return not c & sign
        if "ftz" in modifiers:
            c = f32.flush(c)
        return not f32.is_nan(c) and (not c & sign or c == sign)

    def marks(a: int, b: int, c: int, ua: int, ub: int, uc: int) -> int:
        return type_.mask if uc else (ua if first(c) else ub)

    sources = builder.sources(instruction.operands[1:3], type_)
    sources.append(builder.source(instruction.operands[3], kind))
    target = builder.target(instruction.operands[0])
    op.run = elementwise(lambda a, b, c: a if first(c) else b, target, sources, marks)
