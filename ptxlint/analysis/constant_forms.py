"""Constants by value: one form for all the ways to write the same."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from ..isa.types import SIZES, signed
from ..ptx.ir import Float, InitialiserList, Integer, Operand

_LONG = 16
"""An initialiser of more constants than this is given by their number and a hash."""


class Types(NamedTuple):
    """What an instruction's types say of its constants.

    ``bits`` is their width where all types agree on it; ``kind`` is ``f`` or ``b`` where there is
    only that sort of type.
    """

    bits: int | None
    kind: str


UNTYPED = Types(None, "")


def types_of(modifiers: Iterable[str]) -> Types:
    """Those of an opcode's modifiers, or of a declaration's type."""
    return _types_of(tuple(modifiers))


@lru_cache(maxsize=4096)
def _types_of(modifiers: tuple[str, ...]) -> Types:
    named = {modifier for modifier in modifiers if modifier in SIZES}
    if not named or "wide" in modifiers:
        return UNTYPED
    sizes = {SIZES[modifier] for modifier in named}
    kinds = {
        "f" if name in ("f32", "f64") else name[0] if name[1:].isdigit() else "" for name in named
    }
    return Types(
        sizes.pop() * 8 if len(sizes) == 1 else None,
        kinds.pop() if len(kinds) == 1 else "",
    )


def constant_text(operand: Integer | Float, types: Types) -> str:
    """The text of a constant in an instruction or initialiser of those types."""
    if isinstance(operand, Integer):
        return str(integer_value(operand.value, types.bits))
    return _float(operand, types)


def integer_value(value: int, bits: int | None = None) -> int:
    """The signed number: of 64 bits, and of ``bits`` where fewer say all of it."""
    value = signed(value, 64)
    if bits is not None and bits < 64 and -(1 << bits - 1) <= value < 1 << bits:
        return signed(value, bits)
    return value


def long_list(operand: InitialiserList, types: Types) -> str | None:
    """A list of many plain constants as their number and a hash of them; None for any other."""
    values: list[str] = []
    waiting: list[Operand] = [operand]
    while waiting:
        item = waiting.pop()
        if isinstance(item, InitialiserList):
            values.append(f"{len(item.elements)}:")
            waiting += reversed(item.elements)
        elif isinstance(item, (Integer, Float)):
            values.append(constant_text(item, types))
        else:
            return None
    if len(values) <= _LONG:
        return None
    digest = sha256(" ".join(values).encode()).hexdigest()[:8]
    return f"{{{len(values) - 1} constants, {digest}}}"


def _float(operand: Float, types: Types) -> str:
    """Its bits as a double, where it is a number: rounded to f32 where that is the type."""
    if types.kind == "b" and types.bits == operand.width:
        return str(signed(operand.bits, operand.width))  # moved as bits, and no number
    code = "<f" if operand.width == 32 else "<d"
    (value,) = struct.unpack(code, operand.bits.to_bytes(operand.width // 8, "little"))
    if value != value:
        return f"0{'f' if operand.width == 32 else 'd'}{operand.bits:X}"
    if types == Types(32, "f") and operand.width == 64:
        try:
            (value,) = struct.unpack("<f", struct.pack("<f", value))
        except OverflowError:
            value = float("inf") if value > 0 else float("-inf")
    return f"0d{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
