"""## What it does

Reports declarations and directives that contradict themselves, each other or the place they stand
in: an array or an initial value in registers, an initial value in shared memory, more initial
values than there is room for, an object without a size, an alignment that is not a power of two,
textures and predicates in the wrong state space, `.maxntid` together with `.reqntid`,
`.reqnctapercluster` together with `.maxclusterrank`, a bound of 0, a `.target` that is no GPU.

## Why it matters

The file does not assemble: ptxas refuses each of these, on the line of the declaration. Some of its
words are hard to read back (`Variable 't' cannot be allocated into a register`, `Initial value type
mismatch`).

## Example

```ptx
.reg .b32 window[4];
.entry scan() .maxntid 256 .reqntid 256 { ret; }
```

## Fix

`.local .b32 window[4];` or four registers `window<4>`. One of the two launch bounds.

## Limits

What ptxas only warns of or ignores is not reported: `.minnctapersm` alone, a `.maxnreg` above 255,
a bound given twice. ptxas names the last line of a function whose directives exclude each other;
the finding is at the directive. What needs another PTX version or target is PTX702's or PTX703's.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.declaration_faults import directive_faults, module_faults, variable_faults
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Module, Statement

RULE = Rule(
    code="PTX113",
    name="directive-misuse",
    category="validity",
    severity=Severity.ERROR,
    summary="a declaration or directive that contradicts itself, another or its place",
)


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """One finding for each declaration and each head with a fault."""
    for statement, word, fault in module_faults(module):
        yield _finding(fault, statement, word, None, facts)
    for variable, function, fault in variable_faults(facts):
        yield _finding(fault, variable, variable.name, function, facts)
    for function in module.functions:
        for directive, fault in directive_faults(function):
            yield _head_finding(directive, fault, function, facts)


def _head_finding(directive: str, fault: str, function: Function, facts: Facts) -> Finding:
    """At the directive."""
    word = f".{directive}"
    start = facts.module.source.text.find(word, function.start)
    span = facts.text_span(start, start + len(word))
    return RULE.finding(fault, span, kernel=function.name if function.is_kernel else None)


def _finding(
    fault: str, at: Statement, name: str, function: Function | None, facts: Facts
) -> Finding:
    start = facts.module.source.text.find(name, at.start)
    kernel = function.name if function is not None and function.is_kernel else None
    return RULE.finding(fault, facts.text_span(start, start + len(name)), kernel=kernel)
