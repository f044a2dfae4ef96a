"""PTX types as the interpreter sees them: a kind, a width in bits, and lanes of packed types."""

from __future__ import annotations

from typing import NamedTuple

FULL = 0xFFFFFFFF


class Type(NamedTuple):
    """``kind`` is u, s, b, f or p (predicate); ``width`` counts bits; ``packed`` elements."""

    name: str
    kind: str
    width: int
    packed: int = 1

    @property
    def mask(self) -> int:
        """All bits of the type."""
        return (1 << self.width) - 1

    @property
    def size(self) -> int:
        """Bytes in memory."""
        return (self.width + 7) // 8

    @property
    def signed(self) -> bool:
        """Whether comparisons and extensions take the sign bit for a sign."""
        return self.kind == "s"


def _types() -> dict[str, Type]:
    found = {f"{k}{w}": Type(f"{k}{w}", k, w) for k in "usb" for w in (8, 16, 32, 64)}
    rows = [
        Type("pred", "p", 1),
        Type("b1", "b", 1),
        Type("b128", "b", 128),
        Type("f16", "f", 16),
        Type("bf16", "f", 16),
        Type("tf32", "f", 32),
        Type("f32", "f", 32),
        Type("f64", "f", 64),
        Type("e4m3", "f", 8),
        Type("e5m2", "f", 8),
        Type("f16x2", "f", 32, 2),
        Type("bf16x2", "f", 32, 2),
        Type("f32x2", "f", 64, 2),
        Type("e4m3x2", "f", 16, 2),
        Type("e5m2x2", "f", 16, 2),
        Type("u16x2", "u", 32, 2),
        Type("s16x2", "s", 32, 2),
    ]
    found.update({row.name: row for row in rows})
    return found


TYPES = _types()


def types_of(modifiers: tuple[str, ...]) -> list[Type]:
    """The types that an opcode names, in order."""
    return [TYPES[m] for m in modifiers if m in TYPES]
