"""## What it does

Reports a suppression comment that names no rule: `ignore`, `ignore[]` or `ignore[ALL]`.

## Why it matters

A blanket suppression hides every defect that the statement will ever have. It has no effect
here: what it was meant to hide is still reported.

## Example

```ptx
ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+4];  // ptxlint: ignore
```

## Fix

Name the rules: `// ptxlint: ignore[PTX301] -- reason`.

## Limits

None known.
"""

from ptxlint.model import Rule, Severity

RULE = Rule(
    code="PTX903",
    name="blanket-suppression",
    category="linter",
    severity=Severity.WARNING,
    summary="a suppression comment that names no rule",
)
