"""## What it does

Reports vector loads and stores, and read-only loads (`ld.global.nc`), of a warp that fill whole
sectors but begin in the middle of one: with the base a little further on they would touch fewer
32-byte sectors, or fewer 128-byte lines.

## Why it matters

Such a request moves one sector more than its bytes fill, or looks up one line more. It is never an
error, and it costs little: on an H200, `ld.global.nc.v4` over a large array took 2 to 3 % longer
from +16, +32, +64 or +96 than from +0. Where each warp reads only a few sectors it is a
larger part.

## Example

```ptx
mul.wide.u32 %rd2, %tid, 16;
add.s64 %rd3, %rd1, %rd2;
ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd3+64];   // 5 lines instead of 4
```

## Fix

Let the data begin at a multiple of 128 bytes (pad the header before it), or let the first lanes
take the part up to the next multiple.

## Limits

Information only. Silent where the base's place in a sector is not known; pointers that the launch
passes are taken to be 256-byte aligned. Accesses that touch four times what they need are PTX311.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.memory.requests import KNOWN, Request, doubtful_requests
from ptxlint.analysis.memory.sectors import LINE, SECTOR, Sectors, sectors
from ptxlint.analysis.places import at_lines
from ptxlint.model import Confidence, Finding, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX303",
    name="sector-split",
    category="memory",
    severity=Severity.INFO,
    summary="a vector or read-only access begins in the middle of a sector or line",
    mnemonics=frozenset({"ld", "st"}),
    screen="memory.glance:doubtful",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each pointer and place in the line."""
    groups: dict[object, list[tuple[Request, Sectors]]] = {}
    for request in facts.once(function, doubtful_requests):
        if request.sectors is None or request.state != KNOWN or not _concerned(request):
            continue
        best = _shifted(request)
        if best is not None:
            groups.setdefault((request.place, request.sectors, best), []).append((request, best))
    for group in groups.values():
        yield _finding([request for request, _ in group], group[0][1], facts)


def _concerned(request: Request) -> bool:
    access, found = request.access, request.sectors
    if found is None or request.is_uniform or len(request.lanes) < 2:
        return False
    return access.elements > 1 or "nc" in access.cache


def _shifted(request: Request) -> Sectors | None:
    """What the request would touch from the start of a line, if that is less for sure."""
    found, first = request.sectors, request.lanes[0][1]
    if found is None or found.low < found.high:
        return None
    lanes = [(lane, offset - first) for lane, offset in request.lanes]
    best = sectors(lanes, request.size or 1, request.kind, LINE)
    if best.high > best.minimum or best.lines > best.least_lines:
        return None  # not a solid run of bytes: the base is not what is wrong
    if found.low > best.high:
        return best
    return best if found.lines > best.lines and found.least_lines == best.lines else None


def _finding(group: list[Request], best: Sectors, facts: Facts) -> Finding:
    request = group[0]
    found, instruction = request.sectors, request.access.instruction
    assert found is not None
    more, lines = at_lines([r.access.instruction.start for r in group[1:]], facts)
    what, unit, least = f"{found.low} sectors", SECTOR, best.high
    if found.low == best.high:
        what, unit, least = f"{found.lines} lines", LINE, best.lines
    return RULE.finding(
        f"`{instruction.opcode}` touches {what} of {unit} bytes, where {least} would do:"
        f" its first byte is not at a multiple of {unit}",
        facts.span(instruction),
        confidence=Confidence.MEDIUM,
        notes=("never an error; 2 to 3 % of the bandwidth on an H200, for a large array", *more),
        help=f"let the data begin at a multiple of {LINE} bytes",
        assumptions=request.assumptions,
        data={"sectors": found.low, "lines_touched": found.lines, "lines": lines},
    )
