"""The patterns of operands, and what the table says fits them."""

from __future__ import annotations

import pytest

from ptxlint.isa.operand_ranges import ranges_of
from ptxlint.isa.operands import Spec, patterns
from ptxlint.isa.register_types import accepted
from ptxlint.isa.special_registers import type_of


def specs(spelling: str) -> list[tuple[Spec, ...]]:
    mnemonic, *modifiers = spelling.split(".")
    return [pattern.operands for pattern in patterns(mnemonic, tuple(modifiers))]


def brief(spelling: str) -> list[list[tuple[str, str, str, int]]]:
    return [[spec[:4] for spec in operands] for operands in specs(spelling)]


def test_a_slot_gives_the_type_and_w_doubles_it() -> None:
    assert brief("mul.wide.u16") == [
        [("d", "register", "u32", 0), ("a", "register", "u16", 0), ("b", "register", "u16", 0)]
    ]


def test_types_that_the_table_stands_in_for_are_those_written() -> None:
    assert {operands[0].type for operands in specs("ld.shared.relaxed.gpu.u16")} == {"u16"}


def test_vectors_pairs_addresses_and_constants() -> None:
    assert brief("ldmatrix.sync.aligned.m8n8.x4.shared.b16") == [
        [("r", "vector", "b32", 4), ("p", "address", "", 0)]
    ]
    shuffles = brief("shfl.sync.idx.b32")
    assert [operands[0][:3] for operands in shuffles] == [
        ("d", "register", "b32"),
        ("d|p", "pair", "b32"),
    ]
    copies = specs("cp.async.cg.shared.global")
    assert {operands[2].kind for operands in copies} == {"constant"}


def test_a_wgmma_result_is_as_long_as_its_shape_asks() -> None:
    shape = "wgmma.mma_async.sync.aligned.m64n{}k16.{}.f16.f16"
    assert {operands[0].length for operands in specs(shape.format(64, "f32"))} == {32}
    assert {operands[0].length for operands in specs(shape.format(64, "f16"))} == {16}


@pytest.mark.parametrize("spelling", ["tex.2d.v4.f32.f32", "call.uni", "vadd.u32.u32.u32", "nop"])
def test_what_is_not_certain_has_no_patterns(spelling: str) -> None:
    assert specs(spelling) == []


def test_what_fits_an_operand() -> None:
    add = accepted("add", "a:u32", "d:<type>, a:<type>, b:<type>")
    assert add is not None
    assert add.registers == {"b32", "u32", "s32", "f16x2"}
    assert "i" in add.others and "f" not in add.others
    load = accepted("ld", "d:u8", "d:<type>, [a:b64]")
    assert load is not None and {"u8", "u16", "b64"} <= load.registers
    assert "f32" not in load.registers
    assert accepted("add", "z:u32", "z:u32") is None


def test_a_pattern_may_differ_from_the_others_of_its_mnemonic() -> None:
    plain = accepted("st", "b:b16", "[a:b64], b:<type>")
    through_barrier = accepted("st", "b:u32", "[a:b64], b:<type>, [mbar:b64]")
    assert plain is not None and "b32" in plain.registers
    assert through_barrier is not None and "b64" not in through_barrier.registers


def test_ranges_of_constants() -> None:
    (barrier, count) = ranges_of("bar", ("sync",))
    assert str(barrier) == "0 to 15" and barrier.allows(15) and not barrier.allows(16)
    assert str(count) == "a multiple of 32" and not count.allows(48)
    (size,) = ranges_of("cp", ("async", "ca", "shared::cta", "global"))
    assert str(size) == "4, 8 or 16"
    assert ranges_of("bar", ("warp", "sync")) == ()


def test_types_of_special_registers() -> None:
    assert (type_of("%tid.x"), type_of("%clock64"), type_of("%tid")) == ("u32", "u64", None)
