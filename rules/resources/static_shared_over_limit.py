"""## What it does

Adds up the static `.shared` objects of each kernel and reports the largest one where they come to
more than the target allows: 48 KiB (49,152 bytes) on base and `f` targets, the opt-in limit on
`a` targets (227 KiB on `sm_90a` and `sm_100a`, 99 KiB on `sm_120a`).

Counted is what ptxas counts: all objects that the kernel's body declares, used or not; those of
the module that its instructions name; and the same for every function that it calls or takes the
address of.

## Why it matters

The kernel does not assemble. ptxas 13.5: `Entry function 'big_tile' uses too much shared data
(0xea60 bytes, 0xc000 max)`, with no line and no object. More than 48 KiB can be had only as
dynamic shared memory, which the launch asks for.

## Example

```ptx
.target sm_80

.visible .entry big_tile()
{
    .shared .align 16 .b8 tile[49153];
```

## Fix

Declare the memory as dynamic, and raise the limit before the launch:

```ptx
.extern .shared .align 16 .b8 tile[];
```

`cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)`, and the same
number of bytes as the launch's shared memory size.

## Limits

Padding between objects is counted where one body declares them all, as ptxas lays them out; where
several functions share in it, only the objects' own bytes are. Assembling with `-c`, or to a
`compute_XX` target, puts the verdict off to the linker or the driver. Sized `.extern .shared`
objects are not counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.objects import alignment_of, declarations, size_of
from ptxlint.analysis.shared import static_shared_bytes, static_shared_objects
from ptxlint.isa.limits import shared_optin_limit, static_shared_limit
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function, Module, Variable

RULE = Rule(
    code="PTX403",
    name="static-shared-over-limit",
    category="resources",
    severity=Severity.ERROR,
    summary="a kernel's static shared memory is more than its target allows",
)

_DECLARED = re.compile(r"\.shared\s")
_LISTED = 5


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """One finding for each kernel that is over the limit."""
    limit = static_shared_limit(facts.target or "")
    if limit is None:
        return
    common = _most(module, facts)
    for kernel in module.kernels:
        if common + _declared(kernel, facts) <= limit:
            continue  # whatever it names: the way of nearly every kernel
        objects = static_shared_objects(kernel, facts)
        total = static_shared_bytes(kernel, objects)
        if total > limit:
            yield _finding(kernel, objects, total, limit, facts)


def _most(module: Module, facts: Facts) -> int:
    """The bytes of all objects that any kernel of the module may name or reach."""
    functions = (f for f in module.functions if not f.is_kernel)
    shared = (v for v in module.variables if v.space == "shared" and v.linkage != "extern")
    return sum(_room(v) for v in shared) + sum(_declared(f, facts) for f in functions)


def _declared(function: Function, facts: Facts) -> int:
    if not _DECLARED.search(facts.module.source.text, function.start, function.end):
        return 0
    variables = facts.once(function, declarations)
    return sum(_room(v) for v in variables if v.space == "shared")


def _room(variable: Variable) -> int:
    """An object's bytes and the most that padding before it can take."""
    return (size_of(variable) or 0) + alignment_of(variable) - 1


def _finding(
    kernel: Function, objects: list[Variable], total: int, limit: int, facts: Facts
) -> Finding:
    target = facts.target or ""
    by_size = sorted(objects, key=lambda v: -(size_of(v) or 0))
    largest = by_size[0]
    sizes = [f"`{v.name}` {size_of(v) or 0:,}" for v in by_size[:_LISTED]]
    if len(by_size) > _LISTED:
        rest = sum(size_of(v) or 0 for v in by_size[_LISTED:])
        sizes.append(f"{len(by_size) - _LISTED} more objects {rest:,}")
    most = shared_optin_limit(target)
    room = f", up to {most:,} bytes on {target}" if most and most >= total else ""
    return RULE.finding(
        f"`{kernel.name}` has {total:,} bytes of static shared memory, {target} allows {limit:,}",
        facts.span(largest),
        kernel=kernel.name,
        labels=tuple(
            Label(facts.span(v), f"{size_of(v) or 0:,} bytes") for v in by_size[1:_LISTED]
        ),
        notes=(
            f"{total - limit:,} bytes too many; bytes by object: " + ", ".join(sizes),
            f"ptxas: uses too much shared data ({total:#x} bytes, {limit:#x} max)",
        ),
        help=f"make `{largest.name}` dynamic: `.extern .shared` and its size at the launch{room}",
        data={"bytes": total, "limit": limit, "objects": {v.name: size_of(v) for v in by_size}},
    )
