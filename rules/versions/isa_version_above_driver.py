"""## What it does

With `--driver`, reports a `.version` that this Linux driver does not take, and says whether
anything in the file needs it.

## Why it matters

The driver that compiles PTX at load time takes versions up to that of its own CUDA release and
refuses higher ones (CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222), before it looks at a single
instruction. CUDA's minor-version compatibility does not cover PTX: a program built with a 12.4
toolkit runs on a 12.2 driver as long as it brings machine code, and fails once it brings PTX only.

## Example

With `--driver 535`, which takes PTX up to 8.2:

```ptx
.version 8.4
.target sm_80
```

## Fix

Lower `.version` where nothing in the file needs it (the finding says so), build with the toolkit
of the older driver, ship machine code for the GPU, or update the driver.

```ptx
.version 8.2
```

## Limits

Linux drivers, from NVIDIA's table of CUDA releases; nothing is known of those after 590. A branch
that is not in the table is said to be unknown, at level info, where it matters; it is never
guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.claims import directive_span
from ptxlint.isa.targets import Version
from ptxlint.isa.versions import branch, highest_for, releases, text
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Module

RULE = Rule(
    code="PTX704",
    name="isa-version-above-driver",
    category="versions",
    severity=Severity.ERROR,
    summary="a .version that the driver given does not take",
)


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """At most one finding, at the .version line."""
    version = module.version
    number = branch(facts.options.driver or "")
    if number is None or version is None or version not in releases():
        return
    highest, is_limit = highest_for(number)
    if highest is not None and version <= highest:
        return
    if is_limit and highest is not None:
        yield _above(module, version, number, highest, facts)
    else:
        yield RULE.finding(
            f"driver {number} is unknown here, so is whether it takes PTX ISA {text(version)}",
            directive_span("version", module, facts),
            severity=Severity.INFO,
            notes=(_known_for(version),),
            data={"driver": number, "version": text(version), "highest": None},
        )


def _above(
    module: Module, version: Version, number: int, highest: Version, facts: Facts
) -> Finding:
    cuda = releases()[highest].cuda
    return RULE.finding(
        f"driver {number} takes PTX up to {text(highest)}, this file says {text(version)}",
        directive_span("version", module, facts),
        notes=(
            "loading it fails with CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)",
            f"PTX ISA {text(highest)} is that of CUDA {cuda}; {_known_for(version)}",
        ),
        help=_help(module, version, highest, facts),
        data={"driver": number, "version": text(version), "highest": text(highest)},
    )


def _known_for(version: Version) -> str:
    release = releases()[version]
    if release.driver is None:
        return f"which driver takes {text(version)} first is not known (CUDA {release.cuda} has it)"
    return f"{text(version)} came with CUDA {release.cuda} and driver {release.driver}"


def _help(module: Module, version: Version, highest: Version, facts: Facts) -> str:
    from ptxlint.analysis.compatibility import lowest_version  # without --driver of no use

    found = lowest_version(module, facts)
    if found is None or module.parsed != "full":
        return "update the driver, or ship machine code for the GPU"
    needed, reason = found
    if needed <= highest:
        return f"write `.version {text(highest)}`: nothing here needs more than {text(needed)}"
    what = f": {reason.what}" if reason else ""
    return f"update the driver or ship machine code: the file needs {text(needed)}{what}"
