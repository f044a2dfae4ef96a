"""``python -m ptxlint.engine.scaffold PTX302 declared-alignment-too-small memory``: a new rule.

Writes the rule's module and its two cases in a checkout, all of them to be filled in: the tests
fail until the page is written, the rule finds what its bad case expects, and nothing in the good.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from .registry import CATEGORIES, entries, root

SECTIONS = ("What it does", "Why it matters", "Example", "Fix", "Limits")

_MODULE = '''"""{page}
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis import Facts
from ptxlint.model import Finding, Rule, Severity
from ptxlint.ptx.ir import Function

RULE = Rule(
    code="{code}",
    name="{name}",
    category="{category}",
    severity=Severity.WARNING,
    summary="",
)


def check(function: Function, facts: Facts) -> Iterator[Finding]:
    """What each finding stands for."""
    yield from ()
'''

_CASE = """.version 8.0
.target sm_80
.address_size 64

// {comment}
.visible .entry {kernel}()
{{
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;{expectation}
    ret;
}}
"""


def scaffold(code: str, name: str, category: str, checkout: Path) -> list[Path]:
    """Write the three files of a new rule; returns them.

    Raises ValueError, and writes nothing, for a code, name or category that can't be or is taken.
    """
    if not re.fullmatch(r"(PTX|SAS)\d{3}", code):
        raise ValueError(f"{code!r} is not a code such as PTX302")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ValueError(f"{name!r} is not a kebab-case name")
    if category not in CATEGORIES or CATEGORIES.index(category) + 1 != int(code[3]):
        expected = CATEGORIES[int(code[3]) - 1]
        raise ValueError(f"{code} is of category {expected}, not {category!r}")
    if any(code == entry.code or name == entry.name for entry in entries()):
        raise ValueError(f"there is a rule {code} or {name} already")
    module = name.replace("-", "_")
    page = "\n\n".join(f"## {section}" for section in SECTIONS)
    case = {"kernel": module, "comment": "What is wrong here.", "expectation": f" //~ {code}"}
    good = {"kernel": module, "comment": "The same, right.", "expectation": ""}
    folder = checkout / "corpus" / "cases"
    files = {
        checkout / "rules" / category / f"{module}.py": _MODULE.format(
            page=page, code=code, name=name, category=category
        ),
        folder / f"{name}.bad.ptx": _CASE.format(**case),
        folder / f"{name}.good.ptx": _CASE.format(**good),
    }
    for path in files:
        if path.exists():
            raise ValueError(f"{path} is there already")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    package = checkout / "rules" / category / "__init__.py"
    if not package.exists():
        digit = CATEGORIES.index(category) + 1
        package.write_text(f'"""Category {digit}: {category}."""\n', encoding="utf-8")
    return list(files)


def main(arguments: list[str]) -> int:
    """Three arguments: code, name, category."""
    if len(arguments) != 3:
        print("usage: python -m ptxlint.engine.scaffold CODE NAME CATEGORY", file=sys.stderr)
        return 2
    code, name, category = arguments
    try:
        files = scaffold(code, name, category, Path(root()).parent)
    except ValueError as error:
        print(f"scaffold: {error}", file=sys.stderr)
        return 2
    for path in files:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
