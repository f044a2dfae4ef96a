"""## What it does

Reports a register, variable, parameter or function that is declared a second time in the same
scope.

## Why it matters

The file does not assemble: ptxas says `Duplicate definition of variable 'tmp'`. It mostly comes
from inline asm that declares a register without braces of its own: it works as long as the
compiler emits the text once, and breaks when a loop is unrolled or the function is inlined twice.

## Example

```ptx
// begin inline asm
.reg .b32 tmp;
and.b32 tmp, %r1, 255;
// end inline asm
// begin inline asm
.reg .b32 tmp;
```

## Fix

Wrap the text of the asm statement in braces, which make a scope of their own:

```c
asm("{ .reg .b32 tmp; and.b32 tmp, %1, 255; mov.b32 %0, tmp; }" : "=r"(d) : "r"(a));
```

## Limits

One finding for each name, at its second declaration; the others are listed. A function that is
declared and later defined is not a duplicate, nor is an `.extern` variable.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function, Module, NameProblem, Variable

RULE = Rule(
    code="PTX105",
    name="duplicate-register",
    category="validity",
    severity=Severity.ERROR,
    summary="a register, variable or function declared twice in one scope",
)


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """One finding for each name and scope."""
    repeats: dict[int, list[NameProblem]] = {}
    for problem in module.name_problems:
        if problem.kind in ("duplicate-variable", "duplicate-function"):
            repeats.setdefault(id(problem.other), []).append(problem)
    for problems in repeats.values():
        yield _finding(problems, facts)


def _finding(problems: list[NameProblem], facts: Facts) -> Finding:
    problem = problems[0]
    new, earlier = problem.statement, problem.other
    name = problem.name
    if isinstance(new, Variable) and new.count is not None:
        name += f"<{new.count}>"
    labels: tuple[Label, ...] = ()
    if earlier is not None:
        end = earlier.start + 1 if isinstance(earlier, Function) else earlier.end
        labels = (Label(facts.text_span(earlier.start, end), "already declared here"),)
    more, lines = at_lines([p.start for p in problems[1:]], facts)
    return RULE.finding(
        f"`{name}` is declared a second time in one scope",
        facts.text_span(problem.start, problem.end),
        labels=labels,
        notes=more,
        help=_help(problem),
        data={"identifier": problem.name, "lines": lines},
    )


def _help(problem: NameProblem) -> str:
    new, earlier = problem.statement, problem.other
    if isinstance(new, Function):
        return "rename one of the two functions, or leave one out"
    if isinstance(new, Variable) and new.space == "reg" and isinstance(earlier, Variable):
        return (
            "if it comes from inline asm that was expanded more than once, wrap the asm text in"
            " `{ }`; else rename or drop one declaration"
        )
    return "rename or drop one of the two declarations"
