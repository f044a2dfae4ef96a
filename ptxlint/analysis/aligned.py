"""A unified diff of two normal forms in which one insertion does not renumber all that follows."""

from __future__ import annotations

from collections.abc import Iterator

from .fingerprint import Numbering
from .normal import Line, Name, Normal

_CONTEXT = 2


def aligned_texts(before: Normal, after: Normal) -> Iterator[str]:
    """The lines of the diff, without a head.

    Both forms are put side by side with all names blank; a name of the second then takes the
    number of the one that stands in its place in the first.
    """
    from difflib import SequenceMatcher, unified_diff

    numbering = Numbering(before.fixed)
    texts = numbering.texts(before)
    other = Numbering(after.fixed)
    other.counts = dict(numbering.counts)
    taken: set[str] = set()
    one, two = before.body, after.body
    matcher = SequenceMatcher(None, [_blank(line) for line in one], [_blank(line) for line in two])
    for i, j, count in matcher.get_matching_blocks():
        for left, right in zip(one[i : i + count], two[j : j + count], strict=True):
            for name, twin in zip(_names(left), _names(right), strict=True):
                text = numbering.name(name)
                if twin not in other.names and text not in taken:
                    other.names[twin] = text
                    taken.add(text)
    lines = unified_diff(texts, other.texts(after), lineterm="", n=_CONTEXT)
    return (line for line in lines if not line.startswith(("--- ", "+++ ")))


def _blank(line: Line) -> str:
    return "".join([piece if isinstance(piece, str) else f"{piece.kind}#" for piece in line])


def _names(line: Line) -> list[Name]:
    return [piece for piece in line if isinstance(piece, Name)]
