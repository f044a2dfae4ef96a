"""What ``ptxlint diff`` prints: text for people, and one JSON object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from .. import __version__
from ..analysis.difference import Change, FunctionDifference, ModuleDifference
from ..engine.demangle import demangle
from .names import shorten
from .summary import plural

SCHEMA_VERSION = 1
_MOST_OPCODES = 12
_STYLES = {"+": "green", "-": "red", "@": "cyan"}
Line = list[tuple[str, str]]


def text(names: Sequence[str], found: ModuleDifference, verbose: bool, color: bool) -> str:
    """The differences; nothing where there is none. With ``verbose``, equal functions too."""
    lines = list(_lines(found, verbose))
    if not lines:
        return ""
    head: list[Line] = [[(f"--- {names[0]}", "bold")], [(f"+++ {names[1]}", "bold")]]
    if color:
        from .color import painted

        return "".join(painted(line) + "\n" for line in (*head, *lines))
    return "".join("".join(part for part, _ in line) + "\n" for line in (*head, *lines))


def summary(found: ModuleDifference) -> str:
    """``1 kernel changed, 3 functions equal``; in the order of what matters."""
    parts = ["the module's head changed"] if found.changes else []
    for status in ("changed", "removed", "added", "renamed", "equal"):
        for is_kernel, word in ((True, "kernel"), (False, "function")):
            chosen = [f for f in found.functions if (f.status, f.is_kernel) == (status, is_kernel)]
            if chosen:
                parts.append(f"{len(chosen)} {plural(len(chosen), word)} {status}")
    return ", ".join(parts) or "no functions"


def json_text(names: Sequence[str], found: ModuleDifference) -> str:
    """The object that docs/diff.md describes."""
    value = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "ptxlint", "version": __version__},
        "before": names[0],
        "after": names[1],
        "equal": found.equal,
        "changes": [change._asdict() for change in found.changes],
        "functions": [_value(function) for function in found.functions],
    }
    return json.dumps(value, indent=1) + "\n"


def _value(function: FunctionDifference) -> dict[str, Any]:
    return {
        "name": function.name,
        "demangled": demangle(function.name),
        "new_name": function.new_name,
        "kind": "kernel" if function.is_kernel else "function",
        "status": function.status,
        "fingerprints": {"before": function.keys[0], "after": function.keys[1]},
        "changes": [change._asdict() for change in function.changes],
        "instructions": {"before": function.instructions[0], "after": function.instructions[1]}
        if function.status == "changed"
        else None,
        "mix": function.mix,
        "diff": list(function.diff),
        "diff_lines_left_out": function.hidden,
    }


def _lines(found: ModuleDifference, verbose: bool) -> Iterator[Line]:
    for change in found.changes:
        yield [(_change(change), "")]
    for function in found.functions:
        if function.status == "equal" and not verbose:
            continue
        kind = "kernel" if function.is_kernel else "function"
        line = [
            (f"{kind} {shorten(demangle(function.name))}", "bold"),
            (f": {function.status}", ""),
        ]
        if function.new_name is not None:
            line.append((f" ({shorten(demangle(function.new_name))})", ""))
        if verbose:
            keys = dict.fromkeys(key for key in function.keys if key)
            line.append((f" {' → '.join(keys)}", "dim"))
        yield line
        if function.status == "changed":
            yield from _details(function)


def _details(function: FunctionDifference) -> Iterator[Line]:
    for change in function.changes:
        yield [("  " + _change(change), "")]
    before, after = function.instructions
    if before != after:
        yield [(f"  instructions: {before} → {after}", "")]
    mix = sorted(function.mix.items(), key=lambda item: (-abs(item[1]), item[0]))
    words = [f"{count:+d} {opcode}" for opcode, count in mix[:_MOST_OPCODES]]
    if len(mix) > _MOST_OPCODES:
        words.append(f"{len(mix) - _MOST_OPCODES} more")
    if words:
        yield [(f"  opcodes: {', '.join(words)}", "")]
    elif not function.changes:
        yield [("  the same opcodes with other operands or in another order", "")]
    for row in function.diff:
        yield [(f"  {row}", _STYLES.get(row[:1], ""))]
    if function.hidden:
        yield [(f"  … {function.hidden} more {plural(function.hidden, 'line')}", "dim")]


def _change(change: Change) -> str:
    before, after = ("none" if v is None else v for v in (change.before, change.after))
    return f"{change.what}: {before} → {after}"
