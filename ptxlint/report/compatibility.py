"""What ``ptxlint compat`` prints: text for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import NamedTuple

from ..analysis.compatibility import Compatibility, Reason, verdict


class Row(NamedTuple):
    """What the PTX of a file or of an image in it needs; or the targets of its machine code."""

    path: str
    member: str | None
    found: Compatibility | None
    cubins: tuple[str, ...] = ()


def text(rows: Sequence[Row], driver: str | None) -> str:
    """Some lines for each file."""
    return "\n".join("\n".join(_lines(row, driver)) + "\n" for row in rows)


def _lines(row: Row, driver: str | None) -> list[str]:
    name = row.path if row.member is None else f"{row.path}!{row.member}"
    found = row.found
    if found is None:
        return [name, f"  machine code    {', '.join(row.cubins)}"]
    says = f"PTX ISA {found.claimed_version or 'none'}, {found.claimed_target or 'no target'}"
    lines = [
        name,
        f"  says            {says}",
        f"  PTX ISA         {found.version_as_is or 'none fits'}{_why(found.version_as_is_reason)}",
        f"  oldest driver   {_driver(found)}{_why(found.driver_reason)}",
        f"  lowest target   {_target(found)}",
    ]
    lines += [f"  could be lower  {what}" for what in _lower(found)]
    if driver is not None:
        lines.append(f"  driver {driver:<8} {verdict(found, driver)[1]}")
    if found.unknown:
        names = ", ".join(found.unknown[:5]) + (" ..." if len(found.unknown) > 5 else "")
        lines.append(f"  not known       what these need: {names}")
    if not found.complete:
        lines.append(
            "  not read        part of the file: it may need more (ptxlint check says where)"
        )
    return lines


def _target(found: Compatibility) -> str:
    if found.target is None:
        return "no target has all of it"
    why = _why(found.target_reason) if found.target_reason else "  nothing needs a higher one"
    return f"{found.target}{why}"


def _driver(found: Compatibility) -> str:
    if found.version_as_is is None:
        return "not known"
    return (
        f"{found.driver} (Linux)"
        if found.driver not in (None, "any")
        else found.driver or "not known"
    )


def _why(reason: Reason | None) -> str:
    if reason is None:
        return ""
    return f"  {reason.what}" + (f", line {reason.line}" if reason.line is not None else "")


def _lower(found: Compatibility) -> list[str]:
    """What the file says that could be lower."""
    lines = []
    if found.lower_version is not None:
        lines.append(f".version {found.lower_version} with {found.claimed_target}")
    if found.lower_target is not None:
        lines.append(f".target {found.lower_target} with .version {found.version} or later")
    return lines


def json_text(rows: Sequence[Row], driver: str | None) -> str:
    """One versioned object."""
    files = []
    for path, member, found, cubins in rows:
        row: dict[str, object] = {"path": path, "member": member}
        files.append(row)
        if found is None:
            row["machine_code"] = list(cubins)
            continue
        row.update(asdict(found))
        row["lower_version"], row["lower_target"] = found.lower_version, found.lower_target
        if driver is not None:
            takes, why = verdict(found, driver)
            row["asked"] = {"driver": driver, "takes": takes, "why": why}
    return json.dumps({"schema_version": 1, "files": files}, indent=1) + "\n"
