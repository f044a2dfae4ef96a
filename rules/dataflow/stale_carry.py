"""## What it does

Reports an `addc`, `subc` or `madc` whose carry does not come from a `.cc` instruction above it in
the same straight run of code: nothing sets it at all, a call stands between, or it comes from
another basic block (a branch, a join or the previous turn of a loop).

## Why it matters

The PTX ISA (9.7.2, extended-precision integer arithmetic) does not preserve the condition code
across calls and means it for straight-line code. No register names it and nothing tells whether it
is set, so that ptxas 13.5 accepts all of these without a word. With no `.cc` before it, ptxas makes
the addition read whatever predicate register the carry would be in. After a call it reads the one
that the callee is free to use. Between blocks ptxas 13.5 does keep it (looked at in SASS for
sm_80), which the ISA does not promise; there the usual fault is that one arm set another carry.

## Example

```ptx
add.cc.u32 %r1, %r2, %r3;
@%p1 bra SKIP;
...
SKIP:
addc.u32 %r4, %r5, %r6;
```

## Fix

Keep the chain from the first `add.cc` to the last `addc` together, or save the carry:
`addc.u32 %r7, 0, 0;` right after, and `add.cc.u32 %r8, %r7, -1;` to set it again.

## Limits

Labels that nothing jumps to (those of debug information) do not end a run. Whether a guarded `.cc`
instruction ran is not asked, nor whether the carry is that of another chain in the same block.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.dataflow.carry import Stale, stale_carries
from ptxlint.model import Confidence, Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX603",
    name="stale-carry",
    category="dataflow",
    severity=Severity.WARNING,
    summary="a carry that another block, a call or nothing at all left",
    mnemonics=frozenset({"addc", "subc", "madc"}),
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each carry that is read and not set in the same run."""
    for stale in facts.once(function, stale_carries):
        yield _finding(function, stale, facts)


def _finding(function: Function, stale: Stale, facts: Facts) -> Finding:
    reader = function.instructions[stale.read]
    labels = [Label(facts.span(function.instructions[i]), "set here") for i in stale.setters[:4]]
    confidence = Confidence.HIGH
    if not stale.setters:
        why = "was set by nothing"
        note = "ptxas says nothing, and reads whatever predicate the carry would be in"
    elif stale.call is not None:
        callee = function.instructions[stale.call]
        labels.append(Label(facts.span(callee), "the call comes between"))
        why = "comes from before a call, which need not keep it"
        note = "the condition code is not preserved across calls (PTX ISA 9.7.2)"
    else:
        confidence = Confidence.MEDIUM
        where = "another basic block" if len(stale.setters) == 1 else "other basic blocks"
        why = f"was left by {where}"
        note = (
            "the condition code is meant for straight-line code (PTX ISA 9.7.2);"
            " ptxas 13.5 keeps it across branches, which nothing promises"
        )
    return RULE.finding(
        f"the carry that `{reader.opcode}` reads {why}",
        facts.span(reader),
        confidence=confidence,
        labels=tuple(labels),
        notes=(note,),
        help="set it by a `.cc` instruction right above, in the same block",
    )
