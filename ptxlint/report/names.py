"""Kernel names short enough to read."""

from __future__ import annotations

WIDTH = 80


def shorten(name: str, width: int = WIDTH) -> str:
    """A demangled name of at most ``width`` characters, as far as its own parts allow.

    The return type goes first, then the parameters, then the template arguments; each leaves
    ``…``. A name that is too long even so is cut at its end.
    """
    if len(name) <= width:
        return name
    head, rest = _function(name)
    if len(head) + len(rest) > width and rest:
        rest = "(…)"
    if len(head) + len(rest) > width:
        head = _without_arguments(head)
    text = head + rest
    return text if len(text) <= width else text[: width - 1] + "…"


def _function(name: str) -> tuple[str, str]:
    """The qualified name with its template arguments, and the parameters in parentheses."""
    depth = 0
    begin, end = 0, len(name)
    for at, char in enumerate(name):
        if char in "<(":
            if char == "(" and depth == 0 and not name.startswith("(anonymous namespace)", at):
                end = at
                break
            depth += 1
        elif char in ">)":
            depth -= 1
        elif char == " " and depth == 0:
            begin = at + 1
    return name[begin:end], name[end:]


def _without_arguments(name: str) -> str:
    """The name with ``<…>`` for each list of template arguments at the outermost level."""
    parts = []
    depth = 0
    for char in name:
        if char == "<":
            if depth == 0:
                parts.append("<…>")
            depth += 1
        elif char == ">":
            depth -= 1
        elif depth == 0:
            parts.append(char)
    return "".join(parts)
