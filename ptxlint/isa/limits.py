"""What a GPU target can hold."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ..resources import isa_data

_TARGET = re.compile(r"(?:sm|compute)_(\d+)(\d)([af]?)")


def static_shared_limit(target: str) -> int | None:
    """Bytes of static shared memory that ptxas allows a kernel; None for an unknown target.

    48 KiB on base and ``f`` targets; ``a`` targets may use all that a launch can opt in to.
    """
    match = _TARGET.fullmatch(target)
    if match is None:
        return None
    major, minor, suffix = match.groups()
    known = _capabilities().get(f"{major}.{minor}")
    if known is None:
        return None
    field = "shared_optin_per_block" if suffix == "a" else "shared_static_per_block"
    limit: int | None = known[field]
    return limit


@cache
def _capabilities() -> dict[str, Any]:
    table: dict[str, Any] = isa_data("limits.json")["compute_capability"]
    return table
