"""What each instruction does to residues (PTX ISA, 9.7 Instructions).

A transfer takes the instruction's sources as states of at most its width, and gives the state of
its result; what has no transfer is unknown.
"""

from __future__ import annotations

from collections.abc import Callable

from ...isa.types import SIZES
from .congruence_numbers import EXACT, UNKNOWN, Numbers, State, zeros
from .types import types_of

# Windows of the generic address space begin at multiples of 2**24 (16 MiB), or more.
WINDOW = 24

Sources = tuple[State, ...]
Transfer = Callable[[Numbers, tuple[str, ...], Sources], State]


def transfer_of(mnemonic: str, modifiers: tuple[str, ...]) -> Transfer | None:
    """The transfer of an opcode; None where nothing is known of its result."""
    found, types = _TRANSFERS.get(mnemonic), types_of(modifiers)
    return found if types.integer and not types.clamped else None


def _add(numbers: Numbers, _: tuple[str, ...], sources: Sources) -> State:
    return numbers.add(sources[0], sources[1])


def _sub(numbers: Numbers, _: tuple[str, ...], sources: Sources) -> State:
    return numbers.add(sources[0], numbers.negative(sources[1]))


def _neg(numbers: Numbers, _: tuple[str, ...], sources: Sources) -> State:
    return numbers.negative(sources[0])


def _mul(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    types = types_of(modifiers)
    a = numbers.integer(sources[0], types.width, types.signed)
    b = numbers.integer(sources[1], types.width, types.signed)
    product = numbers.multiply(a, b)
    if "hi" in modifiers:
        return numbers.right(product, types.width) if product[0] == EXACT else UNKNOWN
    return product


def _mad(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    return numbers.add(_mul(numbers, modifiers, sources[:2]), sources[2])


def _shl(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    a, count = sources[0], shift_count(sources[1])
    if count is None:  # what is shifted left keeps its zeros
        low = zeros(a[1], a[0])
        return (low, 0, a[2]) if low else UNKNOWN
    count = min(count, types_of(modifiers).width)
    return numbers.multiply(a, (EXACT, 1 << count, 0))


def _shr(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    types, count = types_of(modifiers), shift_count(sources[1])
    if count is None:
        return UNKNOWN
    a = numbers.integer(sources[0], types.width, types.signed)
    return numbers.right(a, min(count, types.width))


def shift_count(state: State) -> int | None:
    """A shift count that is known and the same in all threads."""
    k, residue, _ = state
    return residue if k >= 32 and isinstance(residue, int) and residue >= 0 else None


def _bits(table: int, sources: int) -> Transfer:
    def transfer(numbers: Numbers, modifiers: tuple[str, ...], given: Sources) -> State:
        return numbers.bitwise(table, given[:sources], types_of(modifiers).width)

    return transfer


def _lop3(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    table = sources[3][1] if len(sources) > 3 else None
    if not isinstance(table, int) or {"BoolOp", "or", "and"} & set(modifiers):
        return UNKNOWN
    return numbers.bitwise(table & 0xFF, sources[:3], 32)


def _div(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    types = types_of(modifiers)
    a = numbers.integer(sources[0], types.width, types.signed)
    power = _power(sources[1], types.width)
    if power is None or (types.signed and (a[0] != EXACT or not _natural(a))):
        return UNKNOWN
    return numbers.right(a, power)


def _rem(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    types = types_of(modifiers)
    power = _power(sources[1], types.width)
    if power is None:
        return UNKNOWN
    a = numbers.integer(sources[0], types.width, types.signed)
    if not types.signed or (a[0] == EXACT and _natural(a)):
        return numbers.bitwise(0x40, (sources[0], (EXACT, (1 << power) - 1, 0)), types.width)
    # The remainder has the dividend's sign: it may be the residue less the divisor.
    return numbers.cut(sources[0], min(power, sources[0][0]))


def _power(state: State, width: int) -> int | None:
    """n of a divisor that is known to be 2**n."""
    k, residue, _ = state
    if k < width or not isinstance(residue, int) or residue <= 0 or residue & (residue - 1):
        return None
    power = residue.bit_length() - 1
    return power if power < width - 1 else None


def _natural(state: State) -> bool:
    residue = state[1]
    return residue >= 0 if isinstance(residue, int) else min(residue.values) >= 0


def _choose(numbers: Numbers, _: tuple[str, ...], sources: Sources) -> State:
    return numbers.join(sources[0], sources[1])


def _cvt(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    types = types_of(modifiers)
    if len(types.names) != 2:
        return UNKNOWN
    result = SIZES[types.names[0]] * 8
    # The value is that of the result's type; a register wider than it is filled by its sign.
    value = numbers.integer(sources[0], types.width, types.signed)
    return numbers.cut(value, result)


def _cvta(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    return numbers.cut(sources[0], WINDOW)


def _bfe(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    types = types_of(modifiers)
    at, length = shift_count(sources[1]), shift_count(sources[2])
    if at is None or length is None or at + length > types.width or length <= 0:
        return UNKNOWN
    field = numbers.cut(sources[0], at + length)
    if field[0] < at + length:
        return numbers.right(field, at)
    return numbers.right(numbers.integer(field, at + length, types.signed), at)


def _bfi(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    width = types_of(modifiers).width
    at, length = shift_count(sources[2]), shift_count(sources[3])
    if at is None or length is None or at + length > width:
        return UNKNOWN
    insert, base = sources[:2]
    field = ((1 << length) - 1) << at
    moved = numbers.cut(numbers.multiply(insert, (EXACT, 1 << at, 0)), width)
    # (moved and field) or (base and not field): a table of three sources
    return numbers.bitwise(0b11100010, (moved, (EXACT, field, 0), base), width)


def _shf(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    count = shift_count(sources[2])
    if count is None:
        return UNKNOWN
    count = count & 31 if "wrap" in modifiers else min(count, 32)
    both = numbers.pack(numbers.cut(sources[0], 32), numbers.cut(sources[1], 32), 32)
    shift = 32 - count if modifiers[0] == "l" else count
    if both[0] >= 64:
        return numbers.right((EXACT, both[1], both[2]), shift)
    return numbers.right(both, shift)


def _prmt(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    selector = sources[2][1]
    if modifiers != ("b32",) or sources[2][0] < 16 or not isinstance(selector, int):
        return UNKNOWN
    result = UNKNOWN
    for place in range(4):
        nibble = selector >> 4 * place & 15
        if nibble & 8:  # the sign of a byte, repeated
            break
        source = sources[nibble >> 2 & 1]
        at = (nibble & 3) * 8
        byte = numbers.bitwise(0x40, (_shifted(numbers, source, at), (EXACT, 0xFF, 0)), 32)
        result = numbers.pack(result, numbers.cut(byte, 8), 8 * place)
        if byte[0] < 8:
            break
    return result


def _shifted(numbers: Numbers, state: State, count: int) -> State:
    return numbers.right(numbers.integer(state, 32, False), count)


def _shfl(numbers: Numbers, modifiers: tuple[str, ...], sources: Sources) -> State:
    return numbers.of_any(sources[0])


_TRANSFERS: dict[str, Transfer] = {
    "add": _add,
    "sub": _sub,
    "neg": _neg,
    "mul": _mul,
    "mad": _mad,
    "shl": _shl,
    "shr": _shr,
    "and": _bits(0x40, 2),
    "or": _bits(0x54, 2),
    "xor": _bits(0x14, 2),
    "not": _bits(0x01, 1),
    "lop3": _lop3,
    "div": _div,
    "rem": _rem,
    "min": _choose,
    "max": _choose,
    "selp": _choose,
    "cvt": _cvt,
    "cvta": _cvta,
    "mapa": _cvta,
    "bfe": _bfe,
    "bfi": _bfi,
    "shf": _shf,
    "prmt": _prmt,
    "shfl": _shfl,
}
