"""## What it does

Reports `setmaxnreg` in a kernel whose number of registers nothing bounds.

## Why it matters

ptxas must know how many registers the kernel starts with, from `.maxnreg`, or from `.minnctapersm`
with `.maxntid` or `.reqntid`. Where it does not, it drops every `setmaxnreg` of the kernel, with an
advisory that builds rarely show (C7508): producers keep the registers that consumers were to have,
and these spill.

## Example

```ptx
.visible .entry k(.param .u64 p)
.maxntid 384, 1, 1
{
  setmaxnreg.inc.sync.aligned.u32 232;
```

## Fix

Add `.minnctapersm 1` (in CUDA `__launch_bounds__(384, 1)`), or `.maxnreg 168`.

## Limits

Device functions take the bounds of the kernels that call them, and are not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX407",
    name="setmaxnreg-ignored",
    category="resources",
    severity=Severity.WARNING,
    summary="setmaxnreg in a kernel whose registers nothing bounds: it is dropped",
    mnemonics=frozenset({"setmaxnreg"}),
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such kernel, at its first setmaxnreg."""
    found = facts.of_mnemonics(function, RULE.mnemonics)
    if not found or not function.is_kernel or _bounded(function):
        return
    missing = "its number of registers"
    if function.directive("maxntid") or function.directive("reqntid"):
        missing = ".minnctapersm or .maxnreg"
    more, lines = at_lines([each.start for each in found[1:]], facts)
    yield RULE.finding(
        f"`{found[0].opcode}` is dropped: nothing says {missing}",
        facts.span(found[0]),
        notes=("ptxas ignores every setmaxnreg of the kernel then (C7508)", *more),
        help="add `.minnctapersm 1` beside `.maxntid` (`__launch_bounds__(384, 1)`), or `.maxnreg`",
        data={"lines": lines},
    )


def _bounded(function: Function) -> bool:
    if function.directive("maxnreg") is not None:
        return True
    threads = function.directive("maxntid") or function.directive("reqntid")
    return threads is not None and function.directive("minnctapersm") is not None
