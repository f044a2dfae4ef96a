"""The integer types that an opcode names."""

from __future__ import annotations

from ...isa.types import SIZES

_INTEGERS = frozenset(f"{kind}{bits}" for kind in "usb" for bits in (8, 16, 32, 64, 128))
_CLAMPS = frozenset({"sat", "relu"})


class Types:
    """Width in bits and signedness of an opcode's last type; ``names`` are all, in order.

    ``integer``: whether they are plain integers or bits, each one number; packed ones
    (``.u16x2``) and floating ones are not. ``predicate``: whether the last is ``.pred``.
    ``clamped``: whether the result is cut to a range (``.sat``, ``.relu``), and is no sum, say.
    """

    __slots__ = ("clamped", "integer", "modifiers", "names", "predicate", "signed", "width")

    def __init__(self, modifiers: tuple[str, ...]) -> None:
        self.modifiers = modifiers
        self.names = [m for m in modifiers if m in SIZES or m == "pred"]
        last = self.names[-1] if self.names else "b32"
        self.predicate = last == "pred"
        self.width = 1 if self.predicate else SIZES[last] * 8
        self.signed = last[0] == "s"
        self.clamped = not _CLAMPS.isdisjoint(modifiers)
        self.integer = bool(self.names) and _INTEGERS.issuperset(self.names)


_KNOWN: dict[tuple[str, ...], Types] = {}


def types_of(modifiers: tuple[str, ...]) -> Types:
    """The types of an opcode, worked out once."""
    known = _KNOWN.get(modifiers)
    if known is None:
        known = _KNOWN[modifiers] = Types(modifiers)
    return known
