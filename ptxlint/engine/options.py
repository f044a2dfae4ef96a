"""What a run may be told: one frozen value, which rules see as ``facts.options``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from ..model import Severity


class UsageError(ValueError):
    """The caller asked for something that can't be: an unknown code, a malformed value."""


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of one run.

    ``select`` empty means the default set. ``target`` is the GPU to check against (``sm_80``),
    None means the file's own. ``block`` is the launch shape (x, y, z) in threads. ``driver`` is
    the Linux driver that is to take the file (``535``, ``535.54.03``). ``metadata`` is the text of
    the JSON that Triton keeps beside a kernel, for the launch shape. ``severity`` holds pairs
    (code, level) that replace a rule's own level. ``fail_on`` is the lowest level that makes the
    exit status 1, None for never; it changes no finding. ``verbose`` puts the
    traceback of a rule that failed into its PTX999 finding.
    """

    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_ignore: tuple[str, ...] = ()
    preview: bool = False
    target: str | None = None
    block: tuple[int, int, int] | None = None
    metadata: str | None = None
    driver: str | None = None
    severity: tuple[tuple[str, Severity], ...] = ()
    fail_on: Severity | None = field(default=Severity.WARNING, compare=False)
    verbose: bool = False

    @classmethod
    def of(cls, **given: Any) -> Options:
        """Options from plain values, as the Python API and the command line have them.

        Selections may be a string (``"PTX3,bank-conflict"``) or an iterable of strings; ``block``
        a string (``"256,1,1"``) or a sequence of one to three numbers; ``severity`` a mapping of
        code to level; ``fail_on`` a level or ``"never"``. Raises UsageError.
        """
        known = {f.name for f in fields(cls)}
        for name in given:
            if name not in known:
                raise UsageError(f"unknown option {name!r}{did_you_mean(name, known)}")
        for name in ("select", "extend_select", "ignore", "extend_ignore"):
            if name in given:
                given[name] = names(given[name])
        if given.get("target") is not None:
            given["target"] = target(given["target"])
        if given.get("block") is not None:
            given["block"] = block(given["block"])
        if given.get("driver") is not None:
            given["driver"] = driver(given["driver"])
        if "severity" in given:
            levels = dict(given["severity"])
            given["severity"] = tuple((code, level(value)) for code, value in levels.items())
        if "fail_on" in given:
            value = given["fail_on"]
            given["fail_on"] = None if value in (None, "never") else level(value)
        return cls(**given)

    def key(self) -> str:
        """A text that is equal for options that give equal findings."""
        return repr(tuple(getattr(self, f.name) for f in fields(self) if f.compare))


def names(value: str | Iterable[str]) -> tuple[str, ...]:
    """Codes and names out of a comma-separated string or an iterable of such strings."""
    parts = [value] if isinstance(value, str) else list(value)
    return tuple(name.strip() for part in parts for name in part.split(",") if name.strip())


def target(value: str) -> str:
    """A target as PTX spells it; raises UsageError."""
    if not re.fullmatch(r"(sm|compute)_\d{2,3}[af]?", value):
        raise UsageError(f"not a target: {value!r} (targets are written as in PTX: sm_80, sm_90a)")
    return value


def block(value: str | Iterable[int]) -> tuple[int, int, int]:
    """A block shape in threads; missing sizes are 1. Raises UsageError."""
    parts = value.split(",") if isinstance(value, str) else list(value)
    try:
        sizes = [int(part) for part in parts]
    except ValueError:
        sizes = []
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise UsageError(f"not a block shape: {value!r} (written as threads x,y,z: 256,1,1)")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def driver(value: str | int) -> str:
    """A driver's branch or version as a text; raises UsageError."""
    from ..isa.versions import branch

    if branch(str(value)) is None:
        raise UsageError(f"not a driver: {value!r} (written as branch or version: 535, 535.54.03)")
    return str(value)


def level(value: str | Severity) -> Severity:
    """A severity by name; raises UsageError."""
    try:
        return Severity(value)
    except ValueError:
        raise UsageError(f"not a level: {value!r} (error, warning or info)") from None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the closest known word, or nothing."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
