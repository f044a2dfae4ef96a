"""## What it does

Reports an instruction that PTX does not have: no such mnemonic, no such modifier of it, a modifier
missing or one too many, or a combination that no form of the instruction allows. The order of
modifiers is free but for the parts of the opcode itself and the order of types.

## Why it matters

The file does not assemble: ptxas says `Not a name of any known instruction`, `Unknown modifier`,
`Illegal modifier` or `Unexpected instruction types specified`; the driver returns
CUDA_ERROR_INVALID_PTX (218).

## Example

```ptx
ld.global.v2.f33 {%f1, %f2}, [%rd1];
shfl.sync.butterfly.b32 %r1, %r2, 16, 31, 0xffffffff;
```

## Fix

The finding names the closest spelling that exists: `ld.global.v2.f32`, `shfl.sync.bfly.b32`.

## Limits

The table of forms was made by trying every combination on ptxas 13.5. Where the table says nothing
about a combination (exotic cache operators of `ld` and `st` with rare types), neither does the
rule. A form that exists but needs a newer PTX version or another GPU is PTX702's or PTX703's.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.facts import by_opcode
from ptxlint.analysis.spelling import closest, is_wrong
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Opcode

RULE = Rule(
    code="PTX101",
    name="unknown-instruction",
    category="validity",
    severity=Severity.ERROR,
    summary="no such mnemonic, modifier or combination",
)

_SUGGESTIONS = 10  # spellings of one function that the closest legal one is worked out for


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each instruction of a wrong spelling."""
    by_spelling = facts.once(function, by_opcode)
    wrong = [opcode for opcode in by_spelling if is_wrong(opcode)]
    for number, opcode in enumerate(wrong):
        message, help_ = _words(opcode, number < _SUGGESTIONS)
        for instruction in by_spelling[opcode]:
            start = instruction.start
            if instruction.guard is not None:
                start = facts.module.source.text.find(opcode.mnemonic, start, instruction.end)
            span = facts.text_span(start, start + len(str(opcode)))
            yield RULE.finding(message, span, kernel=function.name, help=help_)


def _words(opcode: Opcode, suggest: bool) -> tuple[str, str | None]:
    """Message and help."""
    reason = is_wrong(opcode)
    near = closest(opcode) if suggest else None
    return f"`{opcode}`: {reason}", f"did you mean `{near}`?" if near else None
