"""memory.json says what the memory column of the table of instructions says, for every form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ptxlint.isa.instructions import mnemonics
from ptxlint.isa.memory import AddressEffect, MemoryEffect, memory_effect
from ptxlint.resources import read_text

# Words of the column -> (reads, writes) of the addresses; "" is what has none.
COLUMN = {
    "none": "",
    "read": "r",
    "write": "w",
    "read-write atomic": "rw",
    "read-write atomic (no result)": "rw",
    "read-write atomic (multimem)": "rw",
    "read (multimem reduction)": "r",
    "write (multimem)": "w",
    "read global, write shared": "rw",
    "read src, write dst": "rw",
    "read src, reduce dst": "rw",
    "read shared": "r",
    "read shared (descriptors)": "r",
    "read shared, write multimem": "rw",
    "read shared, write global": "rw",
    "read shared, write tmem": "rw",
    "read shared/tmem, read-write tmem": "rw",
    "read tensor memory": "r",
    "read tensormap": "r",
    "read texture": "r",
    "read surface": "r",
    "read-write surface": "rw",
    "read-write tmem": "rw",
    "write shared": "w",
    "write surface": "w",
    "write tensor memory": "w",
    "write tensormap (global/shared)": "w",
    "frees tmem": "w",
    "allocates tmem, writes shared": "w",
    "discards cache data (write)": "w",
    "mbarrier arrive on completion": "rw",
}
# Named for the object; each operation of it does one of these.
MBARRIER = "read-write mbarrier object in shared"
UNTOUCHED = {"cache hint", "prefetch L2"}
ORDERS = {
    "memory/proxy fence": "fence",
    "memory fence": "fence",
    "barrier: orders accesses of participants": "barrier",
    "barrier: orders shared/global accesses of participants": "barrier",
    "orders register/shared accesses": "fence",
    "orders tcgen05 ops": "fence",
    "orders with prerequisite/dependent grids": "grid",
}
# What no address says: the stack, the scheduler, other machines, whatever a callee does.
ELSEWHERE = {
    "allocates local",
    "stack pointer",
    "write shared, cluster scheduling",
    "remote (fabric) access",
    "call: unknown unless callee known",
}


def spellings(form: dict[str, Any], variant: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """One spelling of each combination that a variant allows."""
    fixed = tuple(form["opcode"].split(".")[1:])
    for group in variant["groups"]:
        for combo in group["combos"]:
            yield fixed + tuple(p for v in combo.values() for p in v[0].split(".") if p)


def effects(effect: MemoryEffect, addresses: int, values: list[int]) -> list[AddressEffect]:
    """The effects on the addresses that an instruction has."""
    rows = effect.addresses
    found = [rows[min(i, len(rows) - 1)] for i in range(addresses)] if rows else []
    return found + [row for position, row in effect.values if position in values]


@pytest.mark.parametrize("mnemonic", sorted(mnemonics()))
def test_as_the_table_says(mnemonic: str) -> None:
    forms = json.loads(read_text("isa", "data", "instructions", f"{mnemonic}.json"))
    for form in forms:
        column = form["memory"]
        for variant in form["variants"]:
            specs = [operand["spec"] for operand in variant["operands"]]
            count = sum("[" in spec for spec in specs)
            descriptors = [
                i for i, spec in enumerate(specs) if "desc:b64" in spec or "taddr" in spec
            ]
            for modifiers in spellings(form, variant):
                effect = memory_effect(mnemonic, modifiers)
                done = effects(effect, count, descriptors)
                where = (mnemonic, modifiers, column, specs, done)
                assert bool(done) >= bool(count and column != "none"), where
                if column in COLUMN:
                    kinds = ("r" if any(e.reads for e in done) else "") + (
                        "w" if any(e.writes for e in done) else ""
                    )
                    wanted = COLUMN[column]
                    if (mnemonic in ("st", "red") and len(done) == 2) or "cp_mask" in modifiers:
                        wanted = "rw"  # and the mbarrier counts it
                    assert kinds == wanted, where
                elif column == MBARRIER:
                    assert all(e.role == "mbarrier" for e in done), where
                elif column in UNTOUCHED:
                    assert done and all(e.kind == "prefetch" for e in done), where
                elif column in ORDERS:
                    assert effect.barrier == ORDERS[column], where
                else:
                    assert column in ELSEWHERE, where


@pytest.mark.parametrize("mnemonic", sorted(mnemonics()))
def test_groups_and_waits_as_the_table_says(mnemonic: str) -> None:
    forms = json.loads(read_text("isa", "data", "instructions", f"{mnemonic}.json"))
    for form in forms:
        for variant in form["variants"]:
            for modifiers in spellings(form, variant):
                effect = memory_effect(mnemonic, modifiers)
                said = str(form.get("async", ""))
                assert said or effect.barrier not in ("commit", "wait"), modifiers
                words = said.split()
                if words[:1] == ["groups"]:
                    assert effect.barrier == "commit", modifiers
                elif words[:1] == ["waits"]:
                    assert effect.barrier == "wait", modifiers
                elif said == "async bulk_group" or said.startswith("async (mbarrier or bulk"):
                    assert all(a.asynchronous for a in effect.addresses), modifiers
                elif effect.addresses and said == "async (groups)":
                    assert [a.kind for a in effect.addresses] == ["async-write", "async-read"]


@pytest.mark.parametrize(
    ("opcode", "spaces", "width", "order", "scope", "cache"),
    [
        ("ld.f32", ["generic"], (4, 1), "weak", "", ()),
        ("ld.global.nc.L1::no_allocate.v4.b32", ["global"], (4, 4), "weak", "", (
            "nc", "L1::no_allocate")),
        ("ld.volatile.shared.v2.u16", ["shared"], (2, 2), "volatile", "sys", ()),
        ("ld.acquire.gpu.global.b64", ["global"], (8, 1), "acquire", "gpu", ()),
        ("ld.mmio.relaxed.sys.global.b32", ["global"], (4, 1), "mmio.relaxed", "sys", ()),
        ("atom.global.add.u32", ["global"], (4, 1), "relaxed", "gpu", ()),
        ("atom.acq_rel.cta.shared::cluster.cas.b64", ["shared"], (8, 1), "acq_rel", "cta", ()),
        ("red.f16x2", ["generic"], (4, 1), "relaxed", "gpu", ()),
        ("cp.async.cg.shared.global.L2::128B", ["shared", "global"], (None, 1), "weak", "", (
            "cg", "L2::128B")),
        ("cp.async.bulk.global.shared::cta.bulk_group", ["global", "shared", "shared"],
            (None, 1), "weak", "", ()),
        ("st.bulk.weak.shared::cta", ["shared"], (None, 1), "weak", "", ()),
        ("mbarrier.try_wait.parity.shared::cta.b64", ["shared"], (None, 1), "acquire", "cta", ()),
        ("multimem.red.release.sys.global.add.v4.f32", ["global"], (4, 4), "release", "sys", ()),
    ],
)  # fmt: skip
def test_spellings(
    opcode: str,
    spaces: list[str],
    width: tuple[int | None, int],
    order: str,
    scope: str,
    cache: tuple[str, ...],
) -> None:
    mnemonic, *modifiers = opcode.split(".")
    effect = memory_effect(mnemonic, tuple(modifiers))
    assert [address.space for address in effect.addresses] == spaces
    assert (effect.element, effect.elements) == width
    assert (effect.order, effect.scope, effect.cache) == (order, scope, cache)
