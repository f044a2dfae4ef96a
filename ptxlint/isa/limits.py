"""What a GPU target can hold."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from ..resources import isa_data

_TARGET = re.compile(r"(?:(?:sm|compute)_(\d+)(\d)|(\d+)\.(\d))([af]?)")


class Limits(NamedTuple):
    """What an SM of one compute capability holds: registers, bytes, threads, warps, blocks.

    ``register_unit``: registers that a warp gets are multiples of it; ``shared_unit`` the same of a
    block's bytes, of which the system takes ``shared_reserved``. ``shared_optin`` is the most that
    a launch can ask for, None where not published; ``barriers_per_sm`` None where they do not
    limit blocks.
    """

    registers_per_thread: int
    registers_per_block: int
    registers_per_sm: int
    register_unit: int
    sub_partitions: int
    shared_per_sm: int
    shared_optin: int | None
    shared_unit: int
    shared_reserved: int
    threads_per_block: int
    warps_per_sm: int
    blocks_per_sm: int
    barriers_per_sm: int | None


_OPTIONAL = frozenset({"shared_optin", "barriers_per_sm"})


def limits(target: str) -> Limits | None:
    """The limits of a target (``sm_80``, ``8.0``); None where they are not published."""
    row = _row(target)[0]
    found: list[Any] = [row.get(name) for name in Limits._fields]
    known = zip(Limits._fields, found, strict=True)
    if any(value is None and name not in _OPTIONAL for name, value in known):
        return None
    return Limits(*found)


def capabilities() -> list[str]:
    """The compute capabilities whose limits are known, ascending: ``5.0`` …"""
    return [name for name in _capabilities() if limits(name) is not None]


def static_shared_limit(target: str) -> int | None:
    """Bytes of static shared memory that ptxas allows a kernel; None for an unknown target.

    48 KiB on base and ``f`` targets; ``a`` targets may use all that a launch can opt in to.
    """
    row, suffix = _row(target)
    limit: int | None = row.get("shared_static_arch_specific" if suffix == "a" else "shared_static")
    return limit


def double_precision_share(target: str) -> float | None:
    """Double-precision multiply-adds for each in single precision; None where not published."""
    row = _row(target)[0]
    double, single = row.get("fp64_per_clock"), row.get("fp32_per_clock")
    return double / single if double and single else None


def shared_optin_limit(target: str) -> int | None:
    """Bytes of shared memory that a launch can ask for; None where that is not known."""
    limit: int | None = _row(target)[0].get("shared_optin")
    return limit


def _row(target: str) -> tuple[dict[str, Any], str]:
    match = _TARGET.fullmatch(target)
    if match is None:
        return {}, ""
    major, minor = match[1] or match[3], match[2] or match[4]
    return _capabilities().get(f"{major}.{minor}", {}), match[5]


@cache
def _capabilities() -> dict[str, dict[str, Any]]:
    table: dict[str, dict[str, Any]] = isa_data("limits.json")["compute_capability"]
    return table
