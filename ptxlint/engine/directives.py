"""Suppression comments: where they are in the text, and what they say.

// ptxlint: ignore[PTX301, bank-conflict] -- reason
// ptxlint: disable[PTX301]  …  // ptxlint: enable[PTX301]
// ptxlint: file-ignore[PTX301]
"""

from __future__ import annotations

import re
from typing import NamedTuple

MARK = "ptxlint:"
KINDS = ("ignore", "disable", "enable", "file-ignore")

# A string before a comment sign hides it, a comment sign before a quote hides that one.
_TOKEN = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_DIRECTIVE = re.compile(r"\s*ptxlint:\s*(?P<kind>[\w-]*)\s*(?P<list>\[(?P<names>[^\]\n]*)\])?")


class Directive(NamedTuple):
    """One suppression comment.

    ``kind`` is the word after ``ptxlint:`` as written, known or not. ``names`` are the codes and
    names in brackets, each with the offset where it begins. ``start`` and ``end`` are the
    comment's offsets, ``stop`` is where its brackets (or its kind) end.
    """

    kind: str
    names: tuple[tuple[str, int], ...]
    start: int
    stop: int
    end: int


def directives(text: str) -> list[Directive]:
    """All suppression comments of a PTX text, in order."""
    if MARK not in text:
        return []
    found = []
    for token in _TOKEN.finditer(text):
        start = token.start()
        if text[start] != '"' and MARK in token[0]:
            match = _DIRECTIVE.match(text, start + 2, token.end())
            if match:
                found.append(_directive(match, start, token.end()))
    return found


def _directive(match: re.Match[str], start: int, end: int) -> Directive:
    at = match.start("names")
    words = re.finditer(r"[^,\s](?:[^,]*[^,\s])?", match["names"] or "")
    names = tuple((word[0], at + word.start()) for word in words)
    return Directive(match["kind"], names, start, match.end(), end)
