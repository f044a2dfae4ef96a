"""## What it does

Reports what the file's `.target` does not have in any PTX version: an instruction of a later
generation, one that only an architecture-specific target has (`setmaxnreg` on `sm_90` instead of
`sm_90a`), a special register, a directive, a type. With `--target`, also a file that can't run on
that GPU: at its `.target` line, and at what that GPU lacks.

## Why it matters

The file does not assemble. ptxas 13.5: `Instruction 'setmaxnreg' not supported on .target 'sm_90'`,
`Feature '256 bit wide load/store' requires .target sm_100 or higher`. The `.target` counts and not
the GPU at hand: with `.target sm_80` no instruction of `sm_90` is to be had, on an H100 either.

## Example

```ptx
.version 8.0
.target sm_90
...
setmaxnreg.inc.sync.aligned.u32 232;
```

## Fix

Raise the target, or name the architecture-specific one. PTX for `sm_90a` runs on 9.0 only, PTX for
an `f` target on its family; keep a build of the plain target beside it. Where another form does
the same on the given target, the finding names it.

```ptx
.target sm_90a
```

## Limits

One finding for each opcode and function, at its first use. A target that the table does not know
is a warning, and nothing else is checked then.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.claims import Claim, claim, directive_span, known_target
from ptxlint.analysis.places import at_lines
from ptxlint.analysis.requirements import Need, lacking, lacking_here
from ptxlint.isa.gates import instead
from ptxlint.isa.targets import Target
from ptxlint.isa.versions import never_made
from ptxlint.isa.wording import lowest, where
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Module

RULE = Rule(
    code="PTX703",
    name="feature-needs-target",
    category="versions",
    severity=Severity.ERROR,
    summary="something that the target does not have",
)


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """One finding for each thing and function that the target lacks, and for the target itself."""
    own = claim(module).target
    if own is None:
        named = module.target or ""
        if Target.parse(named) is not None and not never_made(named):  # that is PTX113's
            yield _unknown(module, facts)
        return
    lacks = [need for need, lack in facts.of_module(lacking_here) if lack == (None, None)]
    for need in lacks:
        yield _finding(need, own, f"this file says {own}", module, facts)
    asked = known_target(facts.options.target)
    if asked is None or own.runs_on(asked):
        return
    yield _stranger(own, asked, module, facts)
    told = {need.what for need in lacks}
    for need, _ in lacking(module, facts, Claim(None, asked)):
        if need.what not in told:
            yield _finding(need, asked, f"--target is {asked}", module, facts)


def _finding(need: Need, target: Target, says: str, module: Module, facts: Facts) -> Finding:
    notes, lines = at_lines([start for start, _ in need.places[1:]], facts)
    return RULE.finding(
        f"{need.what} needs {where(need.gates, target)}, {says}",
        facts.text_span(*need.places[0]),
        kernel=None if need.function is None else need.function.name,
        labels=(Label(directive_span("target", module, facts), f"{module.target}"),),
        notes=notes,
        help=_help(need, target),
        data={"needs": where(need.gates, target), "target": str(target), "lines": lines},
    )


def _help(need: Need, target: Target) -> str:
    minimum, specific = lowest(need.gates)
    same = [t for t in specific if t.number == target.number]
    if same:
        reach = "on this GPU only" if same[0].suffix == "a" else "on its family only"
        return f"write `.target {same[0]}`; such code runs {reach}"
    other = need.opcode and instead(need.opcode.mnemonic, need.opcode.modifiers)
    if other:
        return other
    higher = minimum or (specific[0] if specific else None)
    if higher is None or higher.number <= target.number:
        return f"there is no form of it for {target}"
    return f"write `.target {higher}`, or another form for {target}"


def _stranger(own: Target, asked: Target, module: Module, facts: Facts) -> Finding:
    if own.suffix == "a":
        why = f"PTX for {own} runs on {own.number // 10}.{own.number % 10} only"
    elif own.suffix == "f":
        why = f"PTX for {own} runs on its family only, from {own.number // 10}.{own.number % 10} on"
    else:
        why = "PTX runs on its target's GPU and on later ones"
    return RULE.finding(
        f"`.target {module.target}` does not run on {asked}",
        directive_span("target", module, facts),
        notes=(why,),
        help="`ptxlint compat` names the lowest target that the file needs",
        data={"target": str(own), "asked": str(asked)},
    )


def _unknown(module: Module, facts: Facts) -> Finding:
    return RULE.finding(
        f"`.target {module.target}` is not known here",
        directive_span("target", module, facts),
        severity=Severity.WARNING,
        notes=("what it has is not checked",),
        data={"target": module.target},
    )
