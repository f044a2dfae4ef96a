"""Each construct of PTX, beside ptxas' verdict on it."""

from __future__ import annotations

import pytest

from ptxlint import Severity, check_text
from ptxlint.ptx import parse
from ptxlint.ptx.grammar import SyntaxFault
from ptxlint.ptx.printer import print_module
from ptxlint.ptx.reference import parse_reference
from tests import ptxas
from tests.ptx.snippets import Snippet, snippets
from tests.ptx.structure import structure

ALL = snippets()


def named(verdicts: str) -> pytest.MarkDecorator:
    chosen = [s for s in ALL if s.verdict in verdicts.split()]
    return pytest.mark.parametrize("snippet", chosen, ids=[s.source[:60] for s in chosen])


def problem_lines(snippet: Snippet) -> set[int]:
    """Lines of the errors that the rules of category 1 report."""
    findings = check_text(snippet.text, select="PTX1")
    return {f.span.start.line for f in findings if f.severity is Severity.ERROR}


@named("accept")
def test_accepted_reads_full(snippet: Snippet) -> None:
    assert problem_lines(snippet) == set()
    assert parse(snippet.text).parsed == "full"


@named("syntax name")
def test_rejected_is_reported_on_the_assemblers_line(snippet: Snippet) -> None:
    assert problem_lines(snippet) & snippet.lines or (not snippet.lines and problem_lines(snippet))


@named("accept syntax name other")
def test_the_grammar_alone_agrees(snippet: Snippet) -> None:
    module = parse(snippet.text)
    # That there is one .version and one .target is not the grammar's matter.
    problems = [p for p in module.syntax_problems if not p.message.startswith(("a second", "no ."))]
    try:
        reference = parse_reference(snippet.text)
    except (SyntaxFault, ValueError):
        assert problems
        return
    assert problems == []
    assert structure(module) == structure(reference)


@ptxas.needed
def test_printed_constructs_assemble_to_the_same_code() -> None:
    different = []
    for snippet in ALL:
        if snippet.verdict != "accept":
            continue
        before = ptxas.assemble(snippet.text, "sm_90a")
        after = ptxas.assemble(print_module(parse(snippet.text)), "sm_90a")
        if not after.accepted or before.code != after.code:
            different.append((snippet.source, after.output))
    assert different == []


@ptxas.needed
@pytest.mark.slow
def test_the_recorded_verdicts_are_those_of_ptxas() -> None:
    wrong = []
    for snippet in ALL:
        verdict = ptxas.assemble(snippet.text, "sm_90a")
        if verdict.accepted != (snippet.verdict == "accept") or (
            not verdict.accepted and verdict.lines != snippet.lines
        ):
            wrong.append((snippet.source, verdict.output))
    assert wrong == []
