"""The instruction table: what it accepts, and what ptxas says of the same."""

from __future__ import annotations

import random

import pytest

from ptxlint.analysis.spelling import closest, is_wrong
from ptxlint.isa.instructions import Form, forms, mnemonics, modifiers, slots
from ptxlint.isa.targets import Target
from ptxlint.ptx.build import intern_opcode
from tests import ptxas


def legal(opcode: str) -> bool:
    mnemonic, *given = opcode.split(".")
    return bool(forms(mnemonic, tuple(given)))


@pytest.mark.parametrize(
    "opcode",
    [
        "add.s32",
        "add.s32.sat",
        "add.f32.rn",
        "ld.b32.global",
        "ld.global.nc.L1::no_allocate.L2::128B.v2.u8",
        "ld.relaxed.cta.shared.u8",
        "cvt.rn.f32.s32",
        "cvt.f32.rn.s32",
        "bar.warp.sync",
        "barrier.cta.sync.aligned",
        "shfl.bfly.sync.b32",
        "mma.aligned.sync.m16n8k16.row.col.f32.f16.f16.f32",
        "wmma.mma.sync.aligned.row.row.m8n32k16.s32.s8.s8.s32.satfinite",
        "tcgen05.wait::ld.sync.aligned",
        "fence.proxy.async.shared::cta",
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
        "mov.v4.f32",
        "max.xorsign.abs.f16x2",
    ],
)
def test_legal(opcode: str) -> None:
    assert legal(opcode)


@pytest.mark.parametrize(
    ("opcode", "reason", "near"),
    [
        ("foo.b32", "no instruction `foo`", None),
        ("movq.b32", "no instruction `movq`", "mov.b32"),
        ("ADD.s32", "no instruction `ADD`", "add.s32"),
        ("ld.global.f33", "no modifier `.f33`", "ld.global.f32"),
        ("add.s32.s32", "one modifier too many", None),
        ("add.s32.foo", "no modifier `.foo`", None),
        ("mov", "the type is missing", None),
        ("mul.s32", "is missing: `.hi`, `.lo`, `.wide`", None),
        ("mul.u32.lo", "`.lo` belongs right after `mul`", "mul.lo.u32"),
        ("fma.f32", "is missing", None),
        ("shfl.sync.butterfly.b32", "no modifier `.butterfly`", "shfl.sync.bfly.b32"),
        ("cvta.global.to.u64", "`.to` belongs right after `cvta`", "cvta.to.global.u64"),
    ],
)
def test_wrong(opcode: str, reason: str, near: str | None) -> None:
    interned = intern_opcode(opcode)
    assert reason in (is_wrong(interned) or "")
    if near is not None:
        assert closest(interned) == near


def test_requirements_of_a_form() -> None:
    [form] = forms("activemask", ("b32",))
    assert form.since == (6, 2)
    found = forms("setmaxnreg", ("inc", "sync", "aligned", "u32"))
    assert any(form.on(Target(90, "a")) for form in found)
    assert not any(form.on(Target(90, "")) or form.on(Target(80, "")) for form in found)


@pytest.mark.parametrize(
    ("target", "minimum", "specific", "meets"),
    [
        ("sm_80", "sm_80", (), True),
        ("sm_75", "sm_80", (), False),
        ("sm_120", "sm_90", (), True),
        ("sm_90a", None, ("sm_90a",), True),
        ("sm_90", None, ("sm_90a",), False),
        ("sm_100a", None, ("sm_90a",), False),
        ("sm_103a", None, ("sm_100f",), True),
        ("sm_103f", None, ("sm_100f",), True),
        ("sm_103", None, ("sm_100f",), False),
        ("sm_120a", None, ("sm_100f",), False),
        ("sm_110a", None, ("=sm_110f",), False),
    ],
)
def test_targets(target: str, minimum: str | None, specific: tuple[str, ...], meets: bool) -> None:
    parsed = Target.parse(target)
    assert parsed is not None
    assert parsed.meets(minimum, specific) is meets


def test_every_mnemonic_has_forms() -> None:
    assert len(mnemonics()) > 130
    for mnemonic in mnemonics():
        assert slots(mnemonic) or forms(mnemonic, ()), mnemonic
        assert "" not in modifiers(mnemonic)


def _spellings(count: int, seed: int) -> list[tuple[str, Form]]:
    """Legal spellings with the form that each was made from, drawn by chance."""
    chance = random.Random(seed)
    names = sorted(mnemonics())
    made = []
    while len(made) < count:
        mnemonic = chance.choice(names)
        values = [("", *v) for v in slots(mnemonic).values()]
        given = tuple(
            part for v in values if (picked := chance.choice(v)) for part in picked.split(".")
        )
        found = [f for f in forms(mnemonic, given) if f.operands and "'" not in f.operands]
        if found:
            made.append((".".join((mnemonic, *given)), found[0]))
    return made


@ptxas.needed
def test_ptxas_takes_the_spellings_that_the_table_has() -> None:
    """One instruction a line, operands left out: ptxas must find no fault with the opcode."""
    faults = ("Unknown modifier", "Not a name of any", "Unexpected instruction types")
    wrong = []
    lines = [f"{opcode};" for opcode, _ in _spellings(150, seed=3)]
    for target in ("sm_90a", "sm_100a"):
        head = f".version 9.5\n.target {target}\n.address_size 64\n.entry k() {{\n"
        verdict = ptxas.assemble(head + "\n".join(lines) + "\nret;\n}\n", f"compute_{target[3:]}")
        complaints = [
            line for line in verdict.output.splitlines() if any(f in line for f in faults)
        ]
        wrong.append({line.split("line ")[1].split(";")[0] for line in complaints})
    refused_by_both = wrong[0] & wrong[1]
    assert [lines[int(line) - 5] for line in sorted(refused_by_both)] == []
