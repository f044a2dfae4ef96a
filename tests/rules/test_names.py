"""PTX100 and PTX104 to PTX107 against ptxas: the same lines, and what each finding says."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxlint import Finding, check_text

from .snippets import kernel, verdict

CATEGORY = ("PTX100", "PTX104", "PTX105", "PTX106", "PTX107")

# Statements, one a line; the codes that line by line are expected.
WRONG = [
    (["add.u32 %r1, %r9, 1;"], ["PTX104"]),
    (["add.u32 %r1, count, 1;"], ["PTX104"]),
    (["@%q1 add.u32 %r1, %r2, 1;"], ["PTX104"]),
    (["st.global.u32 [nowhere+4], %r1;"], ["PTX104"]),
    (["call helper, (%r1);"], ["PTX104"]),
    (["bra NOWHERE;"], ["PTX104"]),
    (["{ .reg .b32 x; }", "mov.u32 %r1, x;"], ["", "PTX104"]),
    (["mov.u32 %r1, x;", ".reg .b32 x;"], ["PTX104", ""]),
    (["%r1:", "bra %r1;"], ["", "PTX104"]),
    (["bra %r1;", "%r1: ret;"], ["PTX104", ""]),
    (["L: ret;", "bra.uni %rd1;"], ["", "PTX104"]),
    (["bra p_out;"], ["PTX104"]),
    (["bra 3;"], ["PTX104"]),
    (["bra E+4;", "E:"], ["PTX104", ""]),
    (["B: .branchtargets %r1, E;", "brx.idx %r1, B;", "E:"], ["PTX104", "", ""]),
    (["q1: ret;", ".reg .b32 q<3>;", "bra q1;"], ["", "", "PTX104"]),
    ([".reg .b32 x;", ".reg .f32 x;"], ["", "PTX105"]),
    ([".reg .b32 %r<20>;"], ["PTX105"]),
    ([".shared .b32 x;", ".reg .b32 x;"], ["", "PTX105"]),
    (["L: bra L;", "L: bra L;"], ["", "PTX106"]),
    ([".reg .b32 L;", "L: ret;"], ["", "PTX106"]),
    (["{ L: ret; }", "bra L;"], ["", "PTX106"]),
    (["add.u32 %r1 %r2, 1;"], ["PTX100"]),
    (["add.u32 %r1, %r2, 1", "sub.u32 %r1, %r2, 1;"], ["", "PTX100"]),
    ([".reg .b32 a@b;"], ["PTX107"]),
    (["mov.u32 %r1, my?name;"], ["PTX107"]),
]
RIGHT = [
    ["{ .reg .b32 x; mov.u32 x, 1; }", "{ .reg .f32 x; mov.f32 x, 0f00000000; }"],
    [".reg .b32 x;", "{ .reg .b64 x; mov.b64 x, 1; }", "mov.b32 x, 1;"],
    ["{ .reg .b32 p_out; mov.b32 p_out, 1; }"],
    ["{ L: bra L; }", "{ L: bra L; }", "L: bra L;"],
    ["{ bra L; }", "L: ret;"],
    ["{ %r1: bra %r1; }"],
    ["{ .reg .b32 q<3>; { q1: bra q1; } }"],
    ["%r9: bra %r9;"],
    ["bra q1; q1: ret;", "{ .reg .b32 q<3>; }"],
    ["targets: .branchtargets A, B;", "A: brx.idx %r1, targets;", "B: ret;"],
]


def findings(text: str) -> list[Finding]:
    return [finding for finding in check_text(text) if finding.code in CATEGORY]


def one(*statements: str, module: str = "") -> Finding:
    (finding,) = findings(kernel("\n".join(statements), module))
    return finding


@pytest.mark.parametrize(("statements", "codes"), WRONG, ids=lambda v: v[-1] if v else "")
def test_what_is_wrong_is_found_where_ptxas_finds_it(
    statements: list[str], codes: list[str], tmp_path: Path
) -> None:
    text = kernel("\n".join(statements))
    first = text.split("\n").index(statements[0]) + 1
    wanted = {(first + n, code) for n, code in enumerate(codes) if code}
    assert {(f.span.start.line, f.code) for f in findings(text)} == wanted
    said = verdict(text, tmp_path)
    assert not said.accepted
    assert {line for line, _ in wanted} <= said.lines, said.text


@pytest.mark.parametrize("statements", RIGHT, ids=lambda v: v[-1])
def test_what_ptxas_accepts_is_silent(statements: list[str], tmp_path: Path) -> None:
    text = kernel("\n".join(statements))
    said = verdict(text, tmp_path)
    assert said.accepted, said.text
    assert findings(text) == []


def test_a_range_that_is_too_short_says_how_long_it_must_be() -> None:
    short, longer = findings(kernel("add.u32 %r1, %r9, 1;\nadd.u32 %r1, %r9, %r12;"))
    assert short.message == "`%r9` is not declared: the range `%r<9>` ends at `%r8`"
    assert short.help == longer.help == "declare `%r<13>`"
    assert short.data["lines"] == [short.span.start.line + 1]


def test_a_slip_of_the_pen_gets_a_suggestion_and_noise_none() -> None:
    assert one("mov.u32 totel, 1;", module=".global .u32 total;").help == "did you mean `total`?"
    assert one("mov.b64 %rdd2, 1;").help == "did you mean `%rd2`?"
    assert one("mov.u32 zzz, 1;").help == "declare `zzz` before this line"


def test_a_function_that_comes_later_is_named_with_its_line() -> None:
    text = kernel("call later;") + ".func later() { ret; }\n"
    (finding,) = findings(text)
    line = text.split("\n").index(".func later() { ret; }") + 1
    assert finding.message == f"`later` is used before it is declared, at line {line}"
    assert finding.labels[0].span.start.line == line


def test_one_name_is_one_finding_for_each_function() -> None:
    other = ".visible .entry other()\n{\n    mov.u32 lost, 1;\n}\n"
    found = findings(kernel("mov.u32 lost, 1;\nmov.u32 lost, 2;") + other)
    assert [f.data["lines"] for f in found] == [[found[0].span.start.line + 1], []]
    assert [f.kernel for f in found] == ["body", "other"]


def test_a_name_that_an_unread_statement_may_declare_is_not_reported() -> None:
    found = findings(kernel(".reg .b32 extra<4;\nmov.u32 extra2, 1;\nmov.u32 lost, 1;"))
    assert [(f.code, f.data.get("identifier")) for f in found] == [
        ("PTX100", None),
        ("PTX104", "lost"),
    ]


def test_many_copies_of_a_declaration_are_one_finding() -> None:
    finding = one(*[".reg .b32 tmp;"] * 4)
    start = finding.span.start.line
    assert finding.data["lines"] == [start + 1, start + 2]
    assert finding.labels[0].span.start.line == start - 1
    assert finding.help is not None and "`{ }`" in finding.help


def test_a_bad_name_is_one_finding_wherever_it_is_used() -> None:
    text = kernel("ld.global.u8 %rs1, [a.b];\nld.global.u8 %rs1, [a.b+2];", ".global .b8 a.b[4];")
    (finding,) = findings(text)
    assert finding.message == "'.' is not allowed in a PTX name: `a.b`"
    assert finding.help is not None and "`a_$_b`" in finding.help


def test_a_character_outside_ascii_is_named_by_its_code_point() -> None:
    message = one("mov.u32 %r1, x\u2014y;").message
    assert message == "'\u2014' (U+2014) is not allowed in a PTX name: `x\u2014y`"


@pytest.mark.parametrize(
    ("statement", "message", "help"),
    [
        ("add.u32 %r1, , 2;", "unexpected ',', expected an operand", None),
        ("ld.global.u32 %r1, [%rd1+];", "unexpected ']', expected a constant", None),
        ("ld.global.u32 %r1 [p];", "unexpected 'p'", "is a ',' missing before the '['?"),
    ],
)
def test_what_was_expected_is_short(statement: str, message: str, help: str | None) -> None:
    finding = one(statement)
    assert finding.message.startswith(message)
    assert help is None or finding.help == help
