"""Targets and gates in words."""

from __future__ import annotations

from collections.abc import Iterable

from .gates import Gate
from .targets import Target

_SUFFIXES = ("", "f", "a")


def where(gates: Iterable[Gate], near: Target) -> str:
    """The targets that have something: ``sm_90 or higher``, ``sm_90a (architecture-specific)``.

    Of specific ones, those of ``near``'s number alone where there are any.
    """
    minimum, specific = lowest(gates)
    specific = [t for t in specific if t.number == near.number] or specific
    parts = [f"{minimum} or higher"] if minimum is not None else []
    if specific:
        kind = (
            "family-specific" if all(t.suffix == "f" for t in specific) else "architecture-specific"
        )
        parts.append(f"{' or '.join(map(str, specific))} ({kind})")
    return ", or ".join(parts)


def lowest(gates: Iterable[Gate]) -> tuple[Target | None, list[Target]]:
    """The lowest plain target, and the specific ones that are below it."""
    minimum: Target | None = None
    names: set[str] = set()
    for gate in gates:
        if gate.minimum is not None:
            plain = Target(int(gate.minimum.removeprefix("sm_")), "")
            minimum = plain if minimum is None else min(minimum, plain)
        names.update(name.lstrip("=") for name in gate.specific)
    found = [target for name in names if (target := Target.parse(name)) is not None]
    specific = [t for t in found if minimum is None or t.number < minimum.number]
    return minimum, sorted(specific, key=lambda t: (t.number, _SUFFIXES.index(t.suffix)))
