"""Do statement templates give the IR that plain Lark gives, and how much faster are they?

Each file below the folders is parsed twice, by ``ptxlint.parse`` and by the grammar alone
(``parse_reference``), and the two IRs are compared whole, places in the text included.

equal    the same IR (of a text without .version, too, which the grammar does not ask for)
refused  Lark refuses the text, and templates don't call it full either
differ   anything else; listed
ratio    Lark's CPU time for the equal files over that of templates (both warm)
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from typing import Any

from ptxlint import parse
from ptxlint.ptx.grammar import SyntaxFault
from ptxlint.ptx.ir import Module
from ptxlint.ptx.reference import parse_reference
from tests.ptx.structure import structure

from .common import File, chosen, files, flag_parser, progress, report, table

WARM = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"


def compare(found: list[File]) -> dict[str, Any]:
    """All figures."""
    parse(WARM)
    parse_reference(WARM)
    groups: dict[str, Counter[str]] = {}
    seconds: dict[str, Counter[str]] = {}
    differing = []
    for file in progress(found):
        counts = groups.setdefault(file.group, Counter())
        counts["files"] += 1
        outcome, why, spent = _one(file)
        counts[outcome] += 1
        if outcome == "equal":
            counts["bytes"] += file.size
            seconds.setdefault(file.group, Counter()).update(spent)
        elif outcome == "differ":
            differing.append(f"{file.name}: {why}")
    total = sum(groups.values(), Counter())
    return {
        "groups": {n: _row(groups[n], seconds.get(n, Counter())) for n in sorted(groups)},
        "total": _row(total, sum(seconds.values(), Counter())),
        "differing": differing,
    }


def _row(counts: Counter[str], seconds: Counter[str]) -> dict[str, Any]:
    row: dict[str, Any] = {key: counts[key] for key in ("files", "equal", "refused", "differ")}
    return row | {
        "bytes": counts["bytes"],
        "templates": seconds["templates"],
        "lark": seconds["lark"],
        "ratio": seconds["lark"] / seconds["templates"] if seconds["templates"] else None,
    }


def _one(file: File) -> tuple[str, str, dict[str, float]]:
    text = file.text()
    gc.collect()
    start = time.process_time()
    fast = parse(text, file.name)
    middle = time.process_time()
    slow: Module | None
    fault = ""
    # As parse does for itself: collections in between would only count against Lark.
    gc.disable()
    try:
        slow = parse_reference(text, file.name)
    except SyntaxFault as error:
        slow, fault = None, error.message
    except RecursionError as error:
        slow, fault = None, f"RecursionError: {error}"
    finally:
        gc.enable()
    spent = {"templates": middle - start, "lark": time.process_time() - middle}
    if slow is None:
        refused = fast.parsed != "full" or bool(fast.syntax_problems)
        return ("refused", "", spent) if refused else ("differ", f"Lark refuses: {fault}", spent)
    left, right = structure(fast), structure(slow)
    if left == right:
        return "equal", "", spent
    said = "" if fast.parsed == "full" else f"Lark takes what templates call {fast.parsed}: "
    return "differ", said + _difference(left, right), spent


def _difference(left: Any, right: Any) -> str:
    """The first place where two structures part."""
    while isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        if len(left) != len(right):
            break
        pairs = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
        if not pairs:
            break
        left, right = pairs[0]
    return f"{str(left)[:80]} against {str(right)[:80]}"


def tables(figures: dict[str, Any]) -> str:
    """The figures for people."""
    head = ("folder", "files", "equal", "refused", "differ", "MB", "templates, s", "Lark, s")
    rows = [
        [
            name,
            *[row[key] for key in ("files", "equal", "refused", "differ")],
            row["bytes"] / 1e6,
            *[row[key] for key in ("templates", "lark", "ratio")],
        ]
        for name, row in [*figures["groups"].items(), ("total", figures["total"])]
    ]
    lines = [f"  {line}" for line in figures["differing"]]
    return "\n".join([table((*head, "ratio"), rows), "", *lines])


def main() -> None:
    """Compare and print."""
    flags = flag_parser(__doc__).parse_args()
    result = compare(chosen(files(flags.folders), flags))
    report(flags, result, tables(result))


if __name__ == "__main__":
    main()
