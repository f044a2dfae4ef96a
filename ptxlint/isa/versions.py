"""PTX versions, the CUDA releases and drivers that came with them, and the targets they know."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ..resources import isa_data
from .targets import Target, Version, version


class Release(NamedTuple):
    """A PTX version: its CUDA release, and the oldest Linux driver with it (None: not known).

    ``unofficial``: assemblers take the number, but no release made it its own.
    """

    version: Version
    cuda: str
    driver: str | None
    unofficial: bool = False


@cache
def _data() -> Any:
    return isa_data("versions.json")


@cache
def releases() -> dict[Version, Release]:
    """All PTX versions that there are, oldest first."""
    rows = _data()["versions"]
    found = [
        Release(version(text), row["cuda"], row["driver"], row.get("unofficial", False))
        for text, row in rows.items()
    ]
    return {release.version: release for release in sorted(found)}


@cache
def latest() -> Version:
    """The newest version of the table."""
    return max(releases())


@cache
def targets() -> dict[str, Version]:
    """Each target and the first version that knows it, plain ones before ``f`` and ``a``."""
    return {name: version(text) for name, text in _data()["targets"].items()}


def first_version(target: str) -> Version | None:
    """The first version that knows a target (``sm_90a``, ``compute_90a``); None: not known."""
    parsed = Target.parse(target)
    return None if parsed is None else targets().get(str(parsed))


def never_made(target: str) -> bool:
    """Whether ``target`` names a GPU that is not in the table though higher ones are."""
    parsed = Target.parse(target)
    if parsed is None or first_version(target) is not None:
        return False
    return parsed.number < max(known.number for name in targets() if (known := Target.parse(name)))


def text(of: Version) -> str:
    """(8, 0) as ``8.0``."""
    return f"{of[0]}.{of[1]}"


def branch(driver: str) -> int | None:
    """The branch of a driver: 535 of ``535``, ``R535`` and ``535.54.03``; None for other texts."""
    head, *rest = driver.strip().lstrip("Rr").split(".")
    numbers = [head, *rest]
    if len(numbers) > 3 or not all(n.isdecimal() for n in numbers) or not 3 <= len(head) <= 4:
        return None
    return int(head)


@cache
def branches() -> dict[int, Version]:
    """Each Linux driver branch that is known, and the highest version that it takes."""
    return {int(name): version(text) for name, text in _data()["branches"].items()}


def highest_for(driver: int) -> tuple[Version | None, bool]:
    """The highest version that a driver branch is known to take, and whether that is its limit.

    A branch that is not in the table takes at least what the last one before it does.
    """
    if driver in branches():
        return branches()[driver], True
    older = [name for name in branches() if name < driver]
    return (branches()[max(older)] if older else None), False


def any_driver(needed: Version) -> bool:
    """Whether every driver in use takes a version: those of CUDA 7.5 and before."""
    return needed <= version(_data()["any_driver_up_to"])


def ungated(mnemonic: str, modifiers: tuple[str, ...]) -> Version | None:
    """The version of the first release that took an opcode, where ``.version`` may say less.

    A newer assembler takes it at an older ``.version``, an older one refuses it there.
    """
    given = set(modifiers)
    for row in _data()["ungated"]:
        types = not row["types"] or given.intersection(row["types"])
        if types and mnemonic in row["mnemonics"] and given.issuperset(row["modifiers"]):
            return version(row["version"])
    return None
