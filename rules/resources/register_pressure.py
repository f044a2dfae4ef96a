"""## What it does

Reports a kernel that needs more registers than its bounds leave it, so that ptxas must spill: the
place where most values are live, and these, each with the line that makes it.

## Why it matters

`.maxntid`, `.reqntid` with `.minnctapersm`, and `.maxnreg` bound the registers of a thread (65,536
of an SM shared by the block's threads, 255 at most); what does not fit goes to local memory, a
store and a load each time, where it is least seen: in the innermost loop.

## Example

```ptx
.visible .entry k(.param .u64 p)
.maxntid 1024, 1, 1
.minnctapersm 2          // 32 registers a thread
{ ... }                  // 60 values live at line 90
```

## Fix

Fewer threads or blocks (`.maxntid 512`), fewer values at once at that place (shorter unrolling,
narrower tiles), or take the spills knowingly.

## Limits

Registers are estimated from the text (docs/resources.md), and reported only where the lower end of
the interval is over the limit, and so is what is live from block to block: most kernels that spill
are not found. `ptxlint resources --ptxas` has the exact numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.flow.registers import register_use
from ptxlint.analysis.pressure import Pressure, pressure, width_of
from ptxlint.analysis.register_estimate import most_registers, register_demand
from ptxlint.model import Confidence, Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX401",
    name="register-pressure",
    category="resources",
    severity=Severity.WARNING,
    summary="a kernel needs more registers than its bounds allow, and will spill",
    confidence=Confidence.MEDIUM,
    screen="register_estimate:may_exceed",
)
_LABELS = 6
_LISTED = 24


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such kernel."""
    most = most_registers(function, facts)
    demand = facts.once(function, register_demand)
    found = facts.once(function, pressure)
    # Within a block ptxas can put off what is made too early; from block to block it can't.
    if demand.low <= most or found.edge <= most:
        return
    use = facts.once(function, register_use)
    instruction = function.instructions[found.at]
    line = facts.module.source.line_of
    makers = _makers(function, facts, found)
    live = [(use.name(number), line(at)) for number, at in makers]
    listed = ", ".join(f"{name} ({at})" for name, at in live[:_LISTED])
    if len(live) > _LISTED:
        listed += f" and {len(live) - _LISTED} more"
    yield RULE.finding(
        f"`{function.name}` needs about {demand.middle} registers ({demand.low} to {demand.high}),"
        f" and its bounds allow {most}: it will spill",
        facts.span(instruction),
        labels=tuple(
            Label(facts.text_span(at, at + 1), f"`{use.name(number)}` is live from here")
            for number, at in makers[:_LABELS]
        ),
        notes=(
            f"most is live here, {found.peak} registers of 32 bits: {listed}",
            "estimated from the text; `ptxlint resources --ptxas` has the exact numbers",
        ),
        help="fewer threads or blocks in the bounds, or fewer values at once here",
        data={
            "estimate": list(demand),
            "most": most,
            "live": found.peak,
            "values": [{"register": name, "line": at} for name, at in live],
        },
    )


def _makers(function: Function, facts: Facts, found: Pressure) -> list[tuple[int, int]]:
    """(register, where the last write of it up to the peak starts), widest first."""
    use = facts.once(function, register_use)
    wanted = set(found.live)
    made: dict[int, int] = {}
    for at, written in enumerate(use.writes):
        for number in written:
            if number in wanted and (number not in made or at <= found.at):
                made[number] = at
    registers = use.registers

    def width(number: int) -> int:
        register = registers[number]
        return 0 if register is None else width_of(register)

    order = sorted(made, key=lambda number: (-width(number), made[number]))
    return [(number, function.instructions[made[number]].start) for number in order]
