"""The short rule of effects.json says what the table of instructions says, for every form."""

from __future__ import annotations

import json

import pytest

from ptxlint.isa.effects import effect
from ptxlint.isa.instructions import mnemonics
from ptxlint.resources import read_text


@pytest.mark.parametrize("mnemonic", sorted(mnemonics()))
def test_as_the_table_says(mnemonic: str) -> None:
    forms = json.loads(read_text("isa", "data", "instructions", f"{mnemonic}.json"))
    for form in forms:
        fixed = tuple(form["opcode"].split(".")[1:])
        for variant in form["variants"]:
            combos = [combo for group in variant["groups"] for combo in group["combos"]]
            spellings = {
                fixed + tuple(p for values in combo.values() for p in values[0].split(".") if p)
                for combo in combos
            }
            access = [operand["access"] for operand in variant["operands"]]
            written = [i for i, kind in enumerate(access) if "w" in kind]
            for modifiers in spellings:
                said = effect(mnemonic, modifiers)
                ours = [i for i in range(said.results) if i < len(access) and access[i] != "addr"]
                assert ours == written, (mnemonic, modifiers, access)
                assert said.accumulates == ("rw" in access), (mnemonic, modifiers)
