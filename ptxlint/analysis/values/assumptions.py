"""What claims rest on: texts by number, sets of them as bits."""

from __future__ import annotations


class Assumptions:
    """The assumptions that one analysis makes; a set of them is an int, bit *i* for text *i*."""

    __slots__ = ("_numbers", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def bit(self, text: str) -> int:
        """The set of just this assumption."""
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.texts)
            self.texts.append(text)
        return 1 << number

    def names(self, bits: int) -> tuple[str, ...]:
        """The texts of a set, in the order in which they were first made."""
        return tuple(text for i, text in enumerate(self.texts) if bits >> i & 1)
