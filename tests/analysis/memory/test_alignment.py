"""Alignment: a quick look never contradicts a close one; what bases must be multiples of."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxlint.analysis.alignment import MNEMONICS
from ptxlint.analysis.memory.accesses import accesses
from ptxlint.analysis.memory.based import based
from ptxlint.analysis.memory.glance import unaligned
from ptxlint.analysis.memory.misalignment import misalignments
from ptxlint.analysis.memory.requirements import alignment_requirements, need_of
from ptxlint.analysis.symbols import address_of, symbol_addresses
from ptxlint.ptx.ir import Address

from .snippets import CORPUS, ROOT, corpus, kernel

GOOD = [path for path in CORPUS if ".bad." not in path.name and "faulty" not in path.parts]
VECTOR = "{%f1, %f2, %f3, %f4}"


def required(body: str, before: str = "") -> dict[str, int]:
    """What each base of a kernel must be a multiple of."""
    function, facts = kernel(body, before)
    return {r.base: r.bytes for r in alignment_requirements(function, facts)}


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: str(p.relative_to(ROOT / "corpus")))
def test_what_is_found_at_a_glance_is_not_known_to_be_otherwise(path: Path) -> None:
    functions, facts = corpus(path)
    for function in functions:
        suspects = facts.once(function, unaligned)
        constant = facts.once(function, symbol_addresses)
        for access in facts.once(function, accesses):
            operand, known, need = access.operand, access.congruence, need_of(access)
            if id(access.instruction) in suspects or known is None or need is None:
                continue
            if isinstance(operand, Address) and address_of(operand, constant) is None:
                low = (1 << min(need.bytes.bit_length() - 1, known.bits)) - 1
                residues = known.residues
                each = (residues,) if isinstance(residues, int) else residues
                assert not any(r & low for r in each), access.instruction.opcode


@pytest.mark.parametrize("path", GOOD, ids=lambda p: str(p.relative_to(ROOT / "corpus")))
def test_nothing_of_right_code_is_misaligned_and_its_needs_are_met(path: Path) -> None:
    functions, facts = corpus(path)
    for function in functions:
        assert facts.once(function, misalignments) == []
        for each in alignment_requirements(function, facts):
            assert each.bytes in (2, 4, 8, 16, 32, 64, 128)
            assert each.instruction.opcode.mnemonic in MNEMONICS


def test_the_most_that_an_access_needs_counts_and_is_said() -> None:
    function, facts = kernel(
        "ld.param.u64 %rd1, [a];\nld.global.u32 %r1, [%rd1+4];\n"
        f"ld.global.v4.f32 {VECTOR}, [%rd1+32];\nld.global.v2.f32 {{%f1, %f2}}, [%rd1];"
    )
    (found,) = alignment_requirements(function, facts)
    line = facts.module.source.line_of(found.instruction.start)
    assert (found.base, found.bytes) == ("a", 16)
    assert found.why == f"`ld.global.v4.f32` at line {line} is a 16-byte access"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        # By thread, by turn, by a number of whole vectors.
        (
            "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16;"
            f" add.s64 %rd3, %rd1, %rd2; ld.global.v4.f32 {VECTOR}, [%rd3];",
            {"a": 16},
        ),
        (
            "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n]; mul.wide.u32 %rd2, %r1, 8;"
            " add.s64 %rd3, %rd1, %rd2; cvta.to.global.u64 %rd4, %rd3; ld.global.u64 %rd5, [%rd4];",
            {"a": 8},
        ),
        (
            "ld.param.u64 %rd1, [a]; L: ld.global.u64 %rd5, [%rd1]; add.s64 %rd1, %rd1, 8;"
            " setp.ne.u64 %p1, %rd5, 0; @%p1 bra L;",
            {"a": 8},
        ),
        # A distance that is not known, that makes the access wrong, or that is rounded away.
        (
            "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n]; mul.wide.u32 %rd2, %r1, 4;"
            " add.s64 %rd3, %rd1, %rd2; ld.global.u64 %rd5, [%rd3];",
            {},
        ),
        ("ld.param.u64 %rd1, [a]; ld.global.u64 %rd5, [%rd1+4];", {}),
        (
            "ld.param.u64 %rd1, [a]; add.s64 %rd2, %rd1, 7; and.b64 %rd3, %rd2, -8;"
            " ld.global.u64 %rd5, [%rd3];",
            {},
        ),
        # A pointer in a structure, objects, dynamic memory, constants by words.
        ("ld.param.u64 %rd1, [s+8]; st.global.u64 [%rd1+16], %rd2;", {"s+8": 8}),
        ("ld.shared.u64 %rd1, [tile+64]; ld.shared.u32 %r1, [tile];", {"tile": 8}),
        ("mov.u32 %r1, dynamic; st.shared.v2.u64 [%r1+32], {%rd1, %rd2};", {"dynamic": 16}),
        ("ld.const.v2.u64 {%rd1, %rd2}, [limits];", {"limits": 4}),
        ("mbarrier.init.shared.b64 [bar], 1; ld.local.v2.u64 {%rd1, %rd2}, [stack];",
         {"bar": 8, "stack": 16}),
        ("ld.global.u8 %h1, [table];", {}),
    ],
)  # fmt: skip
def test_requirements(body: str, wanted: dict[str, int]) -> None:
    assert required(body) == wanted


def test_both_sides_of_a_copy_and_its_mbarrier() -> None:
    found = required(
        "ld.param.u64 %rd1, [a]; mov.u32 %r1, tile; mov.u32 %r2, bar;"
        " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 64,"
        " [%r2];"
        " cp.async.ca.shared.global [%r1+512], [table+8], 8;"
    )
    assert found == {"a": 16, "tile": 16, "bar": 8, "table": 8}


def test_a_distance_is_told_modulo_what_is_asked() -> None:
    function, facts = kernel(
        "ld.param.u64 %rd1, [a]; ld.param.u32 %r1, [n]; mul.wide.u32 %rd2, %r1, 16;"
        " add.s64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3+20];"
    )
    access = facts.once(function, accesses)[-1]
    need = need_of(access)
    assert need is not None and need.bytes == 4
    assert facts.once(function, based).distance(access, 4) == 4
    assert facts.once(function, based).distance(access, 5) is None
    assert facts.once(function, based).address(access, 3, 4) == 7
