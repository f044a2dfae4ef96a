"""Each form of suppression comment: what it covers, and what it must not cover."""

from __future__ import annotations

import pytest

from ptxlint.engine.runner import lint
from ptxlint.model import FileReport

pytestmark = pytest.mark.usefixtures("two_rules")

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGS = "\t.reg .b32 %r<9>;\n"
ADD = "\tadd.u32 %r1, %r2, %r3;"
MUL = "\tmul.lo.u32 %r1, %r2, %r3;"


def body(*lines: str) -> FileReport:
    text = HEAD + ".visible .entry k()\n{\n" + REGS + "\n".join(lines) + "\n\tret;\n}\n"
    return lint(text)


def seen(report: FileReport) -> list[tuple[str, int, str | None]]:
    """Code, line counted from the first line of the body's lines, and what suppressed it."""
    return [(f.code, f.span.start.line - 6, f.suppressed) for f in report.findings]


def test_nothing_is_suppressed_without_a_comment() -> None:
    assert seen(body(ADD, MUL)) == [("PTX397", 1, None), ("PTX398", 2, None)]


def test_trailing_covers_its_statement_only() -> None:
    report = body(ADD, ADD + " // ptxlint: ignore[PTX397] -- fine here", ADD)
    assert seen(report) == [
        ("PTX397", 1, None),
        ("PTX397", 2, "inline"),
        ("PTX397", 3, None),
    ]


def test_trailing_covers_a_statement_of_several_lines() -> None:
    report = body("\tadd.u32 %r1,", "\t\t%r2, %r3; // ptxlint: ignore[PTX397]", ADD)
    assert seen(report) == [("PTX397", 1, "inline"), ("PTX397", 3, None)]


def test_a_comment_inside_a_statement_is_trailing() -> None:
    report = body("\tadd.u32 %r1, // ptxlint: ignore[PTX397]", "\t\t%r2, %r3;", ADD)
    assert seen(report) == [("PTX397", 1, "inline"), ("PTX397", 3, None)]


def test_own_line_covers_the_next_statement_only() -> None:
    report = body("\t// ptxlint: ignore[PTX397]", "", "\t// why", ADD, ADD)
    assert seen(report) == [("PTX397", 4, "inline"), ("PTX397", 5, None)]


def test_own_line_comments_add_up() -> None:
    report = body("// ptxlint: ignore[PTX398]", "// ptxlint: ignore[PTX397]", ADD)
    assert seen(report) == [("PTX901", 1, None), ("PTX397", 3, "inline")]


def test_block_comment_and_nested_scope() -> None:
    report = body("\t{", "\t/* ptxlint: ignore[PTX397] */", ADD, "\t}", ADD)
    assert seen(report) == [("PTX397", 3, "inline"), ("PTX397", 5, None)]


def test_names_and_several_codes() -> None:
    report = body("\t// ptxlint: ignore[seen-add, PTX398]", ADD, MUL)
    assert seen(report) == [
        ("PTX901", 1, None),
        ("PTX397", 2, "inline"),
        ("PTX398", 3, None),
    ]


@pytest.mark.parametrize(
    "header", [".visible .entry k()", ".entry k()", ".func k()", ".weak\n.func k()"]
)
@pytest.mark.parametrize(
    "above",
    ["// ptxlint: ignore[PTX397]\n", "// ptxlint: ignore[PTX397]\n\t// ptxlint: ignore[PTX398]\n"],
)
def test_right_above_a_function_covers_all_of_it(header: str, above: str) -> None:
    rest = "{\n" + REGS + ADD + "\n" + MUL + "\n" + ADD + "\n\tret;\n}\n"
    other = ".visible .entry other()\n" + rest
    report = lint(HEAD + above + header + "\n" + rest + other)
    found = [(f.code, f.kernel, f.suppressed) for f in report.findings]
    mul = "inline" if "PTX398" in above else None
    assert found[:3] == [
        ("PTX397", "k", "inline"),
        ("PTX398", "k", mul),
        ("PTX397", "k", "inline"),
    ]
    assert found[3:] == [(code, "other", None) for code in ("PTX397", "PTX398", "PTX397")]


@pytest.mark.parametrize("between", ["\n", "// about k\n"])
def test_not_right_above_covers_the_header_alone(between: str) -> None:
    rest = ".visible .entry k()\n{\n" + REGS + ADD + "\n\tret;\n}\n"
    report = lint(HEAD + "// ptxlint: ignore[PTX397]\n" + between + rest)
    assert [(f.code, f.suppressed) for f in report.findings] == [
        ("PTX901", None),
        ("PTX397", None),
    ]


def test_disable_and_enable() -> None:
    report = body(
        ADD,
        "\t// ptxlint: disable[PTX397, seen-mul]",
        ADD,
        "\t// ptxlint: enable[seen-add]",
        ADD,
        MUL,
        "\t// ptxlint: enable[PTX398]",
        MUL,
    )
    assert seen(report) == [
        ("PTX397", 1, None),
        ("PTX397", 3, "inline"),
        ("PTX397", 5, None),
        ("PTX398", 6, "inline"),
        ("PTX398", 8, None),
    ]


def test_disable_without_enable_reaches_the_end_and_is_reported() -> None:
    report = body(ADD, "\t// ptxlint: disable[PTX397]", ADD)
    assert seen(report) == [
        ("PTX397", 1, None),
        ("PTX904", 2, None),
        ("PTX397", 3, "inline"),
    ]


def test_enable_without_disable_is_reported() -> None:
    assert seen(body("\t// ptxlint: enable[PTX397]")) == [("PTX904", 1, None)]


def test_file_ignore_covers_what_is_above_it_too() -> None:
    report = body(ADD, "\t// ptxlint: file-ignore[PTX397]", ADD, MUL)
    assert [f.suppressed for f in report.findings] == ["inline", "inline", None]


def test_unused_is_reported_at_the_name() -> None:
    (finding,) = body("\t// ptxlint: ignore[PTX397] -- old").findings
    assert (finding.code, finding.message) == ("PTX901", "`PTX397` suppresses nothing here")
    assert (finding.span.start.column, finding.span.end.column) == (21, 27)


def test_what_did_not_run_is_not_called_unused() -> None:
    from ptxlint.engine.options import Options

    text = HEAD + "// ptxlint: file-ignore[PTX397]\n"
    assert lint(text, options=Options(ignore=("PTX397",))).findings == []
    assert [f.code for f in lint(text).findings] == ["PTX901"]


@pytest.mark.parametrize(
    "blanket", ["ignore", "ignore[]", "ignore[ALL]", "file-ignore", "disable[*]"]
)
def test_blanket_forms_do_nothing_and_are_reported(blanket: str) -> None:
    report = body(ADD + f" // ptxlint: {blanket}")
    assert seen(report) == [("PTX397", 1, None), ("PTX903", 1, None)]


def test_unknown_codes_prefixes_and_words() -> None:
    report = body(
        ADD + " // ptxlint: ignore[PTX39]",
        ADD + " // ptxlint: ignore[seen-ad]",
        ADD + " // ptxlint: ingore[PTX397]",
    )
    complaints = [f for f in report.findings if f.code == "PTX902"]
    assert [f.message for f in complaints] == [
        "no rule is called `PTX39`: a suppression names rules in full, not by a prefix",
        "no rule is called `seen-ad`; did you mean 'seen-add'?",
        "`ingore` is not a suppression; did you mean 'ignore'?",
    ]
    assert all(f.suppressed is None for f in report.findings)


def test_a_string_is_no_comment() -> None:
    text = '.file 1 "// ptxlint: ignore[PTX397]"\n.file 2 "http://x" // ptxlint: ignore[PTX1]\n'
    assert [f.code for f in lint(HEAD + text).findings] == ["PTX902"]


def test_a_comment_about_ptxlint_is_no_suppression() -> None:
    report = body(ADD + " // see ptxlint: ignore[PTX397]")
    assert seen(report) == [("PTX397", 1, None)]


def test_a_complaint_can_be_suppressed_itself() -> None:
    report = body("// ptxlint: file-ignore[unused-suppression]", "// ptxlint: ignore[PTX397]")
    assert seen(report) == [("PTX901", 2, "inline")]


def test_windows_line_ends() -> None:
    text = HEAD + ".entry k()\n{\n" + REGS + "// ptxlint: ignore[PTX397]\n" + ADD + "\n\tret;\n}\n"
    above = HEAD + "// ptxlint: ignore[PTX397]\n.entry k()\n{\n" + REGS + ADD + "\n}\n"
    for variant in (text, above):
        report = lint(variant.replace("\n", "\r\n"))
        assert [(f.code, f.suppressed) for f in report.findings] == [("PTX397", "inline")]
