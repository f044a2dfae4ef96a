"""## What it does

Reports a suppression comment that names a rule which does not exist, or that holds a word other
than `ignore`, `disable`, `enable` and `file-ignore`.

## Why it matters

A misspelt suppression does nothing, and looks as if it did.

## Example

```ptx
// ptxlint: ignore[PTX310l]
ld.shared.f32 %f1, [%r1];
```

## Fix

Use the code (`PTX310`) or the name (`bank-conflict`) as `ptxlint rule --all` prints it. Prefixes
such as `PTX3` are for the command line; a suppression names rules one by one.

## Limits

Only comments that begin with `ptxlint:` are read.
"""

from ptxlint.model import Rule, Severity

RULE = Rule(
    code="PTX902",
    name="unknown-code",
    category="linter",
    severity=Severity.WARNING,
    summary="a suppression comment names a rule that does not exist",
)
