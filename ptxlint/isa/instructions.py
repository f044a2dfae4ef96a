"""Which opcodes PTX has: forms, modifiers, operands, first version and target.

The data (``data/instructions/<mnemonic>.json``) is a table probed against ptxas 13.5: 375 forms,
each combination of their modifiers judged on all targets and versions. A form has *slots*; a
spelling is legal if its modifiers fit the slots of a form and one of the form's *groups* has that
combination. ptxas takes modifiers in any order but for the parts of the opcode itself
(``cp.async.bulk``) and the order of types; a repeated modifier counts once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from ..resources import listing, read_text
from .targets import Target, Version, version

# Types, in the order written: `cvt.f32.s32` is not `cvt.s32.f32`.
_TYPES = frozenset(
    {
        "pred",
        "b1",
        "b4",
        "b8",
        "b16",
        "b32",
        "b64",
        "b128",
        "u2",
        "u4",
        "u8",
        "u16",
        "u32",
        "u64",
        "s2",
        "s4",
        "s8",
        "s16",
        "s32",
        "s64",
        "f16",
        "f16x2",
        "f32",
        "f64",
        "f32x2",
        "bf16",
        "bf16x2",
        "tf32",
        "e4m3",
        "e5m2",
        "e2m3",
        "e3m2",
        "e2m1",
        "e4m3x2",
        "e5m2x2",
        "e2m3x2",
        "e3m2x2",
        "e2m1x2",
        "e2m1x4",
        "ue8m0x2",
        "u16x2",
        "s16x2",
        "u8x4",
        "s8x4",
    }
)
# ld and st were tried in full with these types only; the others go with the one of their width.
_STANDS_FOR = {
    **dict.fromkeys(("b8", "u8", "s8", "b16", "u16", "s16", "u32", "s32", "f16"), "b32"),
    **dict.fromkeys(("u64", "s64", "f64"), "b64"),
}
_WIDE_TABLE = frozenset({"ld", "st"})


class Form(NamedTuple):
    """One legal way to write an instruction, and since when and where.

    ``operands`` is the pattern of the table (see ``operand_patterns``); ``since`` holds for the
    lowest target that has the form, ``since_on`` for others that got it later. ``chosen`` is the
    modifier in each slot. ``memory``, ``convergent``: what it does to memory; whether all lanes of
    the warp must run it together.
    """

    operands: str
    since: Version
    since_on: dict[str, Version]
    min_target: str | None
    specific: tuple[str, ...]
    not_on: tuple[str, ...]
    unreliable: bool
    chosen: dict[str, str]
    access: tuple[dict[str, Any], ...]
    memory: str
    convergent: bool
    until: Version | None = None

    def on(self, target: Target) -> bool:
        """Whether ``target`` has it."""
        return target.meets(self.min_target, self.specific, self.not_on)

    def since_for(self, target: Target | None) -> Version:
        """The first PTX version that has it on ``target``."""
        if target is not None and (later := self.since_on.get(str(target))):
            return later
        return self.since


@cache
def mnemonics() -> frozenset[str]:
    """All mnemonics."""
    files = listing("isa", "data", "instructions")
    return frozenset(os.path.splitext(name)[0] for name in files if name.endswith(".json"))


@cache
def _table(mnemonic: str) -> list[dict[str, Any]]:
    if mnemonic not in mnemonics():
        return []
    table: list[dict[str, Any]] = json.loads(
        read_text("isa", "data", "instructions", f"{mnemonic}.json")
    )
    for form in table:
        values = [value for _, values, _ in form["slots"] for value in values]
        form["parts"] = {part for value in values for part in value.split(".")}
    return table


@cache
def modifiers(mnemonic: str) -> frozenset[str]:
    """All modifiers that some form of the mnemonic has."""
    known: set[str] = set()
    for form in _table(mnemonic):
        known.update(form["opcode"].split(".")[1:])
        for _, values, _ in form["slots"]:
            known.update(part for value in values for part in value.split("."))
    return frozenset(known)


@cache
def slots(mnemonic: str) -> dict[str, tuple[str, ...]]:
    """The modifiers of a mnemonic by the slot that they fill (``type``, ``rnd``, ``scope`` …)."""
    found: dict[str, dict[str, None]] = {}
    for form in _table(mnemonic):
        for name, values, _ in form["slots"]:
            found.setdefault(name, {}).update(dict.fromkeys(values))
    return {name: tuple(values) for name, values in found.items()}


@cache
def forms(mnemonic: str, given: tuple[str, ...]) -> tuple[Form, ...]:
    """The legal forms of ``mnemonic`` with these modifiers as written; empty if there is none."""
    found = tuple(_match(mnemonic, given))
    if not found and mnemonic in _WIDE_TABLE:
        types = [m for m in given if m in _STANDS_FOR]
        if len(types) == 1 and not {"v8"} & set(given):
            stand_in = tuple(_STANDS_FOR.get(m, m) for m in given)
            return tuple(_match(mnemonic, stand_in))
    return found


def _match(mnemonic: str, given: tuple[str, ...]) -> Iterator[Form]:
    for form in _table(mnemonic):
        fixed = form["opcode"].split(".")[1:]
        if list(given[: len(fixed)]) != fixed:
            continue
        rest = given[len(fixed) :]
        if not form["parts"].issuperset(rest):
            continue
        assigned = list(_assignments(form["slots"], rest))
        if not assigned and len(once := _once(rest)) < len(rest):
            assigned = list(_assignments(form["slots"], once))
        for chosen in assigned:
            if _in_order(form, chosen, rest):
                yield from _groups(form, chosen)


def _in_order(form: dict[str, Any], chosen: dict[str, str], given: tuple[str, ...]) -> bool:
    """Whether the modifiers that ptxas takes for a part of the opcode stand where they must."""
    lead = chosen.get(form.get("lead", ""))
    if lead is not None and given[0] != lead.split(".")[0]:
        return False
    pair = [chosen[name] for name in form.get("order", ()) if name in chosen]
    return len(pair) < 2 or given.index(pair[0]) < given.index(pair[1])


def _once(given: tuple[str, ...]) -> tuple[str, ...]:
    """Without repeated modifiers; types may well be the same twice."""
    kept: list[str] = []
    for modifier in given:
        if modifier in _TYPES or modifier not in kept:
            kept.append(modifier)
    return tuple(kept)


def _assignments(
    slots: list[tuple[str, list[str], bool]], given: tuple[str, ...]
) -> Iterator[dict[str, str]]:
    """Each way to put the modifiers into slots, every needed slot filled, types in order."""

    def place(index: int, used: dict[int, str], last_type: int) -> Iterator[dict[int, str]]:
        if index == len(given):
            if all(optional or i in used for i, (_, _, optional) in enumerate(slots)):
                yield used
            return
        for i, (_, values, _) in enumerate(slots):
            if i in used:
                continue
            for value in values:
                parts = value.count(".") + 1  # `warp.sync` is two modifiers in one slot
                if value != ".".join(given[index : index + parts]):
                    continue
                is_type = value in _TYPES
                if is_type and i < last_type:
                    continue
                yield from place(index + parts, {**used, i: value}, i if is_type else last_type)

    if len(given) > len(slots) + 2:
        return
    for used in place(0, {}, -1):
        yield {slots[i][0]: modifier for i, modifier in used.items()}


def _groups(form: dict[str, Any], chosen: dict[str, str]) -> Iterator[Form]:
    for variant in form["variants"]:
        access = tuple(variant["operands"])
        for group in variant["groups"]:
            if _fits(group["combos"], chosen):
                yield _form(group, form, chosen, access, None)
        for old in variant.get("legacy", ()):
            if _fits(old["combos"], chosen):
                names = ", ".join(operand["spec"] for operand in access)
                group = {"operands": names, "since": old["accepted_from"], "min_target": "sm_10"}
                yield _form(group, form, chosen, access, version(old["accepted_to"]))


def _fits(combos: list[dict[str, list[str]]], chosen: dict[str, str]) -> bool:
    """Whether a group has the combination; a slot that it does not name must be empty."""
    return any(
        all(chosen.get(slot, "") in values for slot, values in combo.items())
        and all(slot in combo for slot in chosen)
        for combo in combos
    )


def _form(
    group: dict[str, Any],
    form: dict[str, Any],
    chosen: dict[str, str],
    access: tuple[dict[str, Any], ...],
    until: Version | None,
) -> Form:
    return Form(
        group["operands"],
        version(group["since"]),
        {name: version(text) for name, text in group.get("since_on", {}).items()},
        group.get("min_target"),
        tuple(group.get("arch_specific", ())),
        tuple(group.get("not_on", ())),
        bool(group.get("unreliable")),
        chosen,
        access,
        form["memory"],
        bool(form["convergent"]),
        until,
    )
