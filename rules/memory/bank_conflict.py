"""## What it does

Reports a shared-memory access for which one warp takes more wavefronts than it must, since lanes
use different words of one bank: `ld`, `st`, `atom`, `red`, `ldmatrix` and `stmatrix`. It names the
lanes that meet, and, where one is found, the padding or the XOR swizzle with which all accesses of
the object take the least that they can.

A warning from 4 times the minimum where such a layout was found; else information.

## Why it matters

Shared memory has 32 banks of 4 bytes. A request takes one wavefront for each different word in its
fullest bank: with rows of 128 bytes, a column costs 32 where a row costs 1, and the kernel is
that much slower at this place, with the right results. The minimum is 1 for accesses up to 4 bytes,
2 for 8, 4 for 16, and one for each matrix of an `ldmatrix`; loads in which neighbouring lanes
share addresses take half of it. The model agrees with Nsight Compute's
`l1tex__data_pipe_lsu_wavefronts_mem_shared` on all of 1,549 requests that were run on an H200.

## Example

```ptx
.shared .align 4 .b8 tile[4096];   // 32 rows of 128 bytes

mov.u32 %r1, %tid.x;
shl.b32 %r2, %r1, 7;               // lane * 128: all lanes in one bank
add.s32 %r4, %r3, %r2;             // %r3: the address of tile
ld.shared.f32 %f1, [%r4];          // 32 wavefronts instead of 1
```

## Fix

Pad the rows (`mul.lo.u32 %r2, %r1, 132`, and 4,224 bytes for `tile`), or xor the column's number
into the place within the row. In CUDA: `float tile[32][33]`.

## Limits

Silent where it is not known how the lanes' addresses differ, and for `cp.async`, whose wavefronts
were not seen to follow from its shared addresses. If no block shape is known, one dimension, or
rows of whole warps, is taken; then only what holds in rows of 16 threads too is more than
information. Lanes that use one word in an atomic are not counted: no layout helps there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ptxlint.analysis import Facts
from ptxlint.analysis.memory.accesses import accesses
from ptxlint.analysis.memory.banks import Meeting, meeting
from ptxlint.analysis.memory.layouts import Layout, Padding, better_layouts
from ptxlint.analysis.memory.relayout import relaid
from ptxlint.analysis.memory.requests import (
    Request,
    doubtful_requests,
    in_rows_of_16,
    matrices,
    requests,
)
from ptxlint.analysis.places import at_lines
from ptxlint.analysis.shared import named_symbols
from ptxlint.model import Confidence, Finding, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX310",
    name="bank-conflict",
    category="memory",
    severity=Severity.WARNING,
    summary="lanes of a warp use different words of one shared-memory bank",
    mnemonics=frozenset({"ld", "st", "atom", "red", "ldmatrix", "stmatrix"}),
    screen="memory.glance:doubtful",
)
_CLEAR = 4
_SHOWN = 8


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each object and way in which the lanes' addresses differ."""
    groups: dict[object, list[Request]] = {}
    for request in facts.once(function, doubtful_requests):
        found = request.wavefronts
        if found is not None and found.total >= 2 * found.minimum:
            groups.setdefault((request.place, found, tuple(request.lanes)), []).append(request)
    for group in groups.values():
        yield _finding(group, function, facts)


def _finding(group: list[Request], function: Function, facts: Facts) -> Finding:
    request = group[0]
    found = request.wavefronts
    assert found is not None
    ways = least = found.ways
    if ways >= _CLEAR:
        other = in_rows_of_16(request, function, facts).wavefronts
        least = min(ways, 0 if other is None else other.ways)
    size = 16 if matrices(request.access) else request.size or 4
    met = meeting(request.lanes, size, request.kind, matrices(request.access))
    more, lines = at_lines([r.access.instruction.start for r in group[1:]], facts)
    # A layout costs a look at all that is done with the object: for what is worth a change.
    objects = _objects(request, function, facts) if ways >= _CLEAR else []
    layouts = better_layouts(objects)
    fixes = [relaid(function, facts, objects, layout) for layout in layouts]
    fix = next((f for f in fixes if f is not None), None)
    layout = layouts[fixes.index(fix)] if layouts else None
    instruction = request.access.instruction
    return RULE.finding(
        f"`{instruction.opcode}` takes {found.total} wavefronts instead of {found.minimum}:"
        f" {_article(ways)} {ways:g}-way bank conflict",
        facts.span(instruction),
        severity=Severity.WARNING if least >= _CLEAR and layout else Severity.INFO,
        confidence=Confidence.MEDIUM if request.everyone else Confidence.HIGH,
        notes=(_who(met, request), *more),
        help=_help(layout, objects, request),
        fix=fix,
        assumptions=request.assumptions,
        data={
            "wavefronts": found.total,
            "minimum": found.minimum,
            "bank": met.bank,
            "lanes": list(met.lanes),
            "words": met.words,
            "offsets": [offset for _, offset in request.lanes],
            "lines": lines,
            **({} if layout is None else {"layout": layout._asdict()}),
        },
    )


def _article(ways: float) -> str:
    return "an" if f"{ways:g}".startswith(("8", "11", "18")) else "a"


def _who(met: Meeting, request: Request) -> str:
    """Which lanes meet where."""
    lanes = ", ".join(map(str, met.lanes[:_SHOWN]))
    if len(met.lanes) > _SHOWN:
        lanes += f", … ({len(met.lanes)} lanes)"
    where = "" if request.warp is None else f" of warp {request.warp}"
    apart = ""
    offsets = dict(request.lanes)
    if not matrices(request.access) and len(met.lanes) > 1:
        steps = {offsets[b] - offsets[a] for a, b in pairwise(met.lanes)}
        if len(steps) == 1:
            apart = f", {abs(steps.pop()):,} bytes apart"
    whose = "the rows of lanes" if matrices(request.access) else "lanes"
    return f"{whose} {lanes}{where} use {met.words} different words of one bank{apart}"


def _objects(request: Request, function: Function, facts: Facts) -> list[Request]:
    """All requests to the object, or none if it may be used in a way that is not seen here."""
    base = request.access.base
    if base is None or base.variable is None or base.kind != "variable":
        return []
    for other in facts.module.functions:
        if other is not function and base.variable in facts.once(other, named_symbols):
            return []
    found = [r for r in facts.once(function, requests) if r.access.base is base]
    ours = {id(r.access) for r in found}
    for access in facts.once(function, accesses):
        if access.space in ("shared", "generic") and id(access) not in ours:
            elsewhere = access.base is not None and access.base is not base
            if not elsewhere or access.space == "generic":
                return []
    return found


def _help(layout: Layout | None, objects: list[Request], request: Request) -> str:
    name = str(request.access.base)
    if layout is None:
        return (
            "pad the rows, or xor the row's number into the place in the row, so that lanes that"
            " are served together use different banks"
        )
    if len(objects) == 1:
        tried = f"this access of `{name}`, the only one, then takes its minimum"
    else:
        tried = f"all {len(objects)} accesses of `{name}` then take their minimum"
    if isinstance(layout, Padding):
        return (
            f"give each row of {layout.pitch:,} bytes of `{name}` {layout.pad} bytes more (a pitch"
            f" of {layout.pitch + layout.pad:,}): {tried}"
        )
    return (
        f"swizzle `{name}`: use offset ^ (offset >> {layout.right} & {layout.mask:#x}) in place of"
        f" each offset (its start at a multiple of {layout.period:,}): {tried}"
    )
