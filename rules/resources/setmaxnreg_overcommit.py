"""## What it does

Adds up what the warpgroups of a block ask for by `setmaxnreg`, and reports where it is more than
the block started with.

## Why it matters

`setmaxnreg.inc` waits until other warps of the block have given registers back (PTX ISA,
"setmaxnreg"). What the block has is what it is launched with, `.maxnreg` for each of its threads:
where all that is asked for is more, some warpgroup waits for ever.

## Example

```ptx
.reqntid 256, 1, 1
.maxnreg 128                            // 32,768 for the block
...
@%p1 bra FEEDER;                        // warpgroup 0
setmaxnreg.inc.sync.aligned.u32 232;    // 29,696
FEEDER:
setmaxnreg.dec.sync.aligned.u32 40;     //  5,120: 34,816 in all
```

## Fix

Let the sum of what the warpgroups ask for, each times 128, be at most the block's.

## Limits

Only where `.maxnreg` and `.reqntid` say what the block starts with, each warpgroup executes one
`setmaxnreg` at most, and it is known which.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ptxlint.analysis import Facts
from ptxlint.analysis.values.patterns import patterns
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function, Instruction, Integer

RULE = Rule(
    code="PTX408",
    name="setmaxnreg-overcommit",
    category="resources",
    severity=Severity.WARNING,
    summary="warpgroups that ask for more registers than their block has",
    mnemonics=frozenset({"setmaxnreg"}),
)
_WARPGROUP = 128


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such kernel."""
    given, shape = function.directive("maxnreg"), function.directive("reqntid")
    if not function.is_kernel or given is None or shape is None:
        return
    registers = given.arguments[0] if given.arguments else None
    threads = prod(n for n in shape.arguments if isinstance(n, int))
    known = facts.once(function, patterns)
    if not isinstance(registers, int) or not known.space.exact or threads % _WARPGROUP:
        return
    asked: dict[int, tuple[int, Instruction]] = {}  # by warpgroup
    assumed = 0
    for at, instruction in enumerate(function.instructions):
        if instruction.opcode.mnemonic != "setmaxnreg":
            continue
        who, count = known.threads(at), instruction.operands[0]
        if who is None or not isinstance(count, Integer):
            return
        assumed |= who.assumptions
        for group in range(threads // _WARPGROUP):
            part = who.bits >> (group * _WARPGROUP) & ((1 << _WARPGROUP) - 1)
            if part and (part != (1 << _WARPGROUP) - 1 or group in asked):
                return  # not a whole warpgroup, or one after another
            if part:
                asked[group] = (count.value, instruction)
    groups = [asked.get(group, (registers, None))[0] for group in range(threads // _WARPGROUP)]
    total, has = _WARPGROUP * sum(groups), threads * registers
    if not asked or total <= has or assumed:
        return
    increases = {id(i): (n, i) for n, i in asked.values() if n > registers}
    if not increases:
        return
    first, *others = [instruction for _, instruction in increases.values()]
    sums = " + ".join(f"{count * _WARPGROUP:,}" for count in groups)
    yield RULE.finding(
        f"the warpgroups ask for {total:,} registers, and the block has {has:,}: some wait",
        facts.span(first),
        labels=tuple(Label(facts.span(other), "and here") for other in others),
        notes=(f"{sums} = {total:,} of {threads} threads with {registers} each",),
        help=f"let the warpgroups' registers add up to {has // _WARPGROUP} at most",
        data={"asked": groups, "registers": registers, "threads": threads},
    )
