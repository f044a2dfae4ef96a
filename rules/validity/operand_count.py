"""## What it does

Reports an instruction with fewer or more operands than any form of its opcode takes, and says
which one is missing or too many where that can be told from the others.

## Why it matters

The file does not assemble, in any PTX version and for any target: ptxas says `Arguments mismatch
for instruction 'add'`, and not which. The driver answers CUDA_ERROR_INVALID_PTX (218).

## Example

```ptx
add.s32 %r1, %r2;
```

## Fix

```ptx
add.s32 %r1, %r1, %r2;
```

An operand that only a modifier brings, such as the policy of `.L2::cache_hint`, goes with it:
write both or neither.

## Limits

Warp instructions without their member mask are missing-member-mask (PTX201). Texture, surface and
video instructions and calls are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.operand_check import Count, operand_problems
from ptxlint.analysis.operand_words import place_of
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction

RULE = Rule(
    code="PTX102",
    name="operand-count",
    category="validity",
    severity=Severity.ERROR,
    summary="too few or too many operands",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each instruction."""
    for instruction, verdict in facts.once(function, operand_problems):
        if isinstance(verdict, Count):
            yield _finding(instruction, verdict, facts)


def _finding(instruction: Instruction, count: Count, facts: Facts) -> Finding:
    names, given = count.names, count.given
    span, wrong, help_ = facts.span(instruction), "", None
    if count.missing is not None:
        wrong = f": {names[count.missing]} is missing"
        help_ = f"add {names[count.missing]}"
    elif count.extra is not None:
        span = place_of(instruction, count.extra, facts)
        wrong = f": number {count.extra + 1} is one too many"
        help_ = "drop it, or add the modifier that it belongs to"
    listed = f" ({', '.join(names)})" if names else ""
    return RULE.finding(
        f"`{instruction.opcode}` takes {_operands(len(names))}{listed}, this has {given}{wrong}",
        span,
        help=help_,
        data={"operands": list(names), "given": given},
    )


def _operands(count: int) -> str:
    return f"{count or 'no'} operand{'' if count == 1 else 's'}"
