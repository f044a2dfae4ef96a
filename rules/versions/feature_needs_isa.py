"""## What it does

Reports what the file's `.version` does not have yet: instructions, special registers, directives,
types, labels in debug sections, `inlined_at`, more than 4,352 bytes of kernel parameters, and the
target itself (`.target sm_90a` begins with PTX ISA 8.0). What was dropped since is reported too.

## Why it matters

The file does not assemble, whatever the assembler's own version, and the driver refuses it
(CUDA_ERROR_INVALID_PTX, 218). ptxas 13.5: `Feature 'activemask' requires PTX ISA .version 6.2 or
later`, `PTX .version 6.3 does not support .target sm_90a`. Mostly inline assembly in code whose
compiler writes an older version, or a `.version` that was lowered by hand.

## Example

```ptx
.version 6.0
.target sm_70
...
activemask.b32 %r1;
```

## Fix

Raise `.version` to what is named. That asks for a newer driver: `ptxlint compat FILE` says which.

```ptx
.version 6.2
```

## Limits

One finding for each opcode and function, at its first use. Forms of an instruction that only the
kinds of its operands tell apart are taken for the oldest of them. Older assemblers refuse a few
forms that ptxas 13.5 takes at the same `.version`; `ptxlint compat` counts those, this rule does
not.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.claims import directive_span
from ptxlint.analysis.places import at_lines
from ptxlint.analysis.requirements import Need, lacking_here
from ptxlint.isa.targets import Version
from ptxlint.isa.versions import first_version, releases, text
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Module

RULE = Rule(
    code="PTX702",
    name="feature-needs-isa",
    category="versions",
    severity=Severity.ERROR,
    summary="something that needs a higher .version",
)

_LEGACY = frozenset({"shfl", "vote"})  # without .sync: PTX206 speaks of them


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """One finding for the target, and one for each thing and function that lacks the version."""
    version = module.version
    if version not in releases() or version is None:
        return
    first = first_version(module.target or "")
    # ptxas does not look at the pair in a file that has neither code nor data.
    if first is not None and version < first and (module.functions or module.variables):
        yield _of_target(module, version, first, facts)
    for need, lack in facts.of_module(lacking_here):
        if lack.version is not None:
            yield _finding(need, lack.version, version, module, facts)
        elif lack.until is not None and not (need.opcode and need.opcode.mnemonic in _LEGACY):
            yield _dropped(need, lack.until, version, module, facts)


def _of_target(module: Module, version: Version, first: Version, facts: Facts) -> Finding:
    return RULE.finding(
        f"`.target {module.target}` needs PTX ISA {text(first)}, this file says {text(version)}",
        directive_span("target", module, facts),
        labels=(_label(module, version, facts),),
        help=f"write `.version {text(first)}` or a lower target",
        data={"needs": text(first), "version": text(version), "lines": []},
    )


def _finding(need: Need, needs: Version, version: Version, module: Module, facts: Facts) -> Finding:
    notes, lines = at_lines([start for start, _ in need.places[1:]], facts)
    return RULE.finding(
        f"{need.what} needs PTX ISA {text(needs)}, this file says {text(version)}",
        facts.text_span(*need.places[0]),
        kernel=None if need.function is None else need.function.name,
        labels=(_label(module, version, facts),),
        notes=notes,
        help=f"write `.version {text(needs)}`{_price(needs)}",
        data={"needs": text(needs), "version": text(version), "lines": lines},
    )


def _dropped(need: Need, until: Version, version: Version, module: Module, facts: Facts) -> Finding:
    notes, lines = at_lines([start for start, _ in need.places[1:]], facts)
    return RULE.finding(
        f"{need.what} is legal up to PTX ISA {text(until)}, this file says {text(version)}",
        facts.text_span(*need.places[0]),
        kernel=None if need.function is None else need.function.name,
        labels=(_label(module, version, facts),),
        notes=notes,
        help="use the form that took its place",
        data={"until": text(until), "version": text(version), "lines": lines},
    )


def _label(module: Module, version: Version, facts: Facts) -> Label:
    return Label(directive_span("version", module, facts), f"PTX ISA {text(version)}")


def _price(needs: Version) -> str:
    release = releases()[needs]
    if release.driver is None:
        return f", which came with CUDA {release.cuda}"
    return f", which came with CUDA {release.cuda} and driver {release.driver}"
