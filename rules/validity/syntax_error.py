"""## What it does

Reports each place where the text is not PTX: what stands there, and what could stand there
instead. The rest of the file is read all the same.

## Why it matters

The file does not assemble: ptxas ends with `Parsing error near '…'` at the first such place, the
driver returns CUDA_ERROR_INVALID_PTX (218). ptxas stops there; here all of them come out in one
run.

## Example

```ptx
add.u32 %r1 %r2, %r3;
```

## Fix

Here a comma after `%r1`. The finding names what was expected.

## Limits

After 200 places in one file the rest is not listed one by one. What was skipped is not seen by
other rules; `parsed` is `partial` or `failed` for such a file, and JSON names the spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Module, SyntaxProblem

RULE = Rule(
    code="PTX100",
    name="syntax-error",
    category="validity",
    severity=Severity.ERROR,
    summary="a statement does not parse",
)

_ENOUGH = 5
# What begins a constant, and what begins an operand: named as a whole where all are allowed.
_CONSTANT = frozenset({"'('", "WARP_SZ", "a number", "an integer"})
_OPERAND = _CONSTANT | {"'['", "'_'", "'{'", "a name"}
# A register, a space and a bracket: read as an element of an array, meant as two operands.
_NO_COMMA = re.compile(r"%[\w$]+\s+\[\s*\Z")


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """One finding for each place."""
    text = module.source.text
    names = {text[p.start : p.end] for p in module.syntax_problems if p.kind == "identifier"}
    for problem in module.syntax_problems:
        if problem.kind != "syntax" or _names_one_of(names, problem, text):
            continue
        expected = _expected(problem.expected)
        yield RULE.finding(
            problem.message + (f", expected {expected}" if expected else ""),
            facts.text_span(problem.start, problem.end),
            notes=(problem.note,) if problem.note else (),
            help=_help(problem, text),
            data={"expected": list(problem.expected)},
        )


def _names_one_of(names: set[str], problem: SyntaxProblem, text: str) -> bool:
    """Whether the statement uses a name that is itself at fault: invalid-identifier's (PTX107)."""
    start, end = problem.skipped or (problem.start, problem.end)
    return any(text.find(name, start, end) >= 0 for name in names)


def _expected(words: tuple[str, ...]) -> str:
    """At most five of them, in a sentence; empty where there are more."""
    left = set(words)
    for whole, name in ((_OPERAND, "an operand"), (_CONSTANT, "a constant")):
        if whole <= left:
            left = left - whole | {name}
    shown = sorted(left)
    if not shown or len(shown) > _ENOUGH:
        return ""
    *most, last = shown
    return f"{', '.join(most)} or {last}" if most else last


def _help(problem: SyntaxProblem, text: str) -> str | None:
    if _NO_COMMA.search(text, max(0, problem.start - 200), problem.start):
        return "is a ',' missing before the '['?"
    if problem.skipped is None:
        return None
    return "this statement is left out of the analysis until it parses"
