"""## What it does

Reports a `.version` above what the file needs with its target, where a lower one would reach older
drivers.

## Why it matters

Compilers write their newest version, whatever the code uses. A driver takes PTX up to the version
of its own CUDA release only (error 222 beyond), so that the number alone shuts older drivers out.

## Example

```ptx
.version 8.4
.target sm_80

.visible .entry empty()
{
    ret;
}
```

## Fix

Lower the number to what is named, after a test with that driver.

```ptx
.version 7.0
```

## Limits

Silent where part of the file was not read, or holds opcodes that are not in the table. Older
drivers have older compilers: the code that they make is another.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.claims import directive_span
from ptxlint.analysis.compatibility import compatibility
from ptxlint.isa.targets import version as read
from ptxlint.isa.versions import releases, text
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Module

RULE = Rule(
    code="PTX705",
    name="isa-version-needlessly-high",
    category="versions",
    severity=Severity.INFO,
    summary="a .version that nothing in the file needs",
    default=False,
)


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """At most one finding, at the .version line."""
    version = module.version
    if version is None or version not in releases():
        return
    found = compatibility(module, facts)
    if found.version_as_is is None or found.unknown or not found.complete:
        return
    own, needed = releases()[version], releases()[read(found.version_as_is)]
    if needed.version >= version or needed.cuda == own.cuda or found.driver == own.driver:
        return
    reason = found.version_as_is_reason
    line = f", line {reason.line}" if reason and reason.line else ""
    notes = [f"what sets it: {reason.what}{line}"] if reason else []
    if found.driver is not None:
        oldest = "any driver" if found.driver == "any" else f"driver {found.driver} and later"
        present = f"driver {own.driver}" if own.driver else f"the driver of CUDA {own.cuda}"
        notes.append(f"reaches {oldest}; as it is, {present} and later")
    yield RULE.finding(
        f"this file says PTX ISA {text(version)} and needs {text(needed.version)}",
        directive_span("version", module, facts),
        notes=tuple(notes),
        help=f"write `.version {found.version_as_is}` to reach older drivers",
        data={"version": text(version), "needed": found.version_as_is, "driver": found.driver},
    )
