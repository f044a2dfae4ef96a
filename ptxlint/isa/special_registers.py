"""The special registers of PTX: names, types, first version and target."""

from __future__ import annotations

from functools import cache

from ..resources import isa_data


@cache
def names() -> frozenset[str]:
    """All names, of vectors (``%tid``) as of their components (``%tid.x``)."""
    components = isa_data("special_registers.json")["registers"]
    return frozenset(components) | {name.split(".")[0] for name in components}
