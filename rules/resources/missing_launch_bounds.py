"""## What it does

Points out kernels without `.maxntid` and `.reqntid`.

## Why it matters

ptxas then makes code that any block can be launched with as far as 255 registers a thread allow:
blocks of more than 256 threads may not fit (CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701), and nothing
tells it how many blocks are to share an SM.

## Example

```ptx
.visible .entry k(.param .u64 p)
{ ... }
```

## Fix

`.maxntid 256, 1, 1`, in CUDA `__launch_bounds__(256)`; with `.minnctapersm` to bound registers for
more blocks of an SM.

## Limits

Whether a launch fails depends on the block: `--block` says it (PTX402).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX406",
    name="missing-launch-bounds",
    category="resources",
    severity=Severity.INFO,
    summary="a kernel that does not say how large its blocks are",
    default=False,
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such kernel."""
    bounded = any(function.directive(name) for name in ("maxntid", "reqntid", "maxnreg"))
    if function.is_kernel and not bounded:
        yield RULE.finding(
            f"`{function.name}` has no .maxntid or .reqntid: up to 255 registers a thread, which"
            " blocks of more than 256 threads may not have",
            facts.text_span(function.start, function.start + 1),
            help="say the largest block: `.maxntid 256, 1, 1` (`__launch_bounds__(256)`)",
        )
