"""The format for people: the finding, the place, why, and what to do, as rustc shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..model import FileReport, Finding, Severity, SourceLine, Span
from . import Context
from .merge import Shown, shown
from .names import shorten
from .quote import quoted
from .summary import plural

# Pieces of a line with the style that a terminal gives them ("" for none).
Line = list[tuple[str, str]]

_LEVELS = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold cyan"}
_GUTTER = "bold blue"


def render(reports: Sequence[FileReport], context: Context) -> str:
    """Each finding as a paragraph, with an empty line after it."""
    lines: list[Line] = []
    for report in reports:
        for item in shown(report):
            lines += _finding(report, item)
            lines.append([])
    if context.color:
        from .color import painted

        return "".join(painted(line) + "\n" for line in lines)
    return "".join("".join(text for text, _ in line) + "\n" for line in lines)


def _finding(report: FileReport, item: Shown) -> Iterator[Line]:
    finding = item.finding
    level = finding.severity.value
    style = _LEVELS[finding.severity]
    places = [finding.span, *(label.span for label in finding.labels)]
    width = len(str(max(span.start.line for span in places)))
    yield [
        (f"{level}[{finding.code}]", style),
        (f" {finding.name}: {finding.message}", "bold"),
    ]
    start = finding.span.start
    # What is found in a binary as a whole has no line.
    place = f":{start.line}:{start.column}" if report.lines else ""
    yield [(" " * width + "--> ", _GUTTER), (f"{report.name}{place}", "")]
    if report.lines:
        yield from _quotes(report, finding, width, style)
    rows = [*_reasons(finding), *_origin(item)]
    if rows:
        yield [(" " * width + " |", _GUTTER)]
    for word, text in rows:
        first, *rest = text.split("\n")
        yield [(" " * width + " = ", _GUTTER), (f"{word}:", "bold"), (f" {first}", "")]
        for more in rest:
            yield [(" " * (width + len(word) + 5) + more, "")]


def _quotes(report: FileReport, finding: Finding, width: int, style: str) -> Iterator[Line]:
    """The lines that the finding and its labels are at, in order, each with its marks."""
    marks: list[tuple[Span, str, str, str]] = [(finding.span, "^", "", style)]
    marks += [(label.span, "-", label.message, _GUTTER) for label in finding.labels]
    marks.sort(key=lambda mark: mark[0].start.line)
    yield [(" " * width + " |", _GUTTER)]
    before = 0
    for span, sign, message, colour in marks:
        number = span.start.line
        text, under = quoted(report.lines, span, sign)
        if number != before:
            if before and number > before + 1:
                yield [("...", _GUTTER)]
            yield [(f"{number:{width}} |", _GUTTER), (f" {text}" if text else "", "")]
        yield [(" " * width + " | ", _GUTTER), (under + (f" {message}" if message else ""), colour)]
        before = number


def _reasons(finding: Finding) -> Iterator[tuple[str, str]]:
    for note in finding.notes:
        yield "note", note
    for assumption in finding.assumptions:
        yield "assumes", assumption
    if finding.help:
        yield "help", finding.help
    if finding.fix:
        yield "fix", finding.fix.message


def _origin(item: Shown) -> Iterator[tuple[str, str]]:
    """The kernel, and the CUDA lines from the innermost to the outermost."""
    finding = item.finding
    if finding.kernel is not None:
        name = shorten(finding.kernel_demangled or finding.kernel)
        more = f" + {item.more} {plural(item.more, 'kernel')}" if item.more else ""
        yield "kernel", name + more
    if finding.source:
        first, *callers = finding.source
        stack = [_place(first), *(f"inlined at {_place(line)}" for line in callers)]
        yield "source", "\n".join(stack)


def _place(line: SourceLine) -> str:
    return f"{line.file}:{line.line}" + (f":{line.column}" if line.column else "")
