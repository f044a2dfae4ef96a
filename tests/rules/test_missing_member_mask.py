"""PTX201 against ptxas: every form, with each number of operands."""

from __future__ import annotations

from pathlib import Path

import pytest

from .snippets import found, kernel, verdict

# The whole operand lists; each is also tried with its last operands left out, one by one.
FORMS = [
    "shfl.sync.bfly.b32 %r1, %r2, 16, 31, -1",
    "shfl.sync.up.b32 %r1|%p1, %r2, %r3, 0, %r4",
    "shfl.sync.down.b32 %r1, %r2, 1, 0x1f, 0xffff",
    "shfl.sync.idx.b32 %r1|%p1, %r2, 0, %r3, -1",
    "shfl.idx.sync.b32 %r1, %r2, 0, 31, -1",
    "vote.sync.all.pred %p1, %p2, -1",
    "vote.sync.any.pred %p1, !%p2, %r1",
    "vote.sync.uni.pred %p1, %p2, -1",
    "vote.sync.ballot.b32 %r1, %p2, -1",
    "match.any.sync.b32 %r1, %r2, -1",
    "match.any.sync.b64 %r1, %rd2, %r3",
    "match.all.sync.b32 %r1|%p1, %r2, -1",
    "match.all.sync.b64 %r1, %rd2, -1",
    "redux.sync.add.u32 %r1, %r2, -1",
    "redux.sync.xor.b32 %r1, %r2, %r3",
    "elect.sync %r1|%p1, -1",
    "elect.sync _|%p1, %r1",
    "bar.warp.sync -1",
    "bar.warp.sync %r1",
]
NOT_OURS = ["activemask.b32 %r1", "bar.sync 0", "bar.red.popc.u32 %r1, 0, %p1", "bar.arrive 1, 64"]


def shortened(form: str) -> list[str]:
    opcode, _, rest = form.partition(" ")
    operands = rest.split(", ")
    return [f"{opcode} {', '.join(operands[:n])}".rstrip() for n in range(len(operands))]


@pytest.mark.parametrize("form", FORMS + NOT_OURS)
def test_whole_forms_are_silent_and_assemble(form: str, tmp_path: Path) -> None:
    text = kernel(f"    {form};")
    assert found(text, "PTX201") == []
    said = verdict(text, tmp_path)
    assert said.accepted, said.text


@pytest.mark.parametrize("form", FORMS)
def test_every_missing_operand_is_found_and_rejected(form: str, tmp_path: Path) -> None:
    short = shortened(form)
    text = kernel("\n".join(f"    {statement};" for statement in short))
    lines = {number for number, line in enumerate(text.split("\n"), 1) if line[4:-1] in short}
    findings = found(text, "PTX201")
    assert {finding.span.start.line for finding in findings} == lines
    assert all(finding.data["missing"][-1] == "membermask" for finding in findings)
    assert lines <= verdict(text, tmp_path).lines


@pytest.mark.parametrize(
    ("statement", "missing"),
    [
        ("shfl.sync.bfly.b32 %r1, %r2, 16, 31", ["membermask"]),
        ("shfl.sync.bfly.b32 %r1, %r2, 16, 0x1c1f", ["membermask"]),
        ("shfl.sync.bfly.b32 %r1, %r2, 16, %r3", ["membermask"]),
        ("shfl.sync.bfly.b32 %r1, %r2, 16, -1", ["c"]),
        ("shfl.sync.bfly.b32 %r1, %r2, 0xffffffff", ["b", "c"]),
        ("shfl.sync.bfly.b32 %r1, %r2", ["b", "c", "membermask"]),
        ("vote.sync.ballot.b32 %r1, -1", ["p"]),
        ("vote.sync.ballot.b32 %r1, %r2", ["p"]),
        ("vote.sync.ballot.b32 %r1, 1", ["membermask"]),
        ("vote.sync.any.pred %p1, !%p2", ["membermask"]),
        ("elect.sync -1", ["d|p"]),
    ],
)
def test_which_operand_is_missing(statement: str, missing: list[str]) -> None:
    (finding,) = found(kernel(f"    {statement};"), "PTX201")
    assert finding.data["missing"] == missing


def test_the_clamp_is_not_taken_for_a_mask() -> None:
    (finding,) = found(kernel("    shfl.sync.bfly.b32 %r1, %r2, 16, 0x1f;"), "PTX201")
    assert "the membermask is missing" in finding.message
    assert finding.notes[0] == "the last operand, 31, is the clamp (c), not a mask"
