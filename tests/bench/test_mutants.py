"""The mutants: the same for a seed, changed at their line, judged by ptxas."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from bench import mutants
from bench.common import CORPUS, Assembled, File, assemble, files, ptxas
from bench.mutation import OPERATORS, Text, mutated, split, statement

FOUND = [file for file in files([CORPUS]) if file.group != "faulty"]
TEXT = """\
.version 8.0
.target sm_90
.visible .entry k(
	.param .u64 p
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<9>;
	.reg .b64 	%rd<3>;

	ld.param.u64 	%rd1, [p];
	@%p1 add.s32 	%r1, %r2, 12; // a comment
}
"""
BEFORE = "add.s32 	%r1, %r2, 12;"


def drawn(count: int, seed: int) -> list[mutants.Mutant]:
    return list(mutants.mutants(FOUND, count, seed))


def test_a_seed_gives_the_same_mutants() -> None:
    first = drawn(57, 3)
    assert first == drawn(57, 3)
    assert first != drawn(57, 4)
    assert first[:19] == drawn(19, 3)
    assert {mutant.operator for mutant in first} == set(OPERATORS)


@pytest.mark.parametrize("operator", OPERATORS)
def test_only_the_named_line_differs(operator: str) -> None:
    made = [mutant for mutant in drawn(4 * len(OPERATORS), 5) if mutant.operator == operator]
    assert made
    for mutant in made:
        before = mutant.source.text().split("\n")
        after = mutant.text.split("\n")
        assert len(before) == len(after)
        differing = [at for at, (a, b) in enumerate(zip(before, after, strict=True), 1) if a != b]
        assert differing == [mutant.line]


@pytest.mark.parametrize(
    ("operator", "lines"),
    [
        ("op", {"addq.s32 	%r1, %r2, 12;", "ldq.param.u64 	%rd1, [p];"}),
        ("mod", {"add.s32.foo 	%r1, %r2, 12;", "ld.param.u64.foo 	%rd1, [p];"}),
        ("dropmod", {"add 	%r1, %r2, 12;", "ld.u64 	%rd1, [p];", "ld.param 	%rd1, [p];"}),
        ("swapmod", {"ld.u64.param 	%rd1, [p];"}),
        ("extra", {"add.s32 	%r1, %r2, 12, 1, 2;", "ld.param.u64 	%rd1, [p], 1, 2;"}),
        ("imm", {"add.s32 	5, %r2, 12;", "ld.param.u64 	5, [p];"}),
        ("semi", {"add.s32 	%r1, %r2, 12", "ld.param.u64 	%rd1, [p]"}),
        ("brk", {"ld.param.u64 	%rd1, [p;"}),
        ("target", {".target sm_75", ".target sm_80", ".target sm_86", ".target sm_89"}),
    ],
)
def test_what_the_operators_make(operator: str, lines: set[str]) -> None:
    seen = set()
    for seed in range(60):
        made = mutated(Text(TEXT), operator, Random(seed))
        assert made is not None
        line = made[1].split("\n")[made[0] - 1].split("//")[0].replace("@%p1 ", "")
        seen.add(line.strip())
    assert seen == lines


def test_an_operator_may_find_no_place() -> None:
    assert mutated(Text(".version 6.0\n"), "version", Random(1)) is None
    assert mutated(Text(".version 8.0\n"), "op", Random(1)) is None
    assert not list(mutants.mutants([], 5, 1))


def test_statements_are_cut_at_outer_commas() -> None:
    assert split("{a, b}, [c, {d, e}], f") == ["{a, b}", "[c, {d, e}]", "f"]
    found = statement(f"\t@!%p1 {BEFORE} // note")
    assert found is not None
    assert found.text() == f"\t@!%p1 {BEFORE} // note"
    assert found.operands == ("%r1", "%r2", "12")
    assert statement("\t.reg .b32 %r<3>;") is None
    assert statement("call (a, /* b */ c);") is None


def test_errors_of_ptxas() -> None:
    output = (
        "ptxas x.ptx, line 3; warning : Something\n"
        "ptxas x.ptx, line 9; error   : Unknown  modifier '.foo'\n"
        "ptxas x.ptx, line 4; error   : Other\n"
        "ptxas fatal   : Ptx assembly aborted due to errors\n"
    )
    done = Assembled(False, frozenset({3, 4, 9}), output)
    assert mutants.errors(done) == ((4, 9), "Unknown modifier '.foo'")
    own = "ptxas <macro util>, line 2; error   : PTX .version 6.5 does not support .target sm_80\n"
    assert mutants.errors(Assembled(False, frozenset({2}), own)) == (
        (),
        own.split(" : ")[1].strip(),
    )
    assert mutants.errors(Assembled(True, frozenset(), output)) == ((), "")


def test_a_run(tmp_path: Path) -> None:
    tool = ptxas()
    if tool is None:
        pytest.skip("no ptxas")
    few = [file for file in FOUND if file.name.startswith(("sm_80/block_s", "sm_90a/tma_copy"))]
    result = mutants.run(few, tool, 38, 2, tmp_path)
    assert result["total"]["mutants"] == 38
    assert result["false"] == []
    for operator in mutants.SYNTAX:
        row = result["operators"][operator]
        assert row["reported"] == row["rejected"], result["missed"]
    assert "| total" in mutants.tables(result)
    kept = files([tmp_path])
    assert len(kept) == 38
    assert {file.verdict for file in kept} == {"accept", "reject"}
    assert all(_same_verdict(file, tool) for file in kept[:5])


def _same_verdict(file: File, tool: str) -> bool:
    assert file.arch is not None
    done = assemble(tool, file.path, file.arch, file.flags)
    return done.accepted == (file.verdict == "accept")
