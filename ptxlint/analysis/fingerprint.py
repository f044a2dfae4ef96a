"""The key that two texts of a function share when they say the same in other words."""

from __future__ import annotations

from hashlib import sha256

from ..ptx.ir import Function
from .normal import Line, Name, Normal, normal_form


class Numbering:
    """Spells names, numbering those of a kind by first use."""

    def __init__(self, fixed: dict[Name, str]) -> None:
        self.names = dict(fixed)
        self.counts: dict[str, int] = {}

    def __call__(self, line: Line) -> str:
        """The line as text."""
        return "".join([piece if isinstance(piece, str) else self.name(piece) for piece in line])

    def name(self, name: Name) -> str:
        """The text that stands for a name."""
        known = self.names.get(name)
        if known is None:
            number = self.counts.get(name.kind, 0)
            self.counts[name.kind] = number + 1
            known = self.names[name] = f"{name.kind}{number}"
        return known

    def texts(self, normal: Normal) -> list[str]:
        """All lines of a normal form; what is declared is numbered as the body uses it."""
        body = [self(line) for line in normal.body]
        return [self(line) for line in (*normal.head, *normal.objects)] + body


def fingerprint(function: Function) -> str:
    """32 hexadecimal digits: equal for functions that say the same in other words.

    What counts: instructions with their types, modifiers, constants, offsets and the order of
    their operands; types of registers; declared memory objects, those of the module that the
    function names included; parameters; linkage; launch bounds and pragmas. What doesn't: see
    the module's text; nor the function's own name, the module's ``.version`` and ``.target``, and
    what is inside other functions that it calls. Keys of different releases don't compare.
    """
    return key_of(normal_form(function))


def key_of(normal: Normal) -> str:
    """The key of a normal form."""
    text = "\n".join(Numbering(normal.fixed).texts(normal))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
