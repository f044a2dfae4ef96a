"""The runner: rules that raise, where findings come from, fingerprints, levels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ptxlint.engine.options import Options
from ptxlint.engine.origin import normalised
from ptxlint.engine.runner import lint
from ptxlint.model import Finding, Rule, Severity, SourceLine
from ptxlint.ptx.ir import Function, Module

from .conftest import made_up, reports

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def entry(name: str, *lines: str) -> str:
    return f".visible .entry {name}()\n{{\n.reg .b32 %r<9>;\n" + "\n".join(lines) + "\nret;\n}\n"


def failing(function: Function, facts: Any) -> Iterator[Finding]:
    if function.name == "bad":
        raise KeyError("lane\n7")
    rule = Rule("PTX396", "fails", "memory", Severity.INFO, "made up")
    yield rule.finding("fine", facts.module.source.span(function.start, function.end))


def test_a_rule_that_raises_is_one_finding_and_the_rest_goes_on(
    install: Callable[..., None],
) -> None:
    install(made_up("PTX396", "fails", failing), reports("add", "PTX397", "seen-add"))
    text = HEAD + entry("bad", "add.u32 %r1, %r2, %r3;") + entry("good")
    findings = lint(text).findings
    assert [(f.code, f.kernel) for f in findings] == [
        ("PTX999", "bad"),
        ("PTX397", "bad"),
        ("PTX396", "good"),
    ]
    assert findings[0].message == "rule fails (PTX396) failed in kernel bad: KeyError: 'lane\\n7'"
    assert "Traceback" not in "".join(findings[0].notes)
    verbose = lint(text, options=Options(verbose=True)).findings[0]
    assert any("Traceback" in note for note in verbose.notes)
    assert "PTX999" not in {
        f.code for f in lint(text, options=Options(ignore=("PTX999",))).findings
    }


def test_internal_errors_are_reported_whatever_is_selected(install: Callable[..., None]) -> None:
    install(made_up("PTX396", "fails", failing))
    findings = lint(HEAD + entry("bad"), options=Options(select=("PTX396",))).findings
    assert [f.code for f in findings] == ["PTX999"]


def test_a_module_rule_runs_once_and_gets_the_kernel_by_place(
    install: Callable[..., None],
) -> None:
    rule = Rule("PTX396", "twice", "memory", Severity.INFO, "made up")

    def check_module(module: Module, facts: Any) -> Iterator[Finding]:
        assert facts.module is module
        for offset in (module.functions[1].start, 0):
            yield rule.finding("here", module.source.span(offset, offset + 1))

    install(made_up("PTX396", "twice", check_module=check_module))
    findings = lint(HEAD + entry("a") + entry("_Z1bv")).findings
    assert [(f.span.start.line, f.kernel, f.kernel_demangled) for f in findings] == [
        (1, None, None),
        (10, "_Z1bv", "b()"),
    ]


def test_a_rule_without_its_trigger_is_not_loaded(install: Callable[..., None]) -> None:
    rule = made_up("PTX396", "shuffles", mnemonics=frozenset({"shfl"}))
    rule.modules.pop("PTX396")  # loading it would be a PTX999
    install(rule)
    assert lint(HEAD + entry("a")).findings == []


@pytest.mark.usefixtures("two_rules")
def test_the_stack_of_inlined_calls_comes_with_the_finding() -> None:
    text = (
        HEAD
        + ".entry k()\n{\n.reg .b32 %r<9>;\n"
        + ".loc 1 17 30\nmov.u32 %r3, 0;\n"
        + ".loc 1 4 8, function_name $L__s1, inlined_at 1 17 30\nmov.u32 %r2, 0;\n"
        + ".loc 2 3 121, function_name $L__s0, inlined_at 1 4 8\nadd.u32 %r1, %r2, %r3;\n"
        + "ret;\n}\n"
        + '.file 1 "k.cu"\n.file 2 "h.cuh"\n'
        + ".section .debug_str\n{\n$L__s0:\n.b8 102,0\n$L__s1:\n.b8 103,0\n}\n"
    )
    (finding,) = lint(text).findings
    assert finding.source == (
        SourceLine("h.cuh", 3, 121),
        SourceLine("k.cu", 4, 8),
        SourceLine("k.cu", 17, 30),
    )


@pytest.mark.usefixtures("two_rules")
def test_fingerprints_do_not_follow_lines_and_register_numbers() -> None:
    def prints(text: str) -> list[str]:
        return [f.fingerprint for f in lint(text).findings]

    first = prints(HEAD + entry("k", "add.u32 %r1, %r2, %r1;", "add.u32 %r4, %r5, %r4;"))
    moved = prints(
        HEAD + "\n\n" + entry("k", "add.u32 %r7, %r3,  %r7; // x", "add.u32 %r2, %r3, %r2;")
    )
    assert first == moved
    assert len(set(first)) == 2
    other = prints(HEAD + entry("k", "add.u32 %r1, %r2, %r2;"))
    elsewhere = prints(HEAD + entry("j", "add.u32 %r1, %r2, %r1;"))
    assert not {*other, *elsewhere} & {*first}


def test_normalised_keeps_what_matters() -> None:
    assert normalised("@%p3 bra $L__BB0_7;") == "@%p#0 bra $L#1;"
    assert normalised("mov.u32 %r5, %tid.x; // c") == "mov.u32 %r#0, %tid.x;"
    assert normalised("ld.u32 %r5,\n\t[%rd5+8];") == "ld.u32 %r#0, [%rd#1+8];"


@pytest.mark.usefixtures("two_rules")
def test_levels_can_be_replaced_by_code_or_name() -> None:
    text = HEAD + entry("k", "mul.lo.u32 %r1, %r2, %r3;", "add.u32 %r1, %r2, %r3;")
    levels = {"PTX397": "error", "seen-mul": "info"}
    findings = lint(text, options=Options.of(severity=levels)).findings
    assert [f.severity.value for f in findings] == ["info", "error"]


def test_a_parser_that_raises_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str, name: str) -> Module:
        raise RuntimeError("no")

    monkeypatch.setattr("ptxlint.engine.runner.parse", broken)
    report = lint(HEAD)
    assert report.parsed == "failed"
    assert [f.message for f in report.findings] == ["reading the file failed: RuntimeError: no"]
