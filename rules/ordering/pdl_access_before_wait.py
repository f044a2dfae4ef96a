"""## What it does

Points out global memory that is read, in a kernel with `griddepcontrol.wait`, on a way that comes
to the wait later.

## Why it matters

A kernel that is launched with programmatic dependent launch starts while the one before it runs;
what that one writes is there after `griddepcontrol.wait` (PTX ISA). A load ahead of it reads what
was there before, in some runs. Of memory that no kernel before writes, weights say, it is what the
wait is put off for.

## Example

```ptx
ld.global.u32 %r2, [%rd6];
griddepcontrol.wait;
```

## Fix

Put the load behind the wait, unless the memory is never written by the kernel before.

## Limits

Which memory the kernel before writes is not in the file: the level is information.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.flow.dominance import dominators
from ptxlint.analysis.flow.graph import control_flow
from ptxlint.analysis.places import at_lines
from ptxlint.model import Confidence, Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction

RULE = Rule(
    code="PTX517",
    name="pdl-access-before-wait",
    category="ordering",
    severity=Severity.INFO,
    summary="global memory read before griddepcontrol.wait",
    confidence=Confidence.LOW,
    mnemonics=frozenset({"griddepcontrol"}),
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each kernel, at the first such load."""
    flow, over = facts.once(function, control_flow), facts.once(function, dominators)
    code = function.instructions
    waits = [at for at, each in enumerate(code) if each.opcode.mnemonic == "griddepcontrol"]
    waits = [at for at in waits if "wait" in code[at].opcode.modifiers]
    if not function.is_kernel or not waits or not flow.resolved:
        return
    early = []
    for at, each in enumerate(code):
        if not _reads(each):
            continue
        block = flow.block_of[at]
        before = [w for w in waits if over.dominates(flow.block_of[w], block)]
        if any(flow.block_of[w] != block or w < at for w in before):
            continue
        later = [w for w in waits if flow.block_of[w] == block and w > at]
        later += [w for w in waits if over.dominates(block, flow.block_of[w])]
        if later:
            early.append((each, code[later[0]]))
    if early:
        load, wait = early[0]
        more, lines = at_lines([each.start for each, _ in early[1:]], facts)
        yield RULE.finding(
            f"`{load.opcode}` comes before `{wait.opcode}`: the kernel before may still write that",
            facts.span(load),
            labels=(Label(facts.span(wait), "what it writes is there from here on"),),
            notes=more,
            help="put it behind the wait, unless the kernel before never writes this memory",
            data={"lines": lines},
        )


def _reads(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    return opcode.mnemonic in ("ld", "ldu") and "global" in opcode.modifiers
