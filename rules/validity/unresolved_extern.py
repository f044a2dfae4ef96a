"""## What it does

Reports the call of an `.extern .func` (or one that is only declared) that nothing in the file
defines and the driver does not bring either.

## Why it matters

The module does not load: `Unresolved extern function` from ptxas, CUDA_ERROR_INVALID_PTX (218) or
CUDA_ERROR_INVALID_IMAGE (200) from the driver. Most often a device library (libdevice, a Numba or
Triton helper) was not linked in.

## Example

```ptx
.extern .func (.param .f32 r) lib_squash(.param .f32 x);

call.uni (result), lib_squash, (argument);
```

## Fix

Link the library into the module (`nvlink`, `-dlink`, libdevice at compile time), or define it.

## Limits

A file that is meant to be linked (`nvcc -rdc=true`, `ptxas -c`) has such calls by design: ignore
the rule for it. What the driver, the device runtime and OptiX bring (vprintf, __assertfail, malloc,
free, cuda…, _optix_…) is known from a table.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.calls import aliased, calls
from ptxlint.isa import driver_functions
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX110",
    name="unresolved-extern",
    category="validity",
    severity=Severity.WARNING,
    summary="a call of a function that nothing defines",
    mnemonics=frozenset({"call"}),
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such callee, at its first call in the function."""
    aliases = facts.of_module(aliased)
    seen: set[str] = set()
    for call in facts.once(function, calls):
        callee = call.signature
        if not isinstance(callee, Function) or callee.body is not None or callee.name in seen:
            continue
        if driver_functions.is_known(callee.name) or callee.name in aliases:
            continue
        seen.add(callee.name)
        yield RULE.finding(
            f"`{callee.name}` is called, and nothing in this file defines it",
            facts.span(call.instruction),
            kernel=function.name,
            labels=(Label(facts.span(callee), "only declared here"),),
            help="link the library that has it into this module, or define it",
        )
