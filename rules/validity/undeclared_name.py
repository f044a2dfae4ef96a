"""## What it does

Reports a register, variable, label, function or prototype that is used and not declared in
scope: nowhere, only further down, only inside a pair of braces that is closed by then, or beyond
the end of its range (`%r9` of `%r<9>`). Also a branch to something that is not a label.

## Why it matters

The file does not assemble. ptxas 13.5 says `Unknown symbol '%r9'` at each use, and before it
`Arguments mismatch for instruction 'add'`, which is not the cause; for a branch, `Label expected
for argument 0 of instruction 'bra'`.

## Example

```ptx
.reg .b32 %r<9>;

add.u32 %r1, %r2, %r9;
```

## Fix

Declare the name before its first use; of a range, declare one more (`%r<10>` holds `%r0` to
`%r9`). Names that a pair of braces declares end with it.

## Limits

One finding for each name and function, at the first use; the others are listed. A name that
stands in a statement which did not parse is not reported: that may have been its declaration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ptxlint.analysis import Facts
from ptxlint.analysis.branches import BRANCHES, branch_targets, instead_of_label
from ptxlint.analysis.declared import in_scope, is_left_out, range_of, similar
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx import ir
from ptxlint.ptx.ir import Function, Module, NameProblem

RULE = Rule(
    code="PTX104",
    name="undeclared-name",
    category="validity",
    severity=Severity.ERROR,
    summary="a name that is not declared in scope",
)

_SUGGESTIONS = 20  # names of one file that "did you mean" is worked out for


class _Why(NamedTuple):
    message: str
    labels: tuple[Label, ...] = ()
    help: str | None = None


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """One finding for each name and function, then the branches."""
    uses: dict[tuple[int, str], list[NameProblem]] = {}
    for problem in module.name_problems:
        if problem.kind in ("undeclared", "early", "hidden") and not _is_label(problem):
            uses.setdefault((id(problem.function), problem.name), []).append(problem)
    names = list(uses)
    for number, problems in enumerate(uses.values()):
        if not is_left_out(module, problems[0].name):
            yield _finding(problems, names, number < _SUGGESTIONS, facts)
    for function in module.functions:
        yield from _branches(function, facts)


def _is_label(problem: NameProblem) -> bool:
    """A label of another brace scope is duplicate-label's (PTX106)."""
    return problem.kind == "hidden" and isinstance(problem.other, ir.Label)


def _finding(
    problems: list[NameProblem], names: list[tuple[int, str]], suggest: bool, facts: Facts
) -> Finding:
    first = problems[0]
    name, other = first.name, first.other
    if first.kind == "hidden" and other is not None:
        why = _out_of_scope(name, other, facts)
    elif (later := other or _later(first, facts.module)) is not None:
        why = _too_early(name, later, facts)
    else:
        why = _unknown(first, names, suggest, facts)
    more, lines = at_lines([p.start for p in problems[1:]], facts)
    return RULE.finding(
        why.message,
        facts.text_span(first.start, first.end),
        labels=why.labels,
        notes=more,
        help=why.help,
        data={"identifier": name, "lines": lines},
    )


def _out_of_scope(name: str, declared: ir.Statement, facts: Facts) -> _Why:
    line = facts.module.source.line_of(declared.start)
    return _Why(
        f"`{name}` is not declared here: the braces that declare it at line {line} are closed",
        (Label(facts.span(declared), "declared here, for this pair of braces only"),),
        "move the declaration out of the braces, or the use into them",
    )


def _too_early(name: str, declared: ir.Statement, facts: Facts) -> _Why:
    line = facts.module.source.line_of(declared.start)
    return _Why(
        f"`{name}` is used before it is declared, at line {line}",
        (Label(facts.text_span(declared.start, declared.start + 1), "declared only here"),),
        "move the declaration up: PTX knows a name from its declaration on",
    )


def _unknown(
    problem: NameProblem, names: list[tuple[int, str]], suggest: bool, facts: Facts
) -> _Why:
    name = problem.name
    declared = list(in_scope(facts.module, problem.function, problem.start))
    range_ = range_of(name, declared)
    if range_ is not None and range_.count is not None:
        base = range_.name
        mine = [n for function, n in names if function == id(problem.function)]
        highest = max(int(n[len(base) :]) for n in mine if range_of(n, [range_]))
        return _Why(
            f"`{name}` is not declared: the range `{base}<{range_.count}>` ends at"
            f" `{base}{range_.count - 1}`",
            (Label(facts.span(range_), "the range"),),
            f"declare `{base}<{highest + 1}>`",
        )
    close = similar(name, declared) if suggest else None
    hint = f"did you mean `{close}`?" if close else f"declare `{name}` before this line"
    return _Why(f"`{name}` is not declared", (), hint)


def _later(problem: NameProblem, module: Module) -> ir.Statement | None:
    """A function or variable of the module that comes only after the use."""
    found: list[ir.Variable | Function] = [*module.variables, *module.functions]
    return next((i for i in found if i.name == problem.name and i.start > problem.start), None)


def _branches(function: Function, facts: Facts) -> Iterator[Finding]:
    seen = set()
    for instruction in facts.of_mnemonics(function, BRANCHES):
        statement, targets = branch_targets(instruction)
        if statement in seen:
            continue  # a .branchtargets that several brx share
        seen.add(statement)
        said = f"`{instruction.opcode}`" if statement is instruction else "`.branchtargets`"
        for target in targets:
            if what := instead_of_label(target, function, facts):
                name = f"`{target.name}`" if hasattr(target, "name") else "this"
                yield RULE.finding(
                    f"{said} needs a label, {name} is {what}",
                    facts.span(statement),
                    kernel=function.name,
                    help="branch to a label of this function, of a name that nothing else has",
                )
