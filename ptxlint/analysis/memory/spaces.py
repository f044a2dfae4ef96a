"""Which forms of addresses fit which uses: an offset in a window of a space, or a generic address.

PTX ISA, "Generic Addressing": .shared, .local, .const and kernel parameters are windows of the
generic address space, and ``mov`` of a symbol gives its place in the window; all else of the
generic addresses is global memory, so that a global address is a generic one as it is.
"""

from __future__ import annotations

from functools import cache

# What is wrong: an offset in a window taken for a generic address, a generic address taken for an
# offset, an address of another space, a conversion of what is converted already.
RAW, GENERIC, OTHER, TWICE = "raw", "generic", "other", "twice"
WINDOWS = frozenset({"shared", "local", "const", "param"})
SPACES = WINDOWS | {"global"}
PREFIX = "generic:"


@cache
def used(form: str, wanted: str) -> str | None:
    """What is wrong where an access in ``wanted`` space is given an address of that form."""
    if form == "global" or form == f"{PREFIX}global":
        return OTHER if wanted in WINDOWS else None
    if form in WINDOWS:
        if wanted == "generic":
            return RAW
        return OTHER if wanted != form and wanted in SPACES else None
    if form.startswith(PREFIX):
        held = form.removeprefix(PREFIX)
        if wanted == held:
            return GENERIC
        return OTHER if wanted in SPACES else None
    return None


@cache
def converted(form: str, to: bool, space: str) -> str | None:
    """What is wrong where cvta to or from ``space`` is given an address of that form."""
    held = form.removeprefix(PREFIX)
    generic = form.startswith(PREFIX)
    if held == "generic" or held not in SPACES:
        return None
    if held == "global":  # its generic address is the same
        return OTHER if space != "global" else None
    if to:
        if not generic:
            return TWICE if held == space else RAW if space == "global" else OTHER
        return OTHER if held != space else None
    if generic:
        return TWICE if space != "global" else None
    return OTHER if held != space and space != "global" else None
