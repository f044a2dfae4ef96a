"""## What it does

Reports a `cp.async.wait_group` that comes ahead of every `commit_group`, with copies under way that
a later one commits.

## Why it matters

A wait is for groups, and there is none yet: it ends at once, and what is read behind it may be what
was there before the copy.

## Example

```ptx
cp.async.cg.shared.global [tile], [%rd1], 16;
cp.async.wait_group 0;
cp.async.commit_group;
```

## Fix

Commit first, then wait. `cp.async.wait_all` needs no commit.

## Limits

A pipeline whose wait stands between the copies of the next stage and their commit is right, and
quiet: the wait is for older groups.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.ordering.groups import idle_waits
from ptxlint.model import Finding, Label, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="PTX507",
    name="async-commit-after-wait",
    category="ordering",
    severity=Severity.WARNING,
    summary="a wait for asynchronous copies that are committed only behind it",
    mnemonics=frozenset({"cp"}),
    screen="ordering.groups:has_groups",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """One finding for each such wait."""
    for found in facts.once(function, idle_waits):
        yield RULE.finding(
            f"`{found.wait.opcode}` waits for nothing: no group is committed before it",
            facts.span(found.wait),
            labels=(
                Label(facts.span(found.copy), "this copy is under way"),
                Label(facts.span(found.commit), "its group is made here"),
            ),
            notes=(
                "the wait ends at once, and what is read behind it may be what was there before",
            ),
            help="`cp.async.commit_group` ahead of the wait",
        )
