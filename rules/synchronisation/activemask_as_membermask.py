"""## What it does

Reports an `activemask` whose result serves as member mask of a `.sync` operation and for nothing
else.

## Why it matters

`activemask` says which lanes happen to execute it together. Nothing keeps the lanes of a warp
together after a branch, so that it may be all of those meant, or some, or one, and differ with the
compiler and the run: a sum over "the active lanes" is then a sum over part of them, without an
error. (PTX ISA, `activemask`: no synchronisation; CUDA C++ Programming Guide, warp vote functions.)

## Example

```ptx
@!%p1 bra OUT;
activemask.b32 %r3;
redux.sync.add.s32 %r5, %r4, %r3;
```

## Fix

Say who takes part before the lanes can part: `vote.sync.ballot.b32 %r3, %p1, 0xffffffff;` ahead
of the branch.

## Limits

Silent where the mask, or one that `match` or `vote` makes of it, is also counted, compared,
searched for a leader or stored: such code works with whoever is there (`coalesced_threads()` of
cooperative groups, aggregated atomics). A mask that goes through memory or a call is not followed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.masks.active import ACTIVEMASK, ActiveMask, active_masks
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX205",
    name="activemask-as-membermask",
    category="synchronisation",
    severity=Severity.INFO,
    summary="activemask taken for the lanes that must take part",
    mnemonics=ACTIVEMASK,
)

_LABELS = 3


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such activemask."""
    for found in active_masks(function, facts):
        yield _finding(found, function, facts)


def _finding(found: ActiveMask, function: Function, facts: Facts) -> Finding:
    users = [function.instructions[use] for use in found.uses]
    labels = [Label(facts.span(user), "the member mask here") for user in users[:_LABELS]]
    _, lines = at_lines([user.start for user in users], facts)
    return RULE.finding(
        f"`activemask` says who happens to be here, and is the member mask of `{users[0].opcode}`",
        facts.span(function.instructions[found.at]),
        labels=tuple(labels),
        notes=(
            "lanes that should take part may be missing from it, in some runs and not in others",
        ),
        help="take the mask by `vote.sync.ballot` before the lanes can part, or name the lanes",
        data={"lines": lines},
    )
