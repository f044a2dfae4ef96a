"""Arithmetic on values of which only the low bits differ from lane to lane.

``%tid.x >> 5`` is the same in a warp; so is ``(blockIdx.x * 128 + %tid.x) < n`` where n is a
multiple of 32. "Depends on tid" is not "varies by lane".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...isa.types import SIZES
from ...ptx.ir import Instruction, Integer, Operand
from .types import types_of
from .uniformity_states import LANES, join, spread, with_spread


class Reader(Protocol):
    """What the transfers ask the analysis about the operands of an instruction."""

    def state(self, index: int, operand: Operand) -> int:
        """The uniformity of an operand."""

    def low_bits(self, index: int, factors: tuple[Operand, ...], k: int) -> tuple[int, int] | None:
        """The low k bits of an operand or a product, if they are known and the same in all
        threads, and the state's bits for the assumptions behind that.
        """


Transfer = Callable[[Reader, int, Instruction], int]


def transfer_of(mnemonic: str) -> Transfer | None:
    """The transfer for an opcode with such a source; None: its result may be anything."""
    return _TRANSFERS.get(mnemonic)


def _same(read: Reader, index: int, instruction: Instruction) -> int:
    """``mov``, ``cvt`` and ``cvta`` of one value; ``not``."""
    types = types_of(instruction.opcode.modifiers)
    if not types.integer or types.clamped:
        return LANES
    state = read.state(index, instruction.operands[1])
    narrowest = min(SIZES[name] * 8 for name in types.names)
    return state if spread(state) < narrowest else LANES


def _bitwise(read: Reader, index: int, instruction: Instruction) -> int:
    """``or``, ``xor``: no bit depends on another."""
    return join(*_two(read, index, instruction))


def _and(read: Reader, index: int, instruction: Instruction) -> int:
    a, b = _two(read, index, instruction)
    for own, other, operand in (
        (a, b, instruction.operands[2]),
        (b, a, instruction.operands[1]),
    ):
        if spread(own) and isinstance(operand, Integer) and not spread(other):
            return with_spread(own, (operand.value & (1 << spread(own)) - 1).bit_length())
    return join(a, b)


def _add(read: Reader, index: int, instruction: Instruction) -> int:
    if not _whole(instruction):
        return LANES
    a, b = _two(read, index, instruction)
    first, second = instruction.operands[1:3]
    if not spread(b):
        return _aligned(read, index, a, b, (second,))
    return LANES if spread(a) else _aligned(read, index, b, a, (first,))


def _sub(read: Reader, index: int, instruction: Instruction) -> int:
    a, b = _two(read, index, instruction)
    if spread(b) or not _whole(instruction):
        return LANES
    return _aligned(read, index, a, b, (instruction.operands[2],))


def _aligned(read: Reader, index: int, own: int, other: int, factors: tuple[Operand, ...]) -> int:
    """A sum with a uniform value: no carry leaves the low bits where that has none of them."""
    if own == LANES:
        return LANES
    known = read.low_bits(index, factors, spread(own))
    if known is None or known[0]:
        return LANES
    return join(own, other) | known[1]


def _whole(instruction: Instruction) -> bool:
    """Whether it is plain integer arithmetic."""
    types = types_of(instruction.opcode.modifiers)
    return types.integer and not types.clamped and "hi" not in types.modifiers


def _shl(read: Reader, index: int, instruction: Instruction) -> int:
    count = _count(instruction, 2)
    state = read.state(index, instruction.operands[1])
    if count is None:
        return LANES
    return _below(with_spread(state, spread(state) + count), instruction)


def _shr(read: Reader, index: int, instruction: Instruction) -> int:
    count = _count(instruction, 2)
    if count is None:
        return LANES
    state = read.state(index, instruction.operands[1])
    return with_spread(state, max(spread(state) - count, 0))


def _mad(read: Reader, index: int, instruction: Instruction) -> int:
    product = _mul(read, index, instruction)
    third = read.state(index, instruction.operands[3])
    if not spread(third):
        return _aligned(read, index, product, third, (instruction.operands[3],))
    if spread(product):
        return LANES
    return _aligned(read, index, third, product, instruction.operands[1:3])


def _mul(read: Reader, index: int, instruction: Instruction) -> int:
    if not _whole(instruction):
        return LANES
    a, b = _two(read, index, instruction)
    if not spread(a) and not spread(b):
        return join(a, b)
    for own, operand in ((a, instruction.operands[2]), (b, instruction.operands[1])):
        if isinstance(operand, Integer) and operand.value > 0:
            if operand.value & (operand.value - 1):
                return LANES
            count = operand.value.bit_length() - 1
            return _below(with_spread(own, spread(own) + count), instruction)
    return LANES


def _div(read: Reader, index: int, instruction: Instruction) -> int:
    types = types_of(instruction.opcode.modifiers)
    divisor = instruction.operands[2]
    if types.signed or not types.integer or not isinstance(divisor, Integer):
        return LANES
    if divisor.value <= 0 or divisor.value & (divisor.value - 1):
        return LANES
    state = read.state(index, instruction.operands[1])
    return with_spread(state, max(spread(state) - divisor.value.bit_length() + 1, 0))


def _bfe(read: Reader, index: int, instruction: Instruction) -> int:
    types = types_of(instruction.opcode.modifiers)
    at, length = _count(instruction, 2), _count(instruction, 3)
    if at is None or length is None or types.signed or at + length > types.width:
        return LANES
    state = read.state(index, instruction.operands[1])
    return with_spread(state, min(max(spread(state) - at, 0), length))


def _selp(read: Reader, index: int, instruction: Instruction) -> int:
    a, b = _two(read, index, instruction)
    chosen = read.state(index, instruction.operands[3])
    return LANES if spread(chosen) else join(join(a, b), chosen)


def _setp(read: Reader, index: int, instruction: Instruction) -> int:
    """A comparison that the bits above the varying ones decide."""
    modifiers = instruction.opcode.modifiers
    types = types_of(modifiers)
    if not types.integer or modifiers[0] not in _ORDERS:
        return LANES
    a, b = _two(read, index, instruction)
    if max(spread(a), spread(b)) >= types.width:
        return LANES
    first, second = instruction.operands[1:3]
    strict = _ORDERS[modifiers[0]]  # whether the comparison tells values from below ``second``
    if spread(a) and not spread(b):
        result = _threshold(read, index, a, b, second, strict)
    elif spread(b) and not spread(a):
        result = _threshold(read, index, b, a, first, not strict)
    else:
        return LANES
    for operand in instruction.operands[3:]:
        other = read.state(index, operand)
        result = LANES if spread(other) else join(result, other)
    return result


# v < t, v >= t ask on which side of t the value lies; v <= t, v > t of t + 1.
_ORDERS = {
    **dict.fromkeys(("lt", "ge", "lo", "hs"), True),
    **dict.fromkeys(("le", "gt", "ls", "hi"), False),
}


def _threshold(
    read: Reader, index: int, own: int, other: int, operand: Operand, below: bool
) -> int:
    k = spread(own)
    known = None if own == LANES else read.low_bits(index, (operand,), k)
    if known is None or known[0] != (0 if below else (1 << k) - 1):
        return LANES
    return with_spread(join(own, other), 0) | known[1]


def _two(read: Reader, index: int, instruction: Instruction) -> tuple[int, int]:
    return read.state(index, instruction.operands[1]), read.state(index, instruction.operands[2])


def _count(instruction: Instruction, place: int) -> int | None:
    operand = instruction.operands[place] if len(instruction.operands) > place else None
    return operand.value if isinstance(operand, Integer) and operand.value >= 0 else None


def _below(state: int, instruction: Instruction) -> int:
    """A state that fits the result: where all of its bits may vary, nothing is known."""
    types = types_of(instruction.opcode.modifiers)
    width = types.width * 2 if "wide" in instruction.opcode.modifiers else types.width
    return state if spread(state) < width else LANES


_TRANSFERS: dict[str, Transfer] = {
    "mov": _same,
    "cvt": _same,
    "cvta": _same,
    "not": _same,
    "or": _bitwise,
    "xor": _bitwise,
    "and": _and,
    "add": _add,
    "sub": _sub,
    "shl": _shl,
    "shr": _shr,
    "mul": _mul,
    "mad": _mad,
    "div": _div,
    "bfe": _bfe,
    "selp": _selp,
    "setp": _setp,
}
