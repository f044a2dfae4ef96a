"""## What it does

Reports a suppression comment, or one code in it, that suppressed nothing in this run although
the rule that it names did run.

## Why it matters

A suppression that outlives its finding hides the next one: the kernel changes, the defect comes
back, and nobody is told.

## Example

```ptx
// ptxlint: ignore[PTX301] -- the table is 16-byte aligned
add.u32 %r1, %r2, %r3;
```

Nothing in this statement is a memory access, so PTX301 can't speak here.

## Fix

Delete the comment, or the code that is not needed. Where a directive stands on its own line it
belongs right above the statement that it is meant for; right above `.entry` or `.func` it
covers the whole function.

## Limits

Codes whose rule did not run (not selected, or failed with PTX999) are not judged.
"""

from ptxlint.model import Rule, Severity

RULE = Rule(
    code="PTX901",
    name="unused-suppression",
    category="linter",
    severity=Severity.WARNING,
    summary="a suppression comment that suppresses nothing",
)
