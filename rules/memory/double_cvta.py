"""## What it does

Reports a `cvta` of an address that is generic already, and a `cvta.to` of one that is an offset in
the window already.

## Why it matters

`cvta` adds the start of the window and `cvta.to` takes it away: done twice, the address is that
far beside the object. ptxas takes it without a word; for sm_80 ptxas 13.5 makes of two
`cvta.shared` two additions of `c[0x0][0x18]`, and the access faults or reads something else. On
sm_90 and later `cvta.shared` only sets the upper word, and twice is as good as once (a warning
there); `.local` and `.const` are off on all targets.

## Example

```ptx
cvta.shared.u64 %rd1, tile;
cvta.shared.u64 %rd2, %rd1;
ld.u32 %r1, [%rd2];
```

## Fix

Leave the second out.

## Limits

Silent on `.global`, where `cvta` changes nothing, and where it is not sure that the address came
through a `cvta` or from a symbol: parameters, memory, a join of both forms.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.memory.forms import Misfit, misfits
from ptxlint.analysis.memory.spaces import TWICE
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function, Register

RULE = Rule(
    code="PTX321",
    name="double-cvta",
    category="memory",
    severity=Severity.ERROR,
    summary="cvta of an address that is converted already",
    mnemonics=frozenset({"cvta"}),
    screen="memory.glance:misplaced",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such cvta."""
    for misfit in facts.once(function, misfits):
        if misfit.problem == TWICE:
            yield _finding(misfit, function, facts)


def _finding(misfit: Misfit, function: Function, facts: Facts) -> Finding:
    instruction, operand = function.instructions[misfit.at], misfit.operand
    name = operand.name if isinstance(operand, Register) else "the address"
    to = misfit.wanted == "generic"
    window = f"the .{misfit.held} window"
    is_ = f"an offset in {window}" if to else "a generic address"
    labels: tuple[Label, ...] = ()
    if misfit.origin is not None:
        words = "its place in the window, from here" if to else "converted here already"
        labels = (Label(facts.span(misfit.origin), words),)
    moved = f"the start of {window} is {'taken away' if to else 'added'} once too often"
    if misfit.harmless:
        moved = (
            "undefined in the PTX ISA; it works on sm_90 and later alone, where cvta.shared only"
            " sets the upper word"
        )
    return RULE.finding(
        f"`{name}` is {is_} already, and `{instruction.opcode}` converts it again",
        facts.span(instruction),
        severity=Severity.WARNING if misfit.harmless else RULE.severity,
        labels=labels,
        notes=(f"{moved}; ptxas says nothing",),
        help=f"leave this `cvta` out and use `{name}`",
        data={
            "space": misfit.held,
            "to": to,
            "base": None if misfit.base is None else str(misfit.base),
        },
    )
