"""## What it does

Reports a `disable` with no later `enable` for the same rule, and an `enable` with no `disable`
before it.

## Why it matters

A `disable` that is never closed covers everything down to the end of the file, which is seldom
what was meant, and grows with the file.

## Example

```ptx
// ptxlint: disable[PTX310]
ld.shared.f32 %f1, [%r1];
// the rest of the file is covered too
```

## Fix

Close the pair with `// ptxlint: enable[PTX310]`, or use `file-ignore[PTX310]` where the whole
file is meant.

## Limits

A code and its name are the same rule: `disable[PTX310]` is closed by `enable[bank-conflict]`.
"""

from ptxlint.model import Rule, Severity

RULE = Rule(
    code="PTX904",
    name="unpaired-disable",
    category="linter",
    severity=Severity.WARNING,
    summary="a disable without its enable, or the other way round",
)
