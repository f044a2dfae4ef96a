"""## What it does

Reports `shfl` and `vote` without `.sync`: an error where `.version` is 6.4 or later and `.target`
is `sm_70` or later, which no assembler takes; else a warning.

## Why it matters

Since Volta the lanes of a warp run on their own, and the old forms have no mask that would bring
them together: they read whoever happens to be there. ptxas 13.5: `Instruction 'shfl' without
'.sync' is not supported on .target sm_70 and higher from PTX ISA version 6.4`, and for older files
`may produce unpredictable results on sm_70 and later architectures`. PTX for `sm_60` is compiled
for later GPUs too, so that its number is no protection.

## Example

```ptx
.version 6.4
.target sm_70
...
shfl.idx.b32 %r1, %r2, 0, 31;
```

## Fix

Add `.sync` and the mask of the lanes that take part (PTX ISA 6.0 and later, from `sm_30` on).

```ptx
shfl.sync.idx.b32 %r1, %r2, 0, 31, 0xffffffff;
```

## Limits

One finding for each opcode and function, at its first use. Which lanes belong into the mask it
can't know.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.claims import directive_span
from ptxlint.analysis.facts import by_opcode
from ptxlint.analysis.places import at_lines
from ptxlint.isa.targets import Target
from ptxlint.isa.versions import releases
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction, Opcode

RULE = Rule(
    code="PTX206",
    name="legacy-warp-op",
    category="synchronisation",
    severity=Severity.ERROR,
    summary="shfl or vote without .sync",
    mnemonics=frozenset({"shfl", "vote"}),
)

_REFUSED_FROM = (6, 4)
_VOLTA = 70


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such opcode of the function."""
    for opcode, found in facts.once(function, by_opcode).items():
        if opcode.mnemonic in RULE.mnemonics and "sync" not in opcode.modifiers:
            yield _finding(opcode, found, facts)


def _finding(opcode: Opcode, found: list[Instruction], facts: Facts) -> Finding:
    module = facts.module
    target = Target.parse(module.target or "")
    version = module.version
    volta = target is not None and target.number >= _VOLTA
    refused = volta and version in releases() and version is not None and version >= _REFUSED_FROM
    notes, lines = at_lines([instruction.start for instruction in found[1:]], facts)
    if refused:
        says = f"is refused from PTX ISA 6.4 on for {module.target}"
        labels = tuple(
            Label(directive_span(name, module, facts), what)
            for name, what in (("version", "6.4 or later"), ("target", "sm_70 or later"))
        )
    else:
        says, labels = "reads whatever lanes are there, on sm_70 and later", ()
    return RULE.finding(
        f"`{opcode}` without `.sync` {says}",
        facts.span(found[0]),
        severity=Severity.ERROR if refused else Severity.WARNING,
        labels=labels,
        notes=notes,
        help=f"write `{_synced(opcode)}` with the mask of the lanes that take part as last operand",
        data={"opcode": str(opcode), "lines": lines},
    )


def _synced(opcode: Opcode) -> str:
    return ".".join((opcode.mnemonic, "sync", *opcode.modifiers))
