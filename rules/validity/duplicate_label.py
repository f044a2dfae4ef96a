"""## What it does

Reports a label that is defined a second time in one scope, and a branch to a label that stands
inside a pair of braces which the branch is not in.

## Why it matters

The file does not assemble: ptxas says `Duplicate definition of label 'SPIN'`, or `Unknown symbol
'SPIN'` for the branch. It mostly comes from inline asm with a label of a fixed name: it works as
long as the compiler emits the text once, and breaks when a loop is unrolled or the function is
inlined twice.

## Example

```ptx
SPIN:
    ld.acquire.gpu.global.u32 %r1, [%rd1];
    …
SPIN:
    ld.acquire.gpu.global.u32 %r1, [%rd2];
```

## Fix

Wrap the asm text in braces, which make a scope of their own for labels too, or let the compiler
number the label: `SPIN_%=:` in the asm text.

## Limits

One finding for each label, at its second definition or first branch; the others are listed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx import ir
from ptxlint.ptx.ir import Module, NameProblem

RULE = Rule(
    code="PTX106",
    name="duplicate-label",
    category="validity",
    severity=Severity.ERROR,
    summary="a label defined twice in one scope, or branched to from outside its braces",
)


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """One finding for each label and kind of fault."""
    faults: dict[tuple[str, int], list[NameProblem]] = {}
    for problem in module.name_problems:
        if problem.kind == "duplicate-label" or (
            problem.kind == "hidden" and isinstance(problem.other, ir.Label)
        ):
            faults.setdefault((problem.kind, id(problem.other)), []).append(problem)
    for (kind, _), problems in faults.items():
        yield _finding(kind, problems, facts)


def _finding(kind: str, problems: list[NameProblem], facts: Facts) -> Finding:
    problem = problems[0]
    other = problem.other
    if kind == "hidden":
        message = f"label `{problem.name}` is inside braces that this is outside of"
        place = "it is defined here, for these braces only"
        help = "move the label out of the braces, or the branch into them"
    elif isinstance(other, ir.Label):
        message = f"label `{problem.name}` is defined a second time in one scope"
        place = "already defined here"
        help = (
            "if it comes from inline asm that was expanded more than once, wrap the asm text in"
            f" `{{ }}`, or write `{problem.name}_%=`; else rename one of the two"
        )
    else:
        message = f"label `{problem.name}` has the name of a variable of this scope"
        place = "the variable is declared here"
        help = "rename the label or the variable"
    more, lines = at_lines([p.start for p in problems[1:]], facts)
    return RULE.finding(
        message,
        facts.text_span(problem.start, problem.end),
        labels=() if other is None else (Label(facts.span(other), place),),
        notes=more,
        help=help,
        data={"identifier": problem.name, "lines": lines},
    )
