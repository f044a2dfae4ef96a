"""## What it does

Reports a launch that the target refuses: the block that `--block` or Triton's metadata tells, with
the kernel's registers, shared memory and bounds.

## Why it matters

`cuLaunchKernel` gives CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701) where the block's warps have more
registers than a block may (each warp's rounded up to 256), and CUDA_ERROR_INVALID_VALUE (1) for
more shared memory or threads than there are, a block larger than `.maxntid`, or of another shape
than `.reqntid`. The kernel does not run, and where nobody looks at the result, everything after it
computes with what was there before. 5,040 launches on an H200 were as predicted.

## Example

```ptx
.visible .entry k(.param .u64 p)     // ptxlint check --block 1024
{ ... }                              // 96 registers: 98,304 for the block
```

## Fix

Say what is launched (`.maxntid 1024`, in CUDA `__launch_bounds__(1024)`), so that ptxas makes it
fit, or launch smaller blocks.

## Limits

Registers are estimated from the text, and reported only where the lower end of the interval is too
many; where `.maxntid` or `.reqntid` bound them, ptxas makes them fit.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.kernel_resources import kernel_resources
from ptxlint.analysis.launch import launch_shape, metadata_shared
from ptxlint.analysis.register_estimate import register_estimate
from ptxlint.isa.occupancy import OUT_OF_RESOURCES, UNBOUND, Bounds, launch_failure
from ptxlint.model import Confidence, Finding, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX402",
    name="launch-out-of-resources",
    category="resources",
    severity=Severity.WARNING,
    summary="a launch with more registers, shared memory or threads than the target has",
    screen="launch:is_told",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such kernel."""
    shape = facts.once(function, launch_shape)
    block, target = shape.block, facts.target
    if not function.is_kernel or block is None or target is None:
        return
    known = facts.once(function, kernel_resources)
    bounds = Bounds.of(known.bounds.get("maxntid"), known.bounds.get("reqntid"))
    estimate = facts.once(function, register_estimate)
    dynamic = metadata_shared(facts) if shape.source == "Triton metadata" else 0
    failure = launch_failure(
        target,
        registers=0 if bounds != UNBOUND else estimate.low,
        block=block,
        shared=known.shared + dynamic,
        bounds=bounds,
    )
    if failure is None:
        return
    estimated = failure.code == OUT_OF_RESOURCES
    assumptions = (shape.assumption,) if shape.assumption else ()
    notes: tuple[str, ...] = (f"cuLaunchKernel gives {failure.name} ({failure.code}) on {target}",)
    if estimated:
        notes += (f"registers are estimated: {estimate.low} to {estimate.high}",)
    yield RULE.finding(
        f"`{function.name}` can't be launched: {failure.why}",
        facts.text_span(function.start, function.start + 1),
        confidence=Confidence.MEDIUM if estimated else Confidence.HIGH,
        notes=notes,
        help="say the block's size in .maxntid, so that ptxas makes the registers fit"
        if estimated
        else "launch what the kernel and the target allow",
        assumptions=assumptions,
        data={"code": failure.code, "block": list(block), "target": target},
    )
