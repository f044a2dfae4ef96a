"""## What it does

Reports the instructions that ptxas 13.5 calls deprecated: `.satfinite` on a floating-point
`wmma.mma` (PTX ISA 6.4; refused from 6.5) and `.sync_restrict::reads` of `fabric` (9.5). `shfl`
and `vote` without `.sync` have a rule of their own, PTX206.

## Why it matters

The next version may refuse it, as happened to `.satfinite` one version later; the meaning may be
another already: ptxas 13.5 says that `.satfinite` "may produce unexpected results on sm_70 and
later".

## Example

```ptx
.version 6.4
.target sm_70
...
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32.satfinite {...}, {...}, {...}, {...};
```

## Fix

Leave the modifier out and clamp the result, or write the form that the finding names.

```ptx
wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {...}, {...}, {...}, {...};
```

## Limits

What the documentation discourages and ptxas takes without a word is not reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ptxlint.analysis import Facts
from ptxlint.analysis.facts import by_opcode
from ptxlint.analysis.places import at_lines
from ptxlint.isa.targets import Version
from ptxlint.isa.versions import text
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction, Opcode

RULE = Rule(
    code="PTX707",
    name="deprecated-instruction",
    category="versions",
    severity=Severity.INFO,
    summary="an instruction that ptxas calls deprecated",
    mnemonics=frozenset({"wmma", "fabric"}),
)


class Deprecation(NamedTuple):
    """A modifier that is deprecated from a version on, before it is refused."""

    mnemonic: str
    modifier: str
    since: Version
    refused: Version | None
    help: str


_TABLE = (
    Deprecation("wmma", "satfinite", (6, 4), (6, 5), "leave it out and clamp the result"),
    Deprecation("fabric", "sync_restrict::reads", (9, 5), None, "write `.sync_restrict::read`"),
)
_INTEGER = frozenset({"s8", "u8", "s4", "u4", "b1", "s32"})


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each deprecated opcode of the function, at its first use."""
    version = facts.module.version
    if version is None:
        return
    for opcode, found in facts.once(function, by_opcode).items():
        entry = _entry(opcode)
        if entry and entry.since <= version and (not entry.refused or version < entry.refused):
            yield _finding(opcode, found, entry, facts)


def _entry(opcode: Opcode) -> Deprecation | None:
    for entry in _TABLE:
        if entry.mnemonic == opcode.mnemonic and entry.modifier in opcode.modifiers:
            return None if _INTEGER.intersection(opcode.modifiers) else entry
    return None


def _finding(opcode: Opcode, found: list[Instruction], entry: Deprecation, facts: Facts) -> Finding:
    notes, lines = at_lines([instruction.start for instruction in found[1:]], facts)
    what = f"`.{entry.modifier}` of `{entry.mnemonic}`"
    return RULE.finding(
        f"{what} is deprecated since PTX ISA {text(entry.since)}",
        facts.span(found[0]),
        notes=notes,
        help=entry.help,
        data={"opcode": str(opcode), "lines": lines},
    )
