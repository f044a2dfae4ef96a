"""## What it does

Reports an `.aligned` instruction that not all lanes of a warp execute: `mma`, `ldmatrix`, `wgmma`,
`setmaxnreg` and the like under a guard or in an arm that lanes part at, and copies of one
`bar.sync` in the two arms of such a branch.

## Why it matters

PTX ISA: "all threads in the warp must execute the same" instruction; else it is undefined. The
assembler relies on it: a matrix instruction takes its operands from all 32 lanes, whoever is there,
and a lane that is elsewhere gives whatever its registers hold. `bar.sync` is
`barrier.sync.aligned`: two of them in two arms are two instructions, even of the same barrier.

## Example

```ptx
setp.lt.u32 %p1, %r2, %r1;     // %r2: %tid.x
@!%p1 bra SKIP;
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r7}, [%r6];
SKIP:
```

## Fix

Execute it in all lanes, and choose the result afterwards; use `barrier.sync`, without `.aligned`,
where lanes must wait in two places.

## Limits

Where lanes are known, or part at a comparison of their own number with one that the kernel is
given: unless that is a multiple of 32, it is wrong. Lanes that have exited need not take part.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.barriers.collective import is_aligned, is_barrier
from ptxlint.analysis.barriers.parted import BY_NUMBER, Parted, parted
from ptxlint.analysis.masks.words import lanes_text
from ptxlint.analysis.places import at_lines
from ptxlint.model import Confidence, Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX211",
    name="divergent-aligned-op",
    category="synchronisation",
    severity=Severity.WARNING,
    summary="an .aligned instruction that not all lanes of a warp execute",
    screen="barriers.collective:suspects",
)
_MULTIPLE = "the number that lanes are compared with is no multiple of 32"


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each branch that parts lanes and opcode, at the first."""
    groups: dict[object, list[Parted]] = {}
    for each in facts.once(function, parted):
        opcode = each.instruction.opcode
        if is_aligned(opcode) and (each.copy is not None or not is_barrier(opcode)):
            groups.setdefault((id(each.branch), str(opcode)), []).append(each)
    for group in groups.values():
        yield _finding(group, facts)


def _finding(group: list[Parted], facts: Facts) -> Finding:
    first = group[0]
    instruction, by_number = first.instruction, first.kind == BY_NUMBER
    others = [each for each in group[1:] if each.instruction is not first.copy]
    more, lines = at_lines([each.instruction.start for each in others], facts)
    labels = []
    if first.branch is not instruction:
        labels.append(Label(facts.span(first.branch), "here lanes part"))
    if first.copy is not None:
        labels.append(Label(facts.span(first.copy), "the others execute this one"))
    if by_number:
        who = "lanes may part before it"
    else:
        who = f"{lanes_text(first.there & ~(first.executing or 0))} of warp {first.warp} do not"
    helps = "execute it in all lanes, and choose the result afterwards"
    if is_barrier(instruction.opcode):
        helps = "one barrier where the arms have joined, or `barrier.sync` (not aligned) in both"
    return RULE.finding(
        f"all lanes of a warp must execute `{instruction.opcode}`: {who}",
        facts.span(instruction),
        confidence=Confidence.MEDIUM if by_number else Confidence.HIGH,
        labels=tuple(labels),
        notes=("undefined in the PTX ISA otherwise (`.aligned`); ptxas says nothing", *more),
        help=helps,
        assumptions=(*first.assumptions, *([_MULTIPLE] if by_number else [])),
        data={
            "warp": first.warp,
            "executing": first.executing,
            "there": first.there,
            "lines": lines,
        },
    )
