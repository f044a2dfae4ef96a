"""A text and the lines in it: offsets to lines and columns."""

from __future__ import annotations

from bisect import bisect_right

from ..model import Position, Span


class Source:
    """The text of one module; offsets count characters of ``text``."""

    __slots__ = ("_starts", "name", "text")

    def __init__(self, text: str, name: str = "<text>") -> None:
        self.text = text
        self.name = name
        self._starts: list[int] | None = None

    @property
    def line_starts(self) -> list[int]:
        """Offset of each line's first character; made when the first position is asked for."""
        if self._starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        return self._starts

    def line_of(self, offset: int) -> int:
        """Line (from 1) that holds ``offset``."""
        return bisect_right(self.line_starts, offset)

    def position(self, offset: int) -> Position:
        """Line and column of ``offset``."""
        line = self.line_of(offset)
        return Position(line, offset - self.line_starts[line - 1] + 1)

    def span(self, start: int, end: int) -> Span:
        """The span between two offsets."""
        return Span(self.position(start), self.position(end))

    def lines(self) -> list[str]:
        """All lines without their line ends (``\\n`` and ``\\r\\n``)."""
        return [line.rstrip("\r") for line in self.text.split("\n")]
