"""The operands of the warp-level instructions that take a member mask."""

from __future__ import annotations

from functools import cache

from ..resources import isa_data


def operands_of(mnemonic: str, modifiers: tuple[str, ...]) -> tuple[str, ...] | None:
    """Names of the operands in order; None for an instruction that is not of the table."""
    for form_modifiers, names in _forms().get(mnemonic, ()):
        if form_modifiers.issubset(modifiers):
            return names
    return None


@cache
def _forms() -> dict[str, list[tuple[frozenset[str], tuple[str, ...]]]]:
    table: dict[str, list[tuple[frozenset[str], tuple[str, ...]]]] = {}
    for form in isa_data("warp_operands.json")["forms"]:
        entry = (frozenset(form["modifiers"]), tuple(form["operands"]))
        table.setdefault(form["mnemonic"], []).append(entry)
    return table
