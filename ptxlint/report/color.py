"""Colour for terminals, through rich. Loaded only where colour is wanted."""

from __future__ import annotations

from rich.color import ColorSystem
from rich.style import Style


def painted(line: list[tuple[str, str]]) -> str:
    """The pieces of a line, each in its style, with ANSI codes."""
    return "".join(
        Style.parse(style).render(text, color_system=ColorSystem.STANDARD) if style else text
        for text, style in line
    )
