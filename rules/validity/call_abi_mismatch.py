"""## What it does

Reports a call whose results or arguments differ from the callee's declaration (or from the
prototype of an indirect call) in number, size or alignment, and a call of a kernel.

## Why it matters

The file does not assemble: ptxas says `Call has wrong number of parameters`, `Type of argument does
not match formal parameter` or `Alignment of argument does not match formal parameter`. It happens
where caller and callee come from two generators or two versions of a header.

## Example

```ptx
.func take(.param .align 16 .b8 q[16]);

.param .align 4 .b8 arg[16];
call.uni take, (arg);
```

## Fix

Declare the argument as the callee does: `.param .align 16 .b8 arg[16];`.

## Limits

Types of one size are not told apart, and open arrays (`.b8 rest[]`) take anything. An indirect call
without a prototype is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.calls import calls, mismatches
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function, Symbol

RULE = Rule(
    code="PTX109",
    name="call-abi-mismatch",
    category="validity",
    severity=Severity.ERROR,
    summary="a call that does not fit the callee's declaration",
    mnemonics=frozenset({"call"}),
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each call and each part of it that does not fit."""
    for call in facts.once(function, calls):
        for mismatch in mismatches(call):
            target = call.target
            name = target.name if isinstance(target, Symbol) else "the prototype"
            declared = mismatch.formal or call.signature
            assert declared is not None
            yield RULE.finding(
                f"call of `{name}`: {mismatch.message}",
                facts.span(call.instruction),
                kernel=function.name,
                labels=(Label(facts.span(declared), "declared here"),),
                help="declare the arguments as the callee declares its parameters",
            )
