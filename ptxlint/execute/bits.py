"""Logic, shifts and bit fields (PTX ISA, "Logic and Shift Instructions", bfe to prmt)."""

from __future__ import annotations

from collections.abc import Callable

from ..isa.types import signed
from ..ptx.ir import Instruction, Prefixed
from .builder import Builder, Function1, elementwise, spread
from .code import Op
from .result import Unsupported
from .types import TYPES, Type, types_of

U32 = TYPES["u32"]
ALL = 0xFFFFFFFF


def _and_marks(a: int, b: int, ua: int, ub: int) -> int:
    # A defined 0 decides the bit whatever the other is.
    return (ua | ub) & (a | ua) & (b | ub)


def _or_marks(a: int, b: int, ua: int, ub: int) -> int:
    return (ua | ub) & (~a | ua) & (~b | ub)


def logic(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``and``, ``or``, ``xor``, ``not`` and ``cnot``; on predicates too."""
    mnemonic = instruction.opcode.mnemonic
    type_ = types_of(instruction.opcode.modifiers)[-1]
    mask = type_.mask
    sources = [_operand(builder, each, type_) for each in instruction.operands[1:]]
    functions: dict[str, tuple[Function1, Function1]] = {
        "and": (lambda a, b: a & b, _and_marks),
        "or": (lambda a, b: a | b, _or_marks),
        "xor": (lambda a, b: a ^ b, lambda a, b, ua, ub: ua | ub),
        "not": (lambda a: a ^ mask, lambda a, ua: ua),
        "cnot": (lambda a: int(not a), spread(mask)),
    }
    function, marks = functions[mnemonic]
    op.run = elementwise(function, builder.target(instruction.operands[0]), sources, marks)


def _operand(builder: Builder, operand: object, type_: Type) -> int:
    if isinstance(operand, Prefixed):
        raise Unsupported("negated operand")
    return builder.source(operand, type_)  # type: ignore[arg-type]


def shift(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``shl`` and ``shr``: amounts are clamped at the width."""
    type_ = types_of(instruction.opcode.modifiers)[-1]
    mask, width = type_.mask, type_.width
    if instruction.opcode.mnemonic == "shl":

        def function(a: int, n: int) -> int:
            return a << n & mask if n < width else 0
    elif type_.signed:

        def function(a: int, n: int) -> int:
            return signed(a, width) >> min(n, width) & mask
    else:

        def function(a: int, n: int) -> int:
            return a >> n if n < width else 0

    def marks(a: int, n: int, ua: int, un: int) -> int:
        return mask if un else function(ua, n)

    sources = [
        builder.source(instruction.operands[1], type_),
        builder.source(instruction.operands[2], U32),
    ]
    op.run = elementwise(function, builder.target(instruction.operands[0]), sources, marks)


def funnel(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``shf``: 32 bits out of b:a."""
    modifiers = instruction.opcode.modifiers
    wrap, left = "wrap" in modifiers, "l" in modifiers

    def function(a: int, b: int, c: int) -> int:
        n = c & 31 if wrap else min(c, 32)
        both = b << 32 | a
        return (both << n >> 32 if left else both >> n) & ALL

    def marks(a: int, b: int, c: int, ua: int, ub: int, uc: int) -> int:
        return ALL if uc else function(ua, ub, c)

    sources = builder.sources(instruction.operands[1:4], U32)
    op.run = elementwise(function, builder.target(instruction.operands[0]), sources, marks)


def _places(type_: Type) -> int:
    """The bits of a position or length that count: GPUs cut them for 32-bit fields only.

    The ISA restricts both to 0 … 255, where that makes no difference.
    """
    return 0xFF if type_.width == 32 else ALL


def _bfe(type_: Type) -> tuple[Function1, Function1]:
    width, mask = type_.width, type_.mask
    low = _places(type_)

    def extract(a: int, position: int, length: int) -> int:
        position, length = min(position & low, width), min(length & low, width)
        if not length:
            return 0
        field = a >> position & ((1 << length) - 1)
        if type_.signed:
            last = min(position + length - 1, width - 1)
            if a >> last & 1:
                field |= -1 << max(0, min(length, width - position))
        return field & mask

    def marks(a: int, p: int, n: int, ua: int, up: int, un: int) -> int:
        return mask if up & low or un & low else extract(ua, p, n)

    return extract, marks


def _bfi(type_: Type) -> tuple[Function1, Function1]:
    mask, width, low = type_.mask, type_.width, _places(type_)

    def insert(a: int, b: int, position: int, length: int) -> int:
        position, length = min(position & low, width), min(length & low, width)
        field = ((1 << length) - 1) << position & mask
        return b & ~field | a << position & field

    def marks(*x: int) -> int:
        a, b, position, length = x[4:]
        return mask if position & low or length & low else insert(a, b, x[2], x[3])

    return insert, marks


def _bfind(type_: Type, modifiers: tuple[str, ...]) -> Function1:
    width = type_.width
    amount = "shiftamt" in modifiers

    def find(a: int) -> int:
        if type_.signed and a >> (width - 1):
            a ^= type_.mask
        if not a:
            return ALL
        place = a.bit_length() - 1
        return width - 1 - place if amount else place

    return find


def _brev(type_: Type) -> Function1:
    width = type_.width
    return lambda a: int(f"{a:0{width}b}"[::-1], 2)


def _fns(mask: int, base: int, offset: int) -> int:
    """PTX ISA, "fns": the offset-th set bit from base, upwards or downwards."""
    base &= 31
    steps = signed(offset, 32)
    if not steps:
        return base if mask >> base & 1 else ALL
    places = range(base, 32) if steps > 0 else range(base, -1, -1)
    left = abs(steps)
    for place in places:
        if mask >> place & 1:
            left -= 1
            if not left:
                return place
    return ALL


def _bmsk(modifiers: tuple[str, ...]) -> Function1:
    if "clamp" in modifiers:
        return lambda a, b: (((1 << min(b, 32)) - 1) << min(a, 32)) & ALL
    return lambda a, b: (((1 << (b & 31)) - 1) << (a & 31)) & ALL


def _szext(type_: Type, modifiers: tuple[str, ...]) -> Function1:
    wrap = "wrap" in modifiers

    def extend(a: int, n: int) -> int:
        n = n & 31 if wrap else min(n, 32)
        if not n:
            return 0
        a &= (1 << n) - 1
        return signed(a, n) & ALL if type_.signed else a

    return extend


def fields(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``bfe``, ``bfi``, ``bfind``, ``brev``, ``clz``, ``popc``, ``fns``, ``bmsk``, ``szext``."""
    mnemonic, modifiers = instruction.opcode.mnemonic, instruction.opcode.modifiers
    type_ = types_of(modifiers)[-1]
    width = type_.width
    marks: Function1 = spread(ALL)
    kinds = [U32] * 4
    if mnemonic == "bfe":
        function, marks = _bfe(type_)
        kinds = [type_, U32, U32]
    elif mnemonic == "bfi":
        function, marks = _bfi(type_)
        kinds = [type_, type_, U32, U32]
    elif mnemonic == "brev":
        function = _brev(type_)
        kinds, reverse = [type_], function
        marks = lambda a, ua: reverse(ua)  # noqa: E731
    else:
        kinds = [type_ if mnemonic in ("bfind", "clz", "popc") else U32, U32, U32]
        makers: dict[str, Callable[[], Function1]] = {
            "bfind": lambda: _bfind(type_, modifiers),
            "clz": lambda: lambda a: width - a.bit_length(),
            "popc": lambda: lambda a: a.bit_count(),
            "fns": lambda: _fns,
            "bmsk": lambda: _bmsk(modifiers),
            "szext": lambda: _szext(type_, modifiers),
        }
        function = makers[mnemonic]()
    operands = instruction.operands[1:]
    sources = [builder.source(each, kind) for each, kind in zip(operands, kinds, strict=False)]
    op.run = elementwise(function, builder.target(instruction.operands[0]), sources, marks)


_MODES = {
    "f4e": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "b4e": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "rc8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ecl": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ecr": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "rc16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


def permute(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``prmt``: bytes of b:a by selector, or by one of the special modes."""
    mode = next((m for m in instruction.opcode.modifiers if m in _MODES), None)

    def function(a: int, b: int, c: int) -> int:
        both = b << 32 | a
        found = 0
        for i in range(4):
            pick = c >> 4 * i & 15 if mode is None else _MODES[mode][c & 3][i]
            byte = both >> 8 * (pick & 7) & 0xFF
            if pick & 8:
                byte = 0xFF if byte & 0x80 else 0
            found |= byte << 8 * i
        return found

    def marks(a: int, b: int, c: int, ua: int, ub: int, uc: int) -> int:
        # A replicated sign is undefined exactly where the sign bit is.
        return ALL if uc & (0xFFFF if mode is None else 3) else function(ua, ub, c)

    sources = builder.sources(instruction.operands[1:4], U32)
    op.run = elementwise(function, builder.target(instruction.operands[0]), sources, marks)


def lop3(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``lop3``: any function of three bits, by its truth table; with a predicate form."""
    if instruction.opcode.modifiers != ("b32",):
        raise Unsupported("lop3 with a predicate")
    operands = instruction.operands
    table = getattr(operands[4], "value", 0)

    def function(a: int, b: int, c: int) -> int:
        found = 0
        for i in range(8):
            if table >> i & 1:
                found |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
        return found & ALL

    def marks(a: int, b: int, c: int, ua: int, ub: int, uc: int) -> int:
        found = 0
        for flip in range(8):
            other = function(
                a ^ (ua if flip & 4 else 0),
                b ^ (ub if flip & 2 else 0),
                c ^ (uc if flip & 1 else 0),
            )
            found |= other ^ function(a, b, c)
        return found

    sources = builder.sources(operands[1:4], U32)
    op.run = elementwise(function, builder.target(operands[0]), sources, marks)
