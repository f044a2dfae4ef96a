"""Which bits of one result are undefined, by the kind of operation.

Each rule gives a mask for the operands' masks (``undefined``) and constants (``constant``); None
where the operation is not of the kind that it knows.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ptx.ir import Opcode, Operand
from .masks import Constant, Mask, full, operand_width

_INTEGER = {f"{sign}{bits}": bits for sign in "bsu" for bits in (8, 16, 32, 64)}

Rule = Callable[[Opcode, tuple[Operand, ...], Mask, Constant], "int | None"]


def _sum(
    opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask, constant: Constant
) -> int | None:
    """Integer sums and low products: an undefined bit spoils those from it upwards."""
    bits = next((_INTEGER[m] for m in opcode.modifiers if m in _INTEGER), None)
    modifiers = opcode.modifiers
    if bits is None or {"wide", "hi", "sat"} & set(modifiers):
        return None
    mask = 0
    factors: tuple[Operand, ...] = ()
    if opcode.mnemonic == "sub" and len(sources) == 2 and sources[0] is sources[1]:
        return 0
    if opcode.mnemonic in ("mul", "mad", "madc"):
        factors, sources = sources[:2], sources[2:]
        known = [constant(factor) for factor in factors]
        product = undefined(factors[0]) | undefined(factors[1])
        if 0 not in known:
            scale = next((k for k in known if k), 1)
            mask = product * (scale & -scale)
    for source in sources:
        mask |= undefined(source)
    mask &= (1 << bits) - 1
    return (1 << bits) - (mask & -mask) if mask else 0


def _logic(
    opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask, constant: Constant
) -> int | None:
    """``and``, ``or``, ``xor``, ``lop3``: bit by bit, but for bits that a constant settles."""
    mnemonic = opcode.mnemonic
    if mnemonic == "xor" and sources[0] is sources[1]:
        return 0
    if mnemonic == "lop3":
        table = constant(sources[3]) if len(sources) == 4 else None
        sources = sources[:3]
    else:
        table = {"and": 0xC0, "or": 0xFC, "xor": 0x3C}.get(mnemonic)
    if table is None:
        return None
    ones = [-1 if (k := constant(s)) is None else k for s in sources]
    zeros = [-1 if (k := constant(s)) is None else ~k for s in sources]
    found = 0
    for place, source in enumerate(sources):
        mask = undefined(source)
        if mask:
            found |= mask & _influence(table, place, ones, zeros)
    return found


def _influence(table: int, place: int, ones: list[int], zeros: list[int]) -> int:
    """The bits at which the operand at ``place`` can matter; a table as that of ``lop3``."""
    weight, found = 4 >> place, 0
    for row in range(8):
        if row & weight or (table >> row & 1) == (table >> (row | weight) & 1):
            continue
        bits = -1
        for other in range(len(ones)):
            if other != place:
                bits &= ones[other] if row & (4 >> other) else zeros[other]
        found |= bits
    return found


def _shift(
    opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask, constant: Constant
) -> int | None:
    amount, mask = constant(sources[1]), undefined(sources[0])
    bits = operand_width(opcode)
    every = (1 << bits) - 1
    mask &= every
    if undefined(sources[1]):
        return every
    if amount is None:
        return every if mask == every else 0
    amount = min(amount & 0xFFFFFFFF, bits)
    if opcode.mnemonic == "shl":
        return mask << amount & every
    sign = every ^ (every >> amount) if opcode.modifiers[-1][0] == "s" and mask >> bits - 1 else 0
    return mask >> amount | sign


def _funnel(
    opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask, constant: Constant
) -> int | None:
    amount = constant(sources[2])
    both = undefined(sources[0]) & 0xFFFFFFFF | (undefined(sources[1]) & 0xFFFFFFFF) << 32
    if amount is None:
        return -1 if undefined(sources[2]) or both == (1 << 64) - 1 else 0
    amount = min(amount, 32) if "clamp" in opcode.modifiers else amount & 31
    return both << amount >> 32 if "l" in opcode.modifiers else both >> amount


def _extract(
    opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask, constant: Constant
) -> int | None:
    start, length = constant(sources[1]), constant(sources[2])
    if start is None or length is None:
        return 0 if undefined(sources[0]) != full(sources[0]) else None
    start, length = start & 255, length & 255
    field = undefined(sources[0]) >> start & ((1 << length) - 1)
    sign = opcode.modifiers[-1][0] == "s" and length and field >> length - 1
    return field | (-1 << length if sign else 0)


def _insert(
    opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask, constant: Constant
) -> int | None:
    start, length = constant(sources[2]), constant(sources[3])
    if start is None or length is None:
        return 0
    field = ((1 << (length & 255)) - 1) << (start & 255)
    return undefined(sources[1]) & ~field | undefined(sources[0]) << (start & 255) & field


def _permute(
    opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask, constant: Constant
) -> int | None:
    selector = constant(sources[2])
    both = undefined(sources[0]) & 0xFFFFFFFF | (undefined(sources[1]) & 0xFFFFFFFF) << 32
    if selector is None or len(opcode.modifiers) != 1:
        return -1 if undefined(sources[2]) or both == (1 << 64) - 1 else 0
    found = 0
    for place in range(4):
        nibble = selector >> 4 * place & 15
        byte = both >> 8 * (nibble & 7) & 255
        if nibble & 8:  # the sign of the byte, eight times
            byte = 255 if byte & 128 else 0
        found |= byte << 8 * place
    return found


def _convert(
    opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask, constant: Constant
) -> int | None:
    """Integers to integers keep their bits; the rest is arithmetic."""
    types = [m for m in opcode.modifiers if m in _INTEGER]
    if len(types) != 2 or len(sources) != 1 or {"sat", "pack"} & set(opcode.modifiers):
        return None
    to, of = _INTEGER[types[0]], _INTEGER[types[1]]
    mask = undefined(sources[0]) & ((1 << of) - 1)
    sign = types[1][0] == "s" and mask >> of - 1
    return (mask | (-1 << of if sign else 0)) & ((1 << to) - 1)


def _select(
    opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask, constant: Constant
) -> int | None:
    if undefined(sources[2]) and sources[0] is not sources[1]:
        return -1
    return undefined(sources[0]) & undefined(sources[1])


def _copy(
    opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask, constant: Constant
) -> int | None:
    return undefined(sources[0])


def _vote(
    opcode: Opcode, sources: tuple[Operand, ...], undefined: Mask, constant: Constant
) -> int | None:
    return -1 if undefined(sources[0]) else 0


RULES: dict[str, Rule] = {
    **dict.fromkeys(("add", "sub", "mul", "mad", "neg", "addc", "subc", "madc"), _sum),
    **dict.fromkeys(("and", "or", "xor", "lop3"), _logic),
    **dict.fromkeys(("shl", "shr"), _shift),
    "not": _copy,
    "cvta": _copy,
    "shfl": _copy,
    "shf": _funnel,
    "bfe": _extract,
    "bfi": _insert,
    "prmt": _permute,
    "cvt": _convert,
    "selp": _select,
    "vote": _vote,
}
