"""From which version and on which targets PTX has an opcode, a special register or a feature.

``data/gates.json`` holds the answers of ``instructions`` for the opcodes that files are made of,
so that an ordinary file needs none of its larger tables; a test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..resources import isa_data
from .targets import Target, Version, version

if TYPE_CHECKING:
    from .instructions import Form


class Gate(NamedTuple):
    """One way in: since ``since`` (up to ``until``) on the targets that ``Target.meets`` names.

    ``operands`` is how many the form has, None where that does not tell forms apart.
    """

    since: Version
    minimum: str | None = "sm_10"
    specific: tuple[str, ...] = ()
    not_on: tuple[str, ...] = ()
    since_on: tuple[tuple[str, Version], ...] = ()
    until: Version | None = None
    operands: int | None = None

    def on(self, target: Target) -> bool:
        """Whether ``target`` has it. sm_101 became sm_110."""
        known = Target(110, target.suffix) if target.number == 101 else target
        return known.meets(self.minimum, self.specific, self.not_on)

    def since_for(self, target: Target) -> Version:
        """The first version that has it on ``target``."""
        if target.number == 101 and not self._plain(target):
            return (8, 8) if target.suffix == "f" else (8, 6)
        return dict(self.since_on).get(str(target), self.since)

    def _plain(self, target: Target) -> bool:
        return target.meets(self.minimum, (), self.not_on)


class Lack(NamedTuple):
    """Why a version and target don't have something.

    ``version`` is the first that has it on this target; ``until`` the last one that did, for what
    was dropped; both None where the target never has it.
    """

    version: Version | None = None
    until: Version | None = None


def lack(gates: tuple[Gate, ...], at: Version | None, target: Target | None) -> Lack | None:
    """What is lacking to use something, None if nothing is or nothing is known of it."""
    here = [gate for gate in gates if target is None or gate.on(target)]
    if not here:
        return Lack() if gates else None
    if at is None:
        return None
    since = [gate.since_for(target) if target else gate.since for gate in here]
    open_ = [
        first <= at and (gate.until is None or at <= gate.until)
        for gate, first in zip(here, since, strict=True)
    ]
    if any(open_):
        return None
    later = [first for first in since if first > at]
    if later:
        return Lack(version=min(later))
    return Lack(until=max(gate.until for gate in here if gate.until is not None))


@cache
def opcode_gates(mnemonic: str, modifiers: tuple[str, ...]) -> tuple[Gate, ...]:
    """The ways in for an opcode; empty if it is not known."""
    ready = _ready().get(".".join((mnemonic, *modifiers)))
    if ready is not None:
        return ready
    return worked_out(mnemonic, modifiers)


def worked_out(mnemonic: str, modifiers: tuple[str, ...]) -> tuple[Gate, ...]:
    """The ways in for an opcode, from the tables of its forms."""
    from .instructions import forms  # large tables, of no use to ordinary files

    counted = {_gate(form, len(form.access)) for form in forms(mnemonic, modifiers)}
    counted = _no_lower(counted)
    counted.update([earlier for gate in counted for earlier in _earlier(mnemonic, gate)])
    by_count: dict[int | None, set[Gate]] = {}
    for gate in counted:
        by_count.setdefault(gate.operands, set()).add(gate._replace(operands=None))
    if len({frozenset(gates) for gates in by_count.values()}) > 1:
        return tuple(sorted(counted, key=repr))
    return tuple(sorted({gate._replace(operands=None) for gate in counted}, key=repr))


def _no_lower(gates: set[Gate]) -> set[Gate]:
    """Forms that were dropped for later targets begin no lower than those that were kept."""
    kept = [int(gate.minimum[3:]) for gate in gates if gate.until is None and gate.minimum]
    if not kept:
        return gates
    lowest = f"sm_{min(kept)}"
    return {gate if gate.until is None else gate._replace(minimum=lowest) for gate in gates}


def _earlier(mnemonic: str, gate: Gate) -> Iterator[Gate]:
    """The gate of the targets that had a form before its lowest one."""
    for row in _features()["earlier"]:
        same = version(row["since"]) == gate.since and row["minimum"] == gate.minimum
        if same and mnemonic in row["mnemonics"]:
            yield gate._replace(since=version(row["also_since"]), minimum=row["also_minimum"])


def fitting(gates: tuple[Gate, ...], operands: int) -> tuple[Gate, ...]:
    """The gates of the forms with that many operands; all of them where none has."""
    found = tuple(gate for gate in gates if gate.operands in (None, operands))
    return found or gates


def _gate(form: Form, operands: int) -> Gate:
    return Gate(
        form.since,
        form.min_target,
        form.specific,
        form.not_on,
        tuple(sorted(form.since_on.items())),
        form.until,
        operands,
    )


@cache
def _ready() -> dict[str, tuple[Gate, ...]]:
    table: dict[str, tuple[Gate, ...]] = {}
    for row in isa_data("gates.json")["rows"]:
        gates = tuple(_read(gate) for gate in row["gates"])
        table.update(dict.fromkeys(row["opcodes"].split(), gates))
    return table


def _read(row: dict[str, Any]) -> Gate:
    return Gate(
        version(row["since"]),
        row.get("minimum", "sm_10"),
        tuple(row.get("specific", ())),
        tuple(row.get("not_on", ())),
        tuple((name, version(text)) for name, text in row.get("since_on", {}).items()),
        version(row["until"]) if "until" in row else None,
    )


class Feature(NamedTuple):
    """What is no instruction and has a first version: a directive, a type, a debug section."""

    kind: str
    name: str
    what: str
    needle: str
    gate: Gate


@cache
def _features() -> Any:
    return isa_data("features.json")


@cache
def features() -> tuple[Feature, ...]:
    """All features; a file without ``needle`` in its text has none."""
    return tuple(
        Feature(row["kind"], row["name"], row["what"], row.get("needle", ""), _read(row))
        for row in _features()["features"]
    )


@cache
def register_gates() -> dict[str, tuple[Gate, ...]]:
    """The special registers that not every version and target has."""
    rows = isa_data("special_registers.json")["registers"]
    found: dict[str, tuple[Gate, ...]] = {
        name: (Gate(version(row["since"]), row["min_target"] or "sm_10"),)
        for name, row in rows.items()
        if row["since"] != "1.0"
    }
    found.update({name.partition(".")[0]: gates for name, gates in found.items()})
    return found


@cache
def register_needles() -> dict[str, tuple[Gate, ...]]:
    """Texts one of which stands in each of those registers' names, and the gates behind it."""
    gates = register_gates()
    return {
        needle: tuple({gate for name in gates if needle in name for gate in gates[name]})
        for needle in _features()["register_needles"]
    }


def instead(mnemonic: str, modifiers: tuple[str, ...]) -> str | None:
    """What does the same where an opcode is not to be had; None where nothing is known."""
    given = {*modifiers, *(_LIKE[m] for m in modifiers if m in _LIKE)}
    for row in _features()["instead"]:
        if mnemonic in row["mnemonics"] and given.issuperset(row["modifiers"]):
            text: str = row["help"]
            return text
    return None


_LIKE = {"u64": "b64", "s64": "b64", "f64": "b64"}
