"""The sizes of PTX types, in bytes, and the numbers in them."""

from __future__ import annotations

from collections.abc import Iterable

SIZES = {
    "b8": 1, "u8": 1, "s8": 1, "e4m3": 1, "e5m2": 1,
    "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "e4m3x2": 2, "e5m2x2": 2,
    "b32": 4, "u32": 4, "s32": 4, "f32": 4, "f16x2": 4, "bf16x2": 4, "e4m3x4": 4, "e5m2x4": 4,
    "b64": 8, "u64": 8, "s64": 8, "f64": 8, "f32x2": 8,
    "b128": 16,
}  # fmt: skip
REFERENCES = frozenset({"texref", "samplerref", "surfref"})
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}


def signed(value: int, bits: int) -> int:
    """The two's complement reading of the lowest ``bits`` of a number: 0xfffffffc is -4 in 32."""
    half = 1 << (bits - 1)
    return (value + half) % (2 * half) - half


def access_size(modifiers: Iterable[str]) -> int | None:
    """Bytes that a load, store or atomic of these modifiers moves; None where no type is named.

    ``ld.global.v4.f32`` moves 16. The last type counts: it is that of the data.
    """
    size, count = None, 1
    for modifier in modifiers:
        if modifier in SIZES:
            size = SIZES[modifier]
        elif modifier in _VECTORS:
            count = _VECTORS[modifier]
    return None if size is None else size * count
