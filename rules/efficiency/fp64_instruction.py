"""## What it does

Points out double-precision arithmetic for a target that has hardly any: how many instructions, and
those that compute with values made of single precision.

## Why it matters

GPUs for graphics and inference have 2 double-precision units an SM beside 128 for single precision
(CUDA C++ Programming Guide, throughput of native arithmetic instructions): each `fma.rn.f64` takes
the place of 64 `fma.rn.f32`. In CUDA it often comes of a literal without `f`: `x * 0.5` with a
float `x` is computed in double.

## Example

```ptx
.target sm_86
...
cvt.f64.f32 %fd1, %f1;
mul.f64 %fd2, %fd1, 0d3FE0000000000000;
cvt.rn.f32.f64 %f2, %fd2;
```

## Fix

Write the literal as `0.5f`, use `sqrtf` for `sqrt`; `nvcc -Xptxas --warn-on-double-precision-use`
names the kernels.

## Limits

Silent for targets with many such units (A100, H100, B200: half of single precision's), and where
their number is not published. Says how many instructions there are, not how often they run.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.places import at_lines
from ptxlint.isa.limits import double_precision_share
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction

RULE = Rule(
    code="PTX801",
    name="fp64-instruction",
    category="efficiency",
    severity=Severity.INFO,
    summary="double precision on a target that has hardly any",
    mnemonics=frozenset({"add", "sub", "mul", "fma", "mad", "div", "sqrt", "rcp", "rsqrt"}),
)
_SLOW = 1 / 16


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each function, at its first such instruction."""
    share = double_precision_share(facts.target or "")
    if share is None or share > _SLOW:
        return
    found = facts.of_opcodes(
        function, lambda o: o.mnemonic in RULE.mnemonics and o.modifiers[-1:] == ("f64",)
    )
    if found:
        widened = facts.of_opcodes(
            function, lambda o: o.mnemonic == "cvt" and o.modifiers[-2:] == ("f64", "f32")
        )
        yield _finding(found, len(widened), share, facts)


def _finding(found: list[Instruction], widened: int, share: float, facts: Facts) -> Finding:
    more, lines = at_lines([each.start for each in found[1:]], facts)
    notes = more
    if widened:
        values = f"{widened} value{'s are' if widened > 1 else ' is'}"
        notes = (
            f"{values} made of single precision: a literal without `f`, or `sqrt` of a float?",
        )
        notes += more
    return RULE.finding(
        f"{len(found)} instruction{'s' if len(found) > 1 else ''} in double precision, on"
        f" {facts.target} each at 1/{round(1 / share)} of single precision's rate",
        facts.span(found[0]),
        notes=notes,
        help="compute in single precision where that will do: `0.5f`, `sqrtf`",
        data={"instructions": len(found), "widened": widened, "lines": lines},
    )
