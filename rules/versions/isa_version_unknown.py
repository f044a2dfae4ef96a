"""## What it does

Reports a `.version` that no CUDA release has. One that is newer than the newest known to ptxlint
is only a warning: it may have come out since.

## Why it matters

ptxas and the driver stop at the first line. ptxas 13.5: `Unsupported .version 8.9; current version
is '9.5'`. The numbers have gaps: 1.5 is followed by 2.0, 5.1 by 6.0, 6.5 by 7.0, 8.8 by 9.0.

## Example

```ptx
.version 8.9
.target sm_90
```

## Fix

Write the version that the newest feature in the file needs; `ptxlint compat FILE` names it.

```ptx
.version 8.8
.target sm_90
```

## Limits

The table ends at the version that ptxlint was made with.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.claims import directive_span
from ptxlint.isa.versions import latest, releases, text
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Module

RULE = Rule(
    code="PTX701",
    name="isa-version-unknown",
    category="versions",
    severity=Severity.ERROR,
    summary="a .version that was never released",
)


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """At most one finding, at the .version line."""
    given = module.version
    if given is None or given in releases():
        return
    span = directive_span("version", module, facts)
    if given > latest():
        yield RULE.finding(
            f"PTX ISA {text(given)} is newer than {text(latest())}, the newest known here",
            span,
            severity=Severity.WARNING,
            notes=("what it may hold that older versions don't have is not checked",),
            help=f"lower it to {text(latest())} if nothing in the file needs more",
            data={"version": text(given)},
        )
        return
    older = [release for release in releases() if release < given]
    newer = [release for release in releases() if release > given]
    around = [text(release) for release in (*older[-1:], *newer[:1])]
    yield RULE.finding(
        f"there is no PTX ISA {text(given)}",
        span,
        notes=(f"the versions next to it: {' and '.join(around)}",),
        help="`ptxlint compat` names the version that the file needs",
        data={"version": text(given), "next": around},
    )
