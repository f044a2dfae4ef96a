"""## What it does

Reports accesses to global memory for which a warp touches at least four times the 32-byte sectors
that its bytes would fill. One finding for each pointer and way in which the lanes' addresses
differ; it counts the accesses.

## Why it matters

Memory moves in sectors of 32 bytes. 32 lanes that read neighbouring 4-byte words need 4 of them;
with a stride of 32 bytes or more each lane needs its own, 32 in all, and seven eighths of the
bandwidth carry bytes that nobody asked for. The counts agree with Nsight Compute's
`l1tex__t_sectors_pipe_lsu_mem_global` on all of 1,413 requests that were run on an H200.

## Example

```ptx
mul.wide.u32 %rd2, %tid, 128;       // one row of 128 bytes for each thread
add.s64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3];          // 32 sectors instead of 4
```

## Fix

Let neighbouring threads take neighbouring elements (a structure of arrays, a transposed index), or
go through shared memory: load rows coalesced, then read columns there.

## Limits

Information only: where other accesses soon use the rest of the sectors, while they are in L1, the
counts are right and the cost is smaller. Silent where the accesses found use most of the sectors
between them (each thread reads a row of its own from end to end), where the lanes' addresses are
not known, for rows of an unknown stride, and for single lanes. Pointers are taken to be 256-byte
aligned.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ptxlint.analysis import Facts
from ptxlint.analysis.memory.glance import FAR
from ptxlint.analysis.memory.requests import KNOWN, Request, doubtful_requests
from ptxlint.analysis.memory.sectors import sectors
from ptxlint.analysis.places import at_lines
from ptxlint.model import Confidence, Finding, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX311",
    name="uncoalesced-access",
    category="memory",
    severity=Severity.INFO,
    summary="a warp touches far more sectors than its bytes fill",
    mnemonics=frozenset({"ld", "ldu", "st", "atom", "red", "cp"}),
    screen="memory.glance:doubtful",
)
_FEW = 8  # sectors


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each pointer, and way in which the lanes differ."""
    groups: dict[object, list[Request]] = {}
    for request in facts.once(function, doubtful_requests):
        found = request.sectors
        if found is None or request.state != KNOWN or found.low < _FEW:
            continue
        if found.low >= FAR * found.minimum:
            pattern = request.pattern
            key = (
                request.place,
                request.size,
                request.kind,
                None if pattern is None else pattern.vector,
            )
            groups.setdefault(key, []).append(request)
    for group in groups.values():
        if not _fill_together(group):
            yield _finding(group, facts)


def _fill_together(group: list[Request]) -> bool:
    """Whether the accesses use most of the sectors between them: each thread reads its row."""
    patterns = [r.pattern for r in group if r.pattern is not None]
    if any(pattern.terms != patterns[0].terms for pattern in patterns):
        return False
    bytes_used = [
        (lane, pattern.const + offset)
        for request, pattern in zip(group, patterns, strict=True)
        for lane, offset in request.lanes
    ]
    together = sectors(bytes_used, group[0].size or 1)
    return together.low < FAR * together.minimum


def _finding(group: list[Request], facts: Facts) -> Finding:
    request = group[0]
    found, instruction = request.sectors, request.access.instruction
    assert found is not None
    more, lines = at_lines([r.access.instruction.start for r in group[1:]], facts)
    lanes = len(request.lanes)
    used = found.minimum * 32
    return RULE.finding(
        f"`{instruction.opcode}` touches {found.low} sectors of 32 bytes, where {found.minimum}"
        " would do",
        facts.span(instruction),
        confidence=Confidence.MEDIUM,
        notes=(
            f"{lanes} lanes use {used:,} of the {32 * found.low:,} bytes that move"
            f"{_apart(request)}",
            *more,
        ),
        help="let neighbouring threads take neighbouring elements, or load through shared memory",
        assumptions=request.assumptions,
        data={
            "sectors": found.low,
            "minimum": found.minimum,
            "offsets": [offset for _, offset in request.lanes],
            "lines": lines,
        },
    )


def _apart(request: Request) -> str:
    offsets = [offset for _, offset in request.lanes]
    steps = {b - a for a, b in pairwise(offsets)}
    return f": neighbouring lanes are {abs(steps.pop()):,} bytes apart" if len(steps) == 1 else ""
