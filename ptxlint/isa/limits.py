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
    row, suffix = _row(target)
    limit: int | None = row.get("shared_static_arch_specific" if suffix == "a" else "shared_static")
    return limit


def shared_optin_limit(target: str) -> int | None:
    """Bytes of shared memory that a launch can ask for; None where that is not known."""
    limit: int | None = _row(target)[0].get("shared_optin")
    return limit


def _row(target: str) -> tuple[dict[str, Any], str]:
    match = _TARGET.fullmatch(target)
    if match is None:
        return {}, ""
    major, minor, suffix = match.groups()
    return _capabilities().get(f"{major}.{minor}", {}), suffix


@cache
def _capabilities() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = isa_data("limits.json")["compute_capability"]
    return table
