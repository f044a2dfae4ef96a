"""GPU targets as PTX names them: order, suffixes, families.

Source: every ``.version`` × ``.target`` tried on ptxas 13.5. ``sm_90a`` code runs on 9.0 only;
``sm_100f`` code on the family of 10.x from 10.0 on.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

Version = tuple[int, int]

# Numbers of one family: code for an `f` target runs on the same and higher ones of its family.
FAMILIES = (frozenset({100, 103, 107}), frozenset({101, 110}), frozenset({120, 121}))


class Target(NamedTuple):
    """``sm_90a``: number 90, suffix ``a`` (this GPU only), ``f`` (its family) or empty."""

    number: int
    suffix: str

    def __str__(self) -> str:
        return f"sm_{self.number}{self.suffix}"

    @classmethod
    def parse(cls, text: str) -> Target | None:
        """A target from ``sm_90a`` or ``compute_90a``; None for anything else."""
        match = re.fullmatch(r"(?:sm|compute)_(\d+)([af]?)", text)
        return cls(int(match.group(1)), match.group(2)) if match else None

    def meets(
        self,
        minimum: str | None,
        specific: Collection[str] = (),
        not_on: Collection[str] = (),
    ) -> bool:
        """Whether this target has a feature.

        ``minimum`` is the lowest plain target that has it: all higher ones do, but for ``not_on``.
        ``specific`` are architecture-specific ones: ``sm_90a`` that one, ``sm_100f`` the ``f`` and
        ``a`` targets of its family from that number on, ``=sm_100f`` that one alone.
        """
        if str(self) in not_on or f"sm_{self.number}" in not_on:
            return False
        if minimum is not None and self.number >= int(re.sub(r"\D", "", minimum)):
            return True
        return any(self._is(name) for name in specific)

    def runs_on(self, gpu: Target) -> bool:
        """Whether PTX for this target runs on a GPU (whose own suffix does not matter).

        Plain targets run on later ones too, ``f`` targets within their family, ``a`` on their own.
        """
        if self.suffix == "a":
            return self.number == gpu.number
        if self.suffix == "f":
            family = any({self.number, gpu.number} <= family for family in FAMILIES)
            return family and self.number <= gpu.number
        return self.number <= gpu.number

    def _is(self, name: str) -> bool:
        if name.startswith("="):
            return str(self) == name[1:]
        other = Target.parse(name)
        if other is None:
            return False
        if other.suffix != "f":
            return self == other
        return (
            bool(self.suffix)
            and self.number >= other.number
            and any({self.number, other.number} <= family for family in FAMILIES)
        )


def version(text: str) -> Version:
    """``"8.0"`` as (8, 0)."""
    major, minor = text.split(".")
    return int(major), int(minor)
