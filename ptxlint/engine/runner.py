"""One text through the parser, the selected rules and the suppressions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..model import FileReport, Finding, Position, Span
from ..ptx import parse
from ..ptx.ir import Function, Module
from .collector import held_back
from .directives import MARK
from .options import Options
from .registry import Entry, entries
from .selection import find, resolve, selected

_START = Span(Position(1, 1), Position(1, 1))


def lint(text: str, path: str = "<text>", options: Options | None = None) -> FileReport:
    """All findings in one PTX text, by place; the suppressed ones are marked, not left out.

    Raises UsageError for options that name an unknown rule, and nothing else: what fails inside
    becomes a PTX999 finding.
    """
    options = options or Options()
    rules = selected(options)
    with held_back():
        return _lint(text, path, options, rules)


def _lint(text: str, path: str, options: Options, rules: tuple[Entry, ...]) -> FileReport:
    try:
        module = parse(text, name=path)
    except Exception as error:
        # A parser that fails must not take the other files' findings with it.
        findings = failure("reading the file failed", error, _START, options)
        return FileReport(path, "failed", findings, [], lines=text.split("\n"))
    run = Run(module, options)
    for rule in rules:
        run.check(rule)
    findings = run.findings
    if MARK in text:
        findings = _suppress(module, rules, run)
    if findings:
        from .origin import Origins

        findings = releveled(Origins(module).complete(findings), options)
    source = module.source
    return FileReport(
        path,
        module.parsed,
        findings,
        [kernel.name for kernel in module.kernels],
        unanalysed=[source.span(start, end) for start, end in module.unanalysed],
        lines=source.lines() if findings else [],
    )


class Run:
    """The rules over one module: what they found, and the codes of those that failed."""

    def __init__(self, module: Module, options: Options) -> None:
        self.module = module
        self.options = options
        self.findings: list[Finding] = []
        self.failed: set[str] = set()
        self._facts: Any = None

    def check(self, rule: Entry) -> None:
        """Run one rule, if it has a check and its trigger occurs in the module, on each function
        that its quick look lets through.
        """
        if rule.category == "linter" or rule.about_images:
            return
        if rule.mnemonics and rule.mnemonics.isdisjoint(self.module.mnemonics):
            return
        try:
            if self._facts is None:
                from ..analysis import Facts

                self._facts = Facts(self.module, self.options)
            functions = [f for f in self.module.functions if f.body is not None]
            screen = rule.screening()
            if screen is not None:
                functions = [f for f in functions if self._facts.once(f, screen)]
                if not functions:
                    return
            code = rule.load()
        except Exception as error:
            self._fail(rule, error, None)
            return
        if hasattr(code, "check_module"):
            self._call(rule, code.check_module, self.module, None)
            return
        for function in functions:
            self._call(rule, code.check, function, function)

    def _call(self, rule: Entry, check: Any, subject: object, function: Function | None) -> None:
        """Take what one call of a check yields; a failure ends this call, no other."""
        name = None if function is None else function.name
        try:
            for finding in check(subject, self._facts):
                anonymous = finding.kernel is None and name is not None
                self.findings.append(replace(finding, kernel=name) if anonymous else finding)
        except Exception as error:
            self._fail(rule, error, function)

    def _fail(self, rule: Entry, error: Exception, function: Function | None) -> None:
        self.failed.add(rule.code)
        where, span = "", _START
        if function is not None:
            where = f" in {'kernel' if function.is_kernel else 'function'} {function.name}"
            span = self.module.source.span(function.start, function.start + 1)
        message = f"rule {rule.name} ({rule.code}) failed{where}"
        self.findings += failure(message, error, span, self.options)


def failure(message: str, error: Exception, span: Span, options: Options) -> list[Finding]:
    """The PTX999 finding of an error of our own; none where it is ignored by code or name."""
    rule = find("PTX999", entries())
    ignored = {name.upper() for name in (*options.ignore, *options.extend_ignore)}
    if rule is None or ignored & {rule.code, rule.name.upper()}:
        return []
    text = " ".join(str(error).split())
    what = f"{message}: {type(error).__name__}" + (f": {text}" if text else "")
    notes: tuple[str, ...] = ("the other rules went on; what this one would say is not known",)
    if options.verbose:
        import traceback

        notes += tuple("".join(traceback.format_exception(error)).rstrip().split("\n"))
    return [Finding(rule.code, rule.name, rule.severity, rule.confidence, what, span, notes=notes)]


def _suppress(module: Module, rules: tuple[Entry, ...], run: Run) -> list[Finding]:
    """The findings with those marked that a comment covers, and what is wrong with comments."""
    from .suppressions import Suppressions

    suppressions = Suppressions(module, entries())
    findings = suppressions.apply(run.findings)
    judged = {rule.code for rule in rules if rule.category != "linter"} - run.failed
    own = [*suppressions.complaints, *suppressions.unused(judged)]
    chosen = {rule.code for rule in rules}
    return findings + suppressions.apply(f for f in own if f.code in chosen)


def releveled(findings: list[Finding], options: Options) -> list[Finding]:
    """The findings at the levels that ``options.severity`` asks for."""
    if not options.severity:
        return findings
    levels = {resolve(name).code: level for name, level in options.severity}
    return [replace(f, severity=levels.get(f.code, f.severity)) for f in findings]
