"""On real kernels: nothing that touches memory is left out, and it takes linear time."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ptxlint.analysis.facts import Facts
from ptxlint.analysis.flow.ssa import values
from ptxlint.analysis.memory.accesses import accesses
from ptxlint.engine.options import Options
from ptxlint.isa.instructions import forms
from ptxlint.isa.memory import memory_effect
from ptxlint.ptx import parse

from .snippets import CORPUS, ROOT, corpus

# What the table calls an effect without an address.
GOOD = [path for path in CORPUS if ".bad." not in path.name and "faulty" not in path.parts]
_NO_ACCESS = ("none", "memory fence", "memory/proxy fence", "barrier", "orders", "allocates local")


@pytest.mark.parametrize("path", GOOD, ids=lambda p: str(p.relative_to(ROOT / "corpus")))
def test_every_memory_instruction_has_an_access(path: Path) -> None:
    functions, facts = corpus(path)
    for function in functions:
        touching = set()
        for index, instruction in enumerate(function.instructions):
            opcode = instruction.opcode
            said = {form.memory for form in forms(opcode.mnemonic, opcode.modifiers)}
            if any(not memory.startswith(_NO_ACCESS) for memory in said):
                touching.add(index)
        assert {a.index for a in facts.once(function, accesses)} == touching


@pytest.mark.parametrize("path", GOOD, ids=lambda p: str(p.relative_to(ROOT / "corpus")))
def test_consistent(path: Path) -> None:
    functions, facts = corpus(path)
    for function in functions:
        asked = any(i.opcode.mnemonic == "isspacep" for i in function.instructions)
        for access in facts.once(function, accesses):
            effect = memory_effect(
                access.instruction.opcode.mnemonic, access.instruction.opcode.modifiers
            )
            if effect.addresses and access.effect.space != "generic":
                assert access.space == access.effect.space
            base = access.base
            if access.tensor or base is None or base.variable is None:
                continue
            if base.kind == "variable" and not asked:  # some arms then are for other addresses
                # An address in one window is in no other's object, whatever was converted.
                assert access.space in (base.variable.space, "generic"), access.operand


def test_time_grows_with_the_text() -> None:
    """Ten times the kernel takes about ten times as long; the bound is far above noise."""
    path = ROOT / "corpus" / "ptx" / "sm_80" / "gemm_pipeline.ptx"
    text = path.read_text(encoding="utf-8")
    at = text.index(".visible .entry")
    head, kernel = text[:at], text[at:]

    def seconds(copies: int) -> float:
        many = "".join(kernel.replace("gemm_pipeline", f"k{i}") for i in range(copies))
        best = float("inf")
        for _ in range(3):
            module = parse(head + many, "x.ptx")
            facts = Facts(module, Options())
            for function in module.kernels:
                facts.once(function, values)
            began = time.process_time()
            for function in module.kernels:
                facts.once(function, accesses)
            best = min(best, time.process_time() - began)
        return best

    assert seconds(20) < 60 * seconds(2)
