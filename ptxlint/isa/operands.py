"""What an instruction takes at each operand, from the patterns of the table of forms.

A pattern is comma separated: ``d:<type>`` a register of the type in that slot (``W<type>``: twice
as wide), ``a:u32`` of a type of its own, ``*4`` a vector of four, ``!c`` may be negated,
``d|>p`` a pair, ``[a:b64]`` an address (``;`` before its coordinates), ``n=1`` a constant,
``'…'`` the text that was tried, and ``*`` anything at all.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from .instructions import Form, forms
from .register_types import Accepted, accepted

# Not judged: their operand shapes, or what stands for a symbol in them, are not all in the table.
_LEFT_OUT = frozenset(
    {"tex", "tld4", "suld", "sust", "sured", "txq", "suq", "call", "bra", "brx", "fabric"}
)
_DOUBLE = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
_PART = re.compile(r"!?([\w-]+):(W?)(?:<(\w+)>|(\w+))(?:\*(\d+))?")
_BRACKETS = {"[": 1, "{": 1, "(": 1, "]": -1, "}": -1, ")": -1}


class Spec(NamedTuple):
    """One operand: ``kind`` is register, vector, address, pair, constant, symbol, sink,
    special or any.

    ``type`` is the instruction's, ``""`` where none is meant, of an address the suffix
    (``unified``); ``length`` is that of a vector, or the parts of an address after the first;
    ``accepted`` is None where the table can't say.
    """

    name: str
    kind: str
    type: str = ""
    length: int = 0
    accepted: Accepted | None = None

    @property
    def written(self) -> bool:
        """Whether the instruction writes it, by the names that the ISA gives results."""
        return self.name in ("d", "p", "f", "r", "d|p", "p|q", "state", "w")


class Pattern(NamedTuple):
    """The operands of one form; ``unreliable`` where ptxas itself breaks on it."""

    operands: tuple[Spec, ...]
    unreliable: bool


@cache
def patterns(mnemonic: str, modifiers: tuple[str, ...]) -> tuple[Pattern, ...]:
    """The operand patterns of an opcode, each once; empty where nothing certain is known."""
    if mnemonic in _LEFT_OUT or (mnemonic[0] == "v" and mnemonic != "vote"):
        return ()
    found: dict[tuple[Spec, ...], bool] = {}
    for form in forms(mnemonic, modifiers):
        specs = _specs(form, mnemonic, modifiers)
        if specs is None or _dated(form):
            return ()
        found[specs] = found.get(specs, True) and form.unreliable
    return tuple(Pattern(specs, unreliable) for specs, unreliable in found.items())


def _dated(form: Form) -> bool:
    """A form that was given up, with vectors: the table has no lengths of them."""
    return form.until is not None and "*" in form.operands


def _specs(form: Form, mnemonic: str, modifiers: tuple[str, ...]) -> tuple[Spec, ...] | None:
    text = form.operands
    if text == "*":
        if mnemonic != "wgmma" or "shape" not in form.chosen:
            return None
        text = ", ".join(operand["spec"] for operand in form.access)
    specs = tuple(_spec(part, text, form, mnemonic, modifiers) for part in _split(text))
    if form.operands == "*":
        result = specs[0]._replace(length=_accumulators(form.chosen), accepted=None)
        specs = (result, *specs[1:])
    return specs


def _accumulators(chosen: dict[str, str]) -> int:
    """Registers of a wgmma result: 64 x N over 128 threads, two f16 to a register."""
    columns = int(chosen["shape"].split("n")[1].split("k")[0])
    return columns // 4 if chosen["d"] == "f16" else columns // 2


def _split(text: str) -> list[str]:
    """The operands of a pattern: the parts between commas outside brackets."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += _BRACKETS.get(character, 0)
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def _spec(part: str, text: str, form: Form, mnemonic: str, modifiers: tuple[str, ...]) -> Spec:
    if part.startswith("["):
        inner = part[1:-1]
        name = re.split("[:=;]", inner.strip("{"))[0]
        return Spec(name, "address", "", inner.count(";"), accepted(mnemonic, f"{name}[]", text))
    if part.startswith("'"):
        return _text(part.strip("'"), mnemonic)
    if part.startswith("{") or part == "*":
        return Spec("", "any")
    if "|>" in part:
        first, second = (_typed(half, form, modifiers) for half in part.split("|>"))
        key = f"{first[0]}:{first[1]}|{second[0]}:{second[1]}"
        name = f"{first[0]}|{second[0]}"
        return Spec(name, "pair", first[1], 0, accepted(mnemonic, key, text))
    if _PART.fullmatch(part):
        name, type, count = _typed(part, form, modifiers)
        kind = "vector" if count else "register"
        key = f"{name}:{type}{'*' if count else ''}"
        return Spec(name, kind, type, count, accepted(mnemonic, key, text))
    name = part.split("=")[0]
    if name == part:
        return Spec(name.split(":")[0], "any")
    # A constant of tcgen05.mma is a predicate in a form that the table lacks.
    fits = None if mnemonic == "tcgen05" else accepted(mnemonic, f"{name}=", text)
    return Spec(name, "constant", "", 0, fits)


def _text(text: str, mnemonic: str) -> Spec:
    """An operand of which the table has one example only."""
    if text.startswith("["):
        suffix = text.partition("].")[2]
        return Spec("a", "address", suffix, 0, accepted(mnemonic, "a[]", text))
    if text == "_":
        return Spec("_", "sink")
    if text.startswith("_|"):
        return Spec("_|p", "pair")
    if text.startswith("%"):
        return Spec("a", "special")
    return Spec("a", "symbol")


def _typed(part: str, form: Form, modifiers: tuple[str, ...]) -> tuple[str, str, int]:
    match = _PART.fullmatch(part)
    if match is None:
        return part, "", 0
    name, wide, slot, fixed, count = match.groups()
    type = fixed or form.chosen.get(slot, "")
    if slot and type not in modifiers:
        # The table has ld and st with some types only; another of the width stands for this one.
        types = [m for m in modifiers if m[0] in "bsuf" and m[1:].isdigit()]
        type = types[0] if len(types) == 1 else ""
    if wide:
        type = _DOUBLE.get(type, "")
    return name, type, int(count or 0)
