"""## What it does

Reports an architecture-specific target (`sm_90a`) or a family target (`sm_100f`), and whether
anything in the file needs it.

## Why it matters

PTX is kept beside machine code so that later GPUs can compile it. PTX for `sm_90a` never runs on
any GPU but 9.0, PTX for `sm_100f` only on that family. ptxas 13.5, for a later GPU: `cannot be
compiled to future architecture`.

## Example

```ptx
.version 8.0
.target sm_90a

.visible .entry empty()
{
    ret;
}
```

## Fix

Name the plain target where nothing needs more, else keep a second image for it.

```ptx
.target sm_90
```

## Limits

It is right where the file uses `wgmma`, `setmaxnreg` or `tcgen05`: then it says which of them and
asks for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.claims import claim, directive_span
from ptxlint.analysis.compatibility import lowest_target
from ptxlint.isa.targets import Target
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Module

RULE = Rule(
    code="PTX706",
    name="target-not-portable",
    category="versions",
    severity=Severity.INFO,
    summary="a target whose PTX later GPUs can't run",
    default=False,
)


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """At most one finding, at the .target line."""
    own = claim(module).target
    if own is None or not own.suffix:
        return
    reach = "that GPU only" if own.suffix == "a" else "its family only"
    found = lowest_target(module, facts)
    notes: tuple[str, ...] = ()
    help = f"keep an image for {Target(own.number, '')} beside it"
    if found is not None and module.parsed == "full":
        needed, reason = found
        if needed.suffix and reason is not None:
            notes = (f"needed by {reason.what}, line {reason.line}",)
        elif not needed.suffix and needed.number <= own.number:
            help = f"write `.target {Target(own.number, '')}`: nothing here needs `{own.suffix}`"
    yield RULE.finding(
        f"PTX for `{own}` runs on {reach}",
        directive_span("target", module, facts),
        notes=notes,
        help=help,
        data={"target": str(own)},
    )
