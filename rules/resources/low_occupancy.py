"""## What it does

Points out a kernel of which an SM holds few warps at once: how many, what limits them, and the next
value that gives more.

## Why it matters

Warps that wait for memory are hidden by others that do not. Below half of the warps that an SM has
places for, a kernel that waits for memory is often slower for it; one that computes may not be
(V. Volkov, "Better performance at lower occupancy"). `ptxlint resources` has it for any target.

## Example

```ptx
.reqntid 256, 1, 1
.shared .align 16 .b8 tile[49152];     // 3 blocks, 24 of 64 warps on sm_80
```

## Fix

Fewer registers or bytes of shared memory, down to the value that is named; or a block of another
size.

## Limits

The block must be told: by `.reqntid`, `--block` or Triton's metadata. Registers are estimated, and
the lower end of the interval is taken. Dynamic shared memory is not known but from the metadata.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ptxlint.analysis import Facts
from ptxlint.analysis.kernel_resources import kernel_resources
from ptxlint.analysis.launch import launch_shape, metadata_shared
from ptxlint.analysis.register_estimate import register_estimate
from ptxlint.isa.occupancy import occupancy, steps
from ptxlint.model import Confidence, Finding, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX404",
    name="low-occupancy",
    category="resources",
    severity=Severity.INFO,
    summary="an SM holds less than half of the warps that it has places for",
    confidence=Confidence.MEDIUM,
    default=False,
)
_LOW = 0.5


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such kernel."""
    shape, target = facts.once(function, launch_shape), facts.target
    if not function.is_kernel or shape.block is None or target is None:
        return
    known = facts.once(function, kernel_resources)
    registers = facts.once(function, register_estimate).low
    shared = known.shared + metadata_shared(facts)
    barriers, threads = len(known.barriers.ids), prod(shape.block)
    numbers = {"registers": registers, "threads": threads, "shared": shared, "barriers": barriers}
    found = occupancy(target, **numbers)
    if found is None or found.failure is not None or found.share >= _LOW:
        return
    more = steps(target, **numbers)
    next_ = [
        f"{step.resource} of at most {step.value:,} give {100 * step.warps // found.most_warps} %"
        for step in more
    ]
    yield RULE.finding(
        f"`{function.name}`: {found.warps} of {found.most_warps} warps on {target}, limited by"
        f" {' and '.join(found.limiter)}",
        facts.text_span(function.start, function.start + 1),
        notes=(f"{found.blocks} blocks of {threads} threads, {registers} registers, {shared:,} B",),
        help="; ".join(next_) or "another size of block",
        assumptions=(shape.assumption,) if shape.assumption else (),
        data={"blocks": found.blocks, "warps": found.warps, "limiter": list(found.limiter)},
    )
