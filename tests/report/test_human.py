"""The formats for people, to the letter."""

from __future__ import annotations

import subprocess
import sys

from ptxlint.model import FileReport, Position, Severity, SourceLine, Span
from ptxlint.report import Context, render
from ptxlint.report.summary import line, statistics

from .conftest import LINES, finding, span

FULL = """\
error[PTX301] misaligned-access: `ld.shared.v4.u32` needs 16-byte alignment, `[stash+4]` has 4
  --> a b/peek.ptx:10:2
   |
 5 |     .shared .align 4 .b8 stash[256];
   |             -------- declared with 4 here
...
10 |     ld.shared.v4.u32    {%r1, %r2, %r3, %r4}, [stash+4];
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   |
   = note: the access faults with CUDA_ERROR_MISALIGNED_ADDRESS (716)
   = assumes: `p` is 256-byte aligned
   = help: write `.align 16`, and use an offset that is a multiple of 16
   = kernel: peek(unsigned int*)
   = source: peek.cuh:7:3
             inlined at peek.cu:21:5

info[PTX804] generic-access: generic: 100%
  --> a b/peek.ptx:11:2
   |
11 |     ret;
   |     ^^^^

"""


def test_full(reports: list[FileReport]) -> None:
    assert render("full", reports) == FULL


def test_concise(reports: list[FileReport]) -> None:
    assert render("concise", reports) == (
        "a b/peek.ptx:10:2: PTX301 error `ld.shared.v4.u32` needs 16-byte alignment, "
        "`[stash+4]` has 4 [misaligned-access]\n"
        "a b/peek.ptx:11:2: PTX804 info generic: 100% [generic-access]\n"
    )


def test_github(reports: list[FileReport]) -> None:
    first, second = render("github", reports).splitlines()
    assert first == (
        "::error file=a b/peek.ptx,line=10,endLine=10,col=2,endColumn=52,"
        "title=PTX301 misaligned-access::"
        "`ld.shared.v4.u32` needs 16-byte alignment, `[stash+4]` has 4"
    )
    assert second.startswith("::notice ")
    assert second.endswith("::generic: 100%25")


def test_colour_changes_no_character(reports: list[FileReport]) -> None:
    import re

    coloured = render("full", reports, Context(color=True))
    assert "\x1b[1;31merror[PTX301]" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == FULL


def test_rich_is_loaded_for_colour_alone() -> None:
    code = (
        "import sys; from ptxlint.report import Context, render; from ptxlint.model import *\n"
        "span = Span(Position(1, 1), Position(1, 1))\n"
        "f = Finding('PTX301', 'n', Severity.ERROR, Confidence.HIGH, 'm', span)\n"
        "render('full', [FileReport('x', 'full', [f], [], lines=['a'])])\n"
        "sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def instances(*kernels: str, source: tuple[SourceLine, ...]) -> FileReport:
    found = [finding(kernel=k, kernel_demangled=k, source=source) for k in kernels]
    return FileReport("t.ptx", "full", found, list(kernels), lines=LINES)


def test_instances_of_one_template_are_one_finding() -> None:
    where = (SourceLine("t.cu", 4, 1),)
    report = instances("k<int>", "k<int>", "k<float>", "k<float>", "k<char>", source=where)
    shown = render("concise", [report]).splitlines()
    assert [text.rpartition("] ")[2] for text in shown] == ["+ 2 kernels", "+ 1 kernel"]
    assert "   = kernel: k<int> + 2 kernels\n" in render("full", [report])
    assert render("json", [report]).count('"code": "PTX301"') == 5
    # Without a CUDA line nothing says that two kernels share a defect.
    assert len(render("concise", [instances("a", "b", source=())]).splitlines()) == 2


def test_a_long_line_is_cut_around_the_mark() -> None:
    text = "a" * 10_000_000 + "BAD" + "b" * 10_000_000
    at = 10_000_001
    report = FileReport(
        "l.ptx", "full", [finding(span=span(1, at, at + 3), labels=())], [], lines=[text]
    )
    quote, marks = render("full", [report]).splitlines()[3:5]
    assert len(quote) < 160
    assert quote.startswith("1 | …aaa")
    assert quote.endswith("bbb…")
    assert quote.index("BAD") == marks.index("^^^")
    assert marks.count("^") == 3


def test_marks_stay_under_what_they_mark() -> None:
    def shown(text: str, where: Span) -> tuple[str, str]:
        report = FileReport("l.ptx", "full", [finding(span=where, labels=())], [], lines=[text])
        quote, marks = render("full", [report]).splitlines()[3:5]
        return quote[4:], marks[4:]

    assert shown("\tx\ty;", span(1, 4, 5)) == ("    x   y;", "        ^")
    assert shown("ab\x1b[0mc", span(1, 7, 8)) == ("ab\N{REPLACEMENT CHARACTER}[0mc", "      ^")
    assert shown("ret", span(1, 4, 4)) == ("ret", "   ^")
    assert shown("", span(1, 1, 1))[1] == "^"
    assert shown("ab cd", Span(Position(1, 4), Position(2, 2))) == ("ab cd", "   ^^")
    assert shown("ab", span(1, 90, 99)) == ("ab", "  ^")
    assert shown("ab", Span(Position(9, 1), Position(9, 2)))[1] == "^"


def test_summary_and_statistics(reports: list[FileReport]) -> None:
    assert line(reports) == "1 error, 1 info in 2 files; 1 file not analysed in full"
    assert line(reports[1:]) == "nothing found in 1 file"
    reports[0].findings += [finding(severity=Severity.WARNING), finding()]
    assert line(reports).startswith("2 errors, 1 warning, 1 info in 2 files")
    assert [" ".join(row.split()) for row in statistics(reports)] == [
        "2 PTX301 error misaligned-access",
        "1 PTX301 warning misaligned-access",
        "1 PTX804 info generic-access",
    ]
