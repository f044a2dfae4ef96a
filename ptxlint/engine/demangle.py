"""C++ names of kernels, as people write them."""

from __future__ import annotations

import re
from functools import lru_cache

_LENGTH = re.compile(r"\d{1,9}")


@lru_cache(maxsize=4096)
def demangle(name: str) -> str:
    """The C++ name behind an Itanium-mangled one; any other name comes back as it is.

    Where the parser does not know a construct (closure types, decltype) the qualified name is
    still given, with ``…`` for what follows it.
    """
    if not name.startswith("_Z"):
        return name
    from itanium_demangler import parse

    try:
        # Whatever a hostile name makes the parser raise, the finding must still come out.
        tree = parse(name)
        text = "" if tree is None else str(tree)
    except Exception:
        text = ""
    return text or _qualified(name) or name


def _qualified(name: str) -> str:
    """The leading qualified name of a mangled one, without arguments; empty if there is none."""
    at = 2
    nested = name.startswith("N", at)
    if nested:
        at += 1
        while name[at : at + 1] in ("K", "V", "r", "R", "O"):
            at += 1
    parts = []
    if name.startswith("St", at):
        parts.append("std")
        at += 2
    while match := _LENGTH.match(name, at):
        at = match.end() + int(match[0])
        part = name[match.end() : at]
        if len(part) < int(match[0]):
            return ""
        parts.append("(anonymous namespace)" if part.startswith("_GLOBAL__N") else part)
        if not nested and parts != ["std"]:
            break
    if not parts or parts == ["std"]:
        return ""
    rest = name[at : at + 1]
    return "::".join(parts) + ("<…>" if rest == "I" else "(…)" if rest else "")
