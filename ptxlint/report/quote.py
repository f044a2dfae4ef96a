"""A line of the source and the marks under part of it."""

from __future__ import annotations

from ..model import Span

TAB = 4
WIDTH = 140
_BEFORE = 60


def quoted(lines: list[str], span: Span, mark: str) -> tuple[str, str]:
    """The first line of the span as it is shown, and ``mark`` under the span's part of it.

    Tabs are widened, control characters replaced, and a long line is cut around the mark, so
    that one character of the text is one column of the screen.
    """
    number = span.start.line
    text = lines[number - 1] if 1 <= number <= len(lines) else ""
    first = min(max(span.start.column - 1, 0), len(text))
    last = len(text) if span.end.line > number else min(span.end.column - 1, len(text))
    last = max(last, first + 1)
    cut, begin = _window(text, first)
    shown, columns = _widened(cut)
    start = columns[min(first - begin, len(cut))]
    end = columns[min(last - begin, len(cut))]
    lead = "…" if begin else ""
    tail = "…" if begin + len(cut) < len(text) else ""
    marks = " " * (len(lead) + start) + mark * max(end - start, 1)
    return (lead + shown + tail).rstrip(), marks


def _window(text: str, first: int) -> tuple[str, int]:
    """The part of a long text that is shown, and where it begins."""
    if len(text) <= WIDTH:
        return text, 0
    begin = 0 if first < WIDTH - _BEFORE else first - _BEFORE
    return text[begin : begin + WIDTH], begin


def _widened(text: str) -> tuple[str, list[int]]:
    """The text with tabs as spaces, and the column of each character (and of the end)."""
    parts: list[str] = []
    columns: list[int] = []
    column = 0
    for char in text:
        columns.append(column)
        part = char if char.isprintable() else "\N{REPLACEMENT CHARACTER}"
        if char == "\t":
            part = " " * (TAB - column % TAB)
        parts.append(part)
        column += len(part)
    columns.append(column)
    return "".join(parts), columns
