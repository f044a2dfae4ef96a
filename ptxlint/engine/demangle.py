"""C++ names of kernels, as people write them."""

from __future__ import annotations

import re
from functools import lru_cache

_LENGTH = re.compile(r"\d{1,9}")
_TAG = re.compile(r"\[abi:([^\]]*)\]")
_TAGS = re.compile(rf"(?:{_TAG.pattern}){{2,}}")


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
    return _in_order(text, name) or _qualified(name) or name


def _in_order(text: str, name: str) -> str:
    """With ABI tags in the order of the mangled name: the parser keeps them as a set, whose order
    is another one in each run.
    """

    def place(tag: str) -> int:
        return name.find(f"B{len(tag)}{tag}")

    def ordered(tags: re.Match[str]) -> str:
        return "".join(f"[abi:{tag}]" for tag in sorted(_TAG.findall(tags[0]), key=place))

    return _TAGS.sub(ordered, text)


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
