"""The constants that ptxas takes at an operand."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ..resources import isa_data


class Range(NamedTuple):
    """``operand`` must lie between ``low`` and ``high``, be a multiple, or one of ``values``."""

    operand: int
    what: str
    low: int | None
    high: int | None
    multiple: int | None
    values: tuple[int, ...]

    def allows(self, value: int) -> bool:
        """Whether ptxas takes the constant."""
        if self.values and value not in self.values:
            return False
        if self.low is not None and value < self.low:
            return False
        if self.high is not None and value > self.high:
            return False
        return self.multiple is None or value % self.multiple == 0

    def __str__(self) -> str:
        if self.values:
            first, last = ", ".join(map(str, self.values[:-1])), str(self.values[-1])
            return f"{first} or {last}" if first else last
        multiple = f"a multiple of {self.multiple}" if self.multiple else ""
        limits = f"{self.low} to {self.high}" if self.low is not None else ""
        return ", ".join(part for part in (multiple, limits) if part)


@cache
def ranges_of(mnemonic: str, modifiers: tuple[str, ...]) -> tuple[Range, ...]:
    """The ranges of an opcode's operands; few opcodes have any."""
    found = []
    for row in _rows().get(mnemonic, ()):
        # A space may be written as shared::cta.
        given = tuple(m.split("::")[0] for m in modifiers)
        fixed = tuple(row["opcode"].split(".")[1:])
        if given[: len(fixed)] == fixed and set(row.get("with", ())) <= set(modifiers):
            limits = (row.get("low"), row.get("high"), row.get("multiple"))
            values = tuple(row.get("values", ()))
            found.append(Range(row["operand"], row["what"], *limits, values))
    return tuple(found)


@cache
def mnemonics() -> frozenset[str]:
    """The mnemonics of which some operand has a range."""
    return frozenset(_rows())


@cache
def _rows() -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in isa_data("operand_ranges.json")["ranges"]:
        rows.setdefault(row["opcode"].split(".")[0], []).append(row)
    return rows
