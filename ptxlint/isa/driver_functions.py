"""Functions that the driver (or another loader) brings: called in PTX, defined in none."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..resources import isa_data


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = isa_data("driver_functions.json")
    return table


def is_known(name: str) -> bool:
    """Whether a call of ``name`` is resolved without a definition in the PTX."""
    table = _table()
    return name in table["names"] or name.startswith(tuple(table["prefixes"]))
