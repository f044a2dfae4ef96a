"""All faults of a file in one run, each in its place, and nothing dropped in silence."""

from __future__ import annotations

import time

import pytest

from ptxlint.ptx import parse
from ptxlint.ptx.ir import Module

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
KERNEL = HEAD + ".visible .entry k()\n{\n.reg .b32 %r<9>;\n"  # the next line is line 7


def faults(module: Module) -> list[tuple[int, str]]:
    return [(module.source.line_of(p.start), p.message) for p in module.syntax_problems]


def opcodes(module: Module) -> list[str]:
    return [str(i.opcode) for f in module.functions for i in f.instructions]


def test_all_faults_in_one_run() -> None:
    text = (
        KERNEL
        + "add.s32 %r1 %r2, %r3;\nmov.b32 %r1, 08;\nld.b32 %r1, [%r2;\nmov.b32 %r4, %r5;\nret;\n}\n"
    )
    module = parse(text)
    assert [line for line, _ in faults(module)] == [7, 8, 9]
    assert module.parsed == "partial"
    assert opcodes(module) == ["mov.b32", "ret"]
    skipped = [text[a:b] for a, b in module.unanalysed]
    assert skipped == ["add.s32 %r1 %r2, %r3;", "mov.b32 %r1, 08;", "ld.b32 %r1, [%r2;"]


def test_fault_has_place_and_what_was_expected() -> None:
    module = parse(KERNEL + "  add.s32 %r1 %r2, %r3;\nret;\n}\n")
    [problem] = module.syntax_problems
    assert module.source.position(problem.start) == (7, 15)
    assert problem.message == "unexpected '%r2'"
    assert "','" in problem.expected


def test_missing_semicolon_keeps_both_statements() -> None:
    module = parse(KERNEL + "mov.b32 %r1, 0\nmov.b32 %r2, 1;\nret;\n}\n")
    assert faults(module) == [(8, "unexpected 'mov'")]
    assert opcodes(module) == ["mov.b32", "mov.b32", "ret"]
    assert module.unanalysed == []


def test_missing_closing_brace_before_the_next_function() -> None:
    module = parse(KERNEL + "ret;\n.visible .entry next()\n{\nret;\n}\n")
    assert faults(module) == [(8, "'.visible' inside a function")]
    assert [f.name for f in module.functions] == ["k", "next"]
    assert opcodes(module) == ["ret", "ret"]


def test_missing_closing_brace_at_the_end() -> None:
    module = parse(KERNEL + "ret;\n")
    assert faults(module) == [(8, "the text ends inside a function")]
    assert "line 5" in str(module.syntax_problems[0].note)


def test_missing_opening_brace() -> None:
    module = parse(HEAD + ".visible .entry k()\n.reg .b32 %r<3>;\nmov.b32 %r1, 0;\nret;\n}\n")
    assert faults(module) == [(5, "unexpected '.reg'")]
    assert opcodes(module) == ["mov.b32", "ret"]
    assert module.name_problems == []


def test_bad_parameter_keeps_the_body() -> None:
    module = parse(HEAD + ".visible .entry k(.param .u64 p,)\n{\nret;\n}\n")
    assert [line for line, _ in faults(module)] == [4]
    assert opcodes(module) == ["ret"]


def test_section_row() -> None:
    module = parse(HEAD + ".section .debug_str\n{\n.b8 1\n.b8 x 2\n}\n.global .b32 g;\n")
    assert [line for line, _ in faults(module)] == [7]
    assert [v.name for v in module.variables] == ["g"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "no .version at the start of the file"),
        ("\n\n.target sm_80\n", 3, "no .version at the start of the file"),
        (".version 8.0\n", 2, "no .target after .version"),
        (HEAD + ".target sm_90\n", 4, "a second .target"),
        ("\ufeff" + HEAD, 1, "a byte order mark before the text"),
        (HEAD + "\0", 4, "a NUL byte"),
        (HEAD + "/* no end", 4, "a '/*' that nothing ends"),
        (HEAD + ";\n", 4, "unexpected ';'"),
    ],
)
def test_text_around(text: str, line: int, message: str) -> None:
    assert (line, message) in faults(parse(text))


def test_a_header_alone_is_a_module() -> None:
    assert parse(HEAD).parsed == "full"


@pytest.mark.parametrize("name", ["a.b", "a@b", "x?", "über"])
def test_a_character_that_no_name_has(name: str) -> None:
    module = parse(f"{HEAD}.global .b32 {name};\n")
    [problem] = module.syntax_problems
    assert problem.kind == "identifier"
    assert module.source.text[problem.start : problem.end] == name


@pytest.mark.parametrize(
    "text",
    [
        "a" * 20_000_000,
        KERNEL + " " * 3_000_000 + "x",
        KERNEL + "{" * 50_000,
        KERNEL + "mov %r1 %r2;\n" * 100_000 + "}\n",
        "mov.u32 %r1, %r2;\n" * 100_000,
        KERNEL + "mov.u32 %r1, " + "-" * 5_000 + "1;\nret;}",
        HEAD + ".global .b32 a = " + "{" * 5_000 + "1" + "}" * 5_000 + ";",
        HEAD + ".global .b8 a[9] = {" + "1 , " * 20_000 + "q q};",
        HEAD + ".entry k() " + '.pragma "a" ;' * 5_000 + "x",
        KERNEL + "@" + " " * 3_000_000 + "%p",
        KERNEL + "add.s32 %q1, %q2, %q3;\n" * 10_000 + "}",
        "".join(chr(i * 7919 % 256) for i in range(1_000_000)),
    ],
    ids=lambda text: f"{text[-40:-30]!r}",
)
def test_noise_takes_bounded_time_and_raises_nothing(text: str) -> None:
    started = time.process_time()
    module = parse(text)
    assert module.parsed != "full" or module.name_problems
    assert time.process_time() - started < 10


def test_deep_scopes_are_read() -> None:
    from ptxlint.ptx.printer import print_module

    module = parse(KERNEL + "{" * 20_000 + "mov.b32 %r1, %r2;" + "}" * 20_000 + "ret;}\n")
    assert module.parsed == "full"
    assert opcodes(module) == ["mov.b32", "ret"]
    assert print_module(module).count("{") == 20_001
