"""## What it does

Reports a name with a character that PTX does not allow in names: a dot, `@`, `?`, a quote, a
letter outside ASCII.

## Why it matters

The file does not assemble: ptxas ends with `Parsing error near '.str': syntax error`, and does
not say that the name is what is wrong. Such names come from front ends that hand the names of
their source language, or of LLVM (`.str.0`), on as they are.

## Example

```ptx
.global .align 4 .b8 greet.str.0[4];
```

## Fix

PTX names are a letter, or `_`, `$` or `%` with at least one character after it, then letters,
digits, `_` and `$`. LLVM's NVPTX back end writes `_$_` for each character that is not allowed:
`greet_$_str_$_0`.

## Limits

A name is reported at its first use, with the lines of the others. A dot may also be the rest of
an instruction that is broken in another way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.analysis.places import at_lines
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Module, SyntaxProblem

RULE = Rule(
    code="PTX107",
    name="invalid-identifier",
    category="validity",
    severity=Severity.ERROR,
    summary="a name with a character that PTX does not allow",
)

_FORBIDDEN = re.compile(r"[^A-Za-z0-9_$%]")


def check_module(module: Module, facts: Facts) -> Iterator[Finding]:
    """One finding for each such name."""
    uses: dict[str, list[SyntaxProblem]] = {}
    for problem in module.syntax_problems:
        if problem.kind == "identifier":
            name = module.source.text[problem.start : problem.end]
            uses.setdefault(name, []).append(problem)
    for name, problems in uses.items():
        first = problems[0]
        characters = sorted(set(_FORBIDDEN.findall(name)))
        more, lines = at_lines([p.start for p in problems[1:]], facts)
        verb = "is" if len(characters) == 1 else "are"
        yield RULE.finding(
            f"{' and '.join(map(_quoted, characters))} {verb} not allowed in a PTX name: `{name}`",
            facts.text_span(first.start, first.end),
            notes=more,
            help=f"write `{_FORBIDDEN.sub('_$_', name)}`, as LLVM's NVPTX back end mangles it",
            data={"identifier": name, "characters": characters, "lines": lines},
        )


def _quoted(character: str) -> str:
    if character.isascii():
        return f"'{character}'"
    return f"'{character}' (U+{ord(character):04X})"
