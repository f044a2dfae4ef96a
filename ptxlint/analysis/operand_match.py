"""Whether an operand fits its place in a pattern; why not, in one word that the rules explain."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..isa.operands import Spec
from ..isa.types import SIZES
from .operand_address import Opcode, address, space_of_name
from .operand_kinds import NUMBERS, UNKNOWN, Kind

_SPECIALS = frozenset({"tid", "s32", "s64"})


class Mismatch(NamedTuple):
    """The operand at ``place`` does not fit ``spec``; ``element`` is one of a vector."""

    place: int
    spec: Spec
    reason: str
    element: int | None = None


def mismatches(
    opcode: Opcode, specs: tuple[Spec, ...], kinds: tuple[Kind, ...]
) -> Iterator[Mismatch]:
    """What does not fit, of as many operands as the pattern has."""
    for place, (spec, kind) in enumerate(zip(specs, kinds, strict=True)):
        if kind == UNKNOWN or spec.kind == "any":
            continue
        reason, element = _judge(opcode, spec, kind)
        if reason is not None:
            yield Mismatch(place, spec, reason, element)


def _judge(opcode: Opcode, spec: Spec, kind: Kind) -> tuple[str | None, int | None]:
    if spec.kind == "vector":
        return _vector(spec, kind)
    if spec.kind == "register":
        reason = space_of_name(opcode, spec, kind) or _scalar(spec, kind)
    elif spec.kind == "address":
        reason = address(opcode, spec, kind)
    elif spec.kind == "pair":
        reason = _pair(spec, kind)
    elif spec.kind == "constant":
        reason = _constant(spec, kind)
    elif spec.kind == "sink":
        reason = None if kind == "_" else "sink-needed"
    elif spec.kind == "special":
        reason = None if kind[0] == "s" else "special-needed"
    else:
        reason = space_of_name(opcode, spec, kind) if kind[0] in ("m", "+") else None
        if kind == "label":
            reason = "label"
        elif kind in NUMBERS or kind in SIZES or kind[0] in ("{", "[", "s", "|"):
            reason = "symbol-needed"
    return reason, None


def _scalar(spec: Spec, kind: Kind) -> str | None:
    """A register, or what stands for one."""
    fits = spec.accepted
    if fits is None:
        return _shape(kind)
    what = kind if isinstance(kind, str) else kind[0]
    if isinstance(kind, str):
        if kind in NUMBERS:
            return None if kind in fits.others else _number(spec, kind)
        if kind in ("_", "fn", "label"):
            reason = {"_": "sink", "fn": "symbol", "label": "label"}[kind]
            return None if kind in fits.others else reason
        return None if kind in fits.registers else "type"
    if what == "s":
        if kind[1] in fits.others:
            return None
        return "special-width" if fits.others & _SPECIALS else "special"
    if what == "!":
        return _scalar(spec, kind[1]) if "!" in fits.others else "negated"
    if what == "{":
        alone = "v" if len(kind) == 2 else "vv"
        return None if alone in fits.others else "vector-unwanted"
    if what == "-":
        return "minus"
    names = {"m": "symbol", "+": "symbol", "w": "vector-unwanted", "[": "address", "|": "pair"}
    return None if what in fits.others else names.get(str(what))


def _shape(kind: Kind) -> str | None:
    """What no scalar place takes, whatever its type."""
    return {"[": "address", "|": "pair", "label": "label"}.get(
        kind if isinstance(kind, str) else str(kind[0])
    )


def _number(spec: Spec, kind: str) -> str:
    fits = spec.accepted
    if spec.written:
        return "result"
    if fits is not None and kind == "i" and fits.others & {"f", "d"}:
        return "integer"
    return "number" if kind == "i" or fits is None or "i" not in fits.others else "float"


def _vector(spec: Spec, kind: Kind) -> tuple[str | None, int | None]:
    fits = spec.accepted
    others = fits.others if fits is not None else frozenset("ri")
    if isinstance(kind, str):
        if kind == "_":
            return (None if "_" in others or fits is None else "sink"), None
        if kind in NUMBERS:
            return (None if "i" in others else "vector-needed"), None
        if "r" not in others:
            return "vector-needed", None
        return (None if fits is None or kind in fits.registers else "type"), None
    if kind[0] == "w":
        return None, None
    if kind[0] != "{":
        return (None if fits is None else "vector-needed"), None
    elements = kind[1:]
    if len(elements) != spec.length and "len" not in others:
        return "vector-length", None
    sizes = [SIZES[e] for e in elements if isinstance(e, str) and e in SIZES]
    # ptxas takes a vector for what its elements are; beside one of .bN all of that width pass.
    bits = [SIZES[e] for e in elements if isinstance(e, str) and e in SIZES and e[0] == "b"]
    for index, element in enumerate(elements):
        if fits is None or _element(spec, element):
            continue
        size = SIZES.get(element) if isinstance(element, str) else None
        if not bits or (size is not None and size not in bits):
            return "vector-element", index
    if fits is not None and len(set(sizes)) > 1:
        return "vector-mixed", _odd(elements, sizes[0])
    return None, None


def _odd(elements: tuple[Kind, ...], size: int) -> int:
    """The first register of another size."""
    sizes = (SIZES.get(e, size) if isinstance(e, str) else size for e in elements)
    return next(index for index, other in enumerate(sizes) if other != size)


def _element(spec: Spec, kind: Kind) -> bool:
    fits = spec.accepted
    if fits is None or kind == UNKNOWN:
        return True
    if not isinstance(kind, str):
        return kind[0] == "s" and "es" in fits.others
    if kind == "i":
        return "ei" in fits.others
    if kind in "fd":
        return bool(fits.others & {"ei", "ef"})
    if kind == "_":
        return "e_" in fits.others
    return kind in fits.registers


def _pair(spec: Spec, kind: Kind) -> str | None:
    fits = spec.accepted
    if fits is None:  # `_|p`
        return None if kind[0] == "|" and kind[1] == "_" else "pair-needed"
    if kind == "_":  # ptxas lets some instructions drop both
        return None
    if isinstance(kind, str) or kind[0] != "|":
        if "single" in fits.others and isinstance(kind, str) and kind in fits.registers:
            return None
        return "pair-needed"
    _, first, second = kind
    if first == "_":
        return None if "_|" in fits.others else "sink"
    if first != UNKNOWN and first not in fits.registers:
        return "pair-first"
    if second == "_":
        return None if "|_" in fits.others else "sink"
    if second == UNKNOWN or f"p:{second}" in fits.others:
        return None
    return "pair-second"


def _constant(spec: Spec, kind: Kind) -> str | None:
    fits = spec.accepted
    if fits is None or kind == "i":
        return None
    if isinstance(kind, str):
        if kind in "fd":
            return None if kind in fits.others else "constant"
        return None if kind in fits.registers or kind in ("fn", "_") else "constant"
    return "constant" if kind[0] in ("{", "[") and kind[0] not in fits.others else None
