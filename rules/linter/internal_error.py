"""## What it does

Says that a rule, or the reading of a file, failed with an error of ptxlint's own. The other
rules went on.

## Why it matters

What the failed rule would have found in this kernel was not found: the file is not known to be
free of it.

## Example

```text
warning[PTX999] internal-error: rule bank-conflict (PTX310) failed in kernel reduce: KeyError: 3
```

## Fix

The defect is in ptxlint. Run again with `-v` for the traceback, and report it with the kernel.
`--ignore CODE` leaves the rule out until then.

## Limits

A rule that fails is reported once per function.
"""

from ptxlint.model import Rule, Severity

RULE = Rule(
    code="PTX999",
    name="internal-error",
    category="linter",
    severity=Severity.WARNING,
    summary="a rule failed; the others went on",
)
