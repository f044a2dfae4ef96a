"""Whether an address fits its instruction: what is in the brackets, and the state space."""

from __future__ import annotations

from typing import NamedTuple

from ..isa.operands import Spec
from ..isa.types import SIZES
from .operand_kinds import NUMBERS, UNKNOWN, Kind

_SPACES = frozenset({"global", "shared", "const", "local", "param"})
# With one address, in the space of the modifier, or a generic one.
_PLAIN = frozenset({"ld", "st", "atom", "red", "ldu", "prefetch"})
_GENERIC = frozenset({"global", "shared", "local"})


class Opcode(NamedTuple):
    """What the place of an operand depends on besides its pattern."""

    mnemonic: str
    modifiers: tuple[str, ...]

    @property
    def spaces(self) -> list[str]:
        """The state spaces that it names."""
        return [s for m in self.modifiers if (s := m.split("::")[0]) in _SPACES]


def address(opcode: Opcode, spec: Spec, kind: Kind) -> str | None:
    """An address in brackets: its base, its parts, the space of the variable that it names."""
    fits = spec.accepted
    if isinstance(kind, str) or kind[0] != "[":
        if fits is None:
            return None if not isinstance(kind, str) else "address-needed"
        what = kind if isinstance(kind, str) else str(kind[0])
        loose = "r" if what in SIZES or what in NUMBERS or what in ("m", "+") else what
        return None if loose in fits.others else "address-needed"
    _, base, parts, suffix = kind
    if spec.type and suffix != spec.type:
        return "address-parts"
    if fits is None or base == UNKNOWN:
        return None
    if base == "i":
        return None if "[i" in fits.others or "local" in opcode.modifiers else "address-number"
    if (parts == "0") != (spec.length == 0):
        loose = "long" if spec.length == 0 else "short"
        return None if loose in fits.others else "address-parts"
    if isinstance(base, str):
        if base in ("fn", "label"):
            return None if base in fits.others else "address-name"
        return None if base in fits.registers else "address-base"
    if base[0] == "m" and spec.length == 0:
        return _space(opcode, spec, str(base[1]), str(base[2]))
    return None


def _space(opcode: Opcode, spec: Spec, space: str, role: str) -> str | None:
    """Whether an address may be a variable of that space."""
    fits = spec.accepted
    if space not in _SPACES or fits is None:
        return None
    if opcode.mnemonic not in _PLAIN or {"async", "bulk"} & set(opcode.modifiers):
        spaces = fits.others & _SPACES
        return "space" if spaces and space not in spaces else None
    named = opcode.spaces
    if len(named) > 1:
        return None
    if space not in (named or _GENERIC):
        return "space"
    if space == "param" and role == "in" and opcode.mnemonic == "st":
        return "parameter-written"
    return "result-read" if role == "out" and opcode.mnemonic == "ld" else None


def space_of_name(opcode: Opcode, spec: Spec, kind: Kind) -> str | None:
    """cvta of a variable: of the space that it names."""
    if opcode.mnemonic != "cvta" or kind[0] not in ("m", "+") or "to" in opcode.modifiers:
        return None
    return "space" if kind[1] in _SPACES and kind[1] not in opcode.spaces else None
