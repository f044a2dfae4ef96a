"""Whether an opcode is spelled as PTX has it, why not, and what comes closest."""

from __future__ import annotations

from functools import cache

from ..isa.instructions import forms, mnemonics, modifiers, slots
from ..ptx.ir import Opcode

# Instructions whose combinations ptxas takes more of than were tried.
_OPEN = frozenset({"fabric", "fence", "multimem", "suld", "sured", "sust", "tcgen05"})
# Modifiers that only pick a cache policy: the table has not tried all of them together.
_CACHE = ("L1::", "L2::")


@cache
def is_wrong(opcode: Opcode) -> str | None:
    """Why no instruction is spelled like this; None if one is, or if the table can't tell."""
    mnemonic, given = opcode.mnemonic, opcode.modifiers
    if mnemonic not in mnemonics():
        return f"PTX has no instruction `{mnemonic}`"
    known = modifiers(mnemonic)
    for modifier in given:
        if modifier not in known:
            return f"`{mnemonic}` has no modifier `.{modifier}`"
    if forms(mnemonic, given):
        return None
    if mnemonic in _OPEN or (mnemonic in ("max", "min") and "abs" in given):
        return None
    if any(modifier.startswith(_CACHE) for modifier in given):
        return None
    if first := _belongs_first(mnemonic, given):
        return f"`.{first[0]}` belongs right after `{mnemonic}`"
    for index, modifier in enumerate(given):
        if forms(mnemonic, given[:index] + given[index + 1 :]):
            return f"`.{modifier}` is one modifier too many"
    if missing := _missing(mnemonic, given):
        return missing
    return "these modifiers don't go together"


def _belongs_first(mnemonic: str, given: tuple[str, ...]) -> tuple[str, ...] | None:
    """The modifiers with one brought to the front, if that makes them legal."""
    for index in range(1, len(given)):
        moved = (given[index], *given[:index], *given[index + 1 :])
        if forms(mnemonic, moved):
            return moved
    return None


def _missing(mnemonic: str, given: tuple[str, ...]) -> str | None:
    """What one modifier more would make it legal, if that is what is wrong."""
    works: dict[str, list[str]] = {}
    for name, values in slots(mnemonic).items():
        for value in values:
            for at in range(len(given) + 1):
                if forms(mnemonic, (*given[:at], value, *given[at:])):
                    works.setdefault(name, []).append(value)
                    break
    if not works:
        return None
    name, fitting = max(works.items(), key=lambda item: len(item[1]))
    what = "the type" if "type" in name else "a modifier"
    shown = ", ".join(f"`.{value}`" for value in fitting[:6])
    return f"{what} is missing: {shown}{' …' if len(fitting) > 6 else ''}"


def closest(opcode: Opcode) -> str | None:
    """The legal spelling next to a wrong one: one part changed."""
    from difflib import get_close_matches

    mnemonic, given = opcode.mnemonic, opcode.modifiers
    if mnemonic not in mnemonics():
        if forms(mnemonic.lower(), given):
            return str(opcode).replace(mnemonic, mnemonic.lower(), 1)
        for name in get_close_matches(mnemonic, mnemonics(), n=5, cutoff=0.5):
            if forms(name, given):
                return ".".join((name, *given))
        return None
    if moved := _belongs_first(mnemonic, given):
        return ".".join((mnemonic, *moved))
    known: list[str] = sorted(modifiers(mnemonic))
    order = sorted(range(len(given)), key=lambda i: given[i] in known)
    for index in order:
        for other in get_close_matches(given[index], known, n=8, cutoff=0.3):
            changed = (*given[:index], other, *given[index + 1 :])
            if other != given[index] and forms(mnemonic, changed):
                return ".".join((mnemonic, *changed))
    return None
