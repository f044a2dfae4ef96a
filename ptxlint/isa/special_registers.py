"""The special registers of PTX: names, types, first version and target."""

from __future__ import annotations

from functools import cache

from ..resources import isa_data


@cache
def names() -> frozenset[str]:
    """All names, of vectors (``%tid``) as of their components (``%tid.x``)."""
    components = isa_data("special_registers.json")["registers"]
    return frozenset(components) | {name.split(".")[0] for name in components}


def type_of(name: str) -> str | None:
    """The type of a component or scalar (``%tid.x``); None for a whole vector."""
    row = _registers().get(name)
    return None if row is None else row["type"]


@cache
def _registers() -> dict[str, dict[str, str]]:
    """The rows of the table."""
    registers: dict[str, dict[str, str]] = isa_data("special_registers.json")["registers"]
    return registers
