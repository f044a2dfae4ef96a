"""How much of what ptxas rejects does ptxlint report, and does it ever report what ptxas accepts?

PTX files are broken at one line each, by operators taken in turn; ptxas (-O0) judges each text,
and so does ptxlint. ``--out`` keeps the texts and ``labels.tsv``, which the other benchmarks read.

op, mod           a mnemonic, a modifier that does not exist
dropmod, swapmod  a modifier dropped, two swapped
type              another type
arity, extra      an operand dropped, two added
imm, reg          5 as the destination, a register of another type
lit               a broken literal
undef, dropreg    an undeclared register, a .reg line dropped
comma, semi, brk  a comma, a semicolon, a closing bracket dropped
dropbrace, dropopen  a line of } or { dropped
version, target   a lower .version, .target

rejected  by ptxas
reported  ... of these, with an error of ptxlint
on line   ... of those rejected with a line, an error at one of ptxas' lines
false     accepted by ptxas, with an error of category 1 or 7: must be none

ptxas for a virtual architecture (compute_XX) makes no code and says the same, but for whole-module
errors such as that of a 32-bit address; so the real one is asked.
"""

from __future__ import annotations

import argparse
import csv
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from ptxlint import Severity, check_text
from ptxlint.engine.registry import entries

from .common import (
    Assembled,
    File,
    arch_of,
    assemble,
    chosen,
    files,
    flag_parser,
    needed_ptxas,
    percent,
    progress,
    report,
    table,
    tool_version,
)
from .mutation import OPERATORS, Text, mutated

SYNTAX = ("lit", "undef", "dropreg", "comma", "semi", "brk", "dropbrace", "dropopen")
"""Operators after which a text is no PTX or names what is not declared: no miss is excused."""

COLUMNS = ("file", "mutation", "mutated_line", "arch", "flags", "verdict", "ptxas_lines", "message")
_CATEGORIES = ("PTX1", "PTX7", "PTX2", "PTX4")
# A line of "<macro util>" is one of ptxas' own, and not of the file.
_ERROR = re.compile(
    r"^ptxas (?:<[^>]*>, line \d+; |[^<].*?, line (\d+); )?(?:error|fatal)\s*:\s*(.*)$", re.M
)
_TRIES = 30


@dataclass(frozen=True)
class Mutant:
    """A file broken at a line, counted from 1."""

    number: int
    source: File
    operator: str
    line: int
    text: str

    @property
    def name(self) -> str:
        """The file that it is written to."""
        return f"{self.operator}_{self.number:04}.ptx"


@dataclass(frozen=True)
class Judged:
    """A mutant, ptxas' verdict, and the errors of ptxlint by code and line."""

    mutant: Mutant
    arch: str
    flags: tuple[str, ...]
    accepted: bool
    lines: tuple[int, ...]
    message: str
    ours: tuple[tuple[str, int], ...]

    @property
    def on_line(self) -> bool:
        """Whether one of ours is at a line that ptxas names."""
        return any(line in self.lines for _, line in self.ours)

    @property
    def false(self) -> bool:
        """Whether we reject what ptxas accepts."""
        return self.accepted and any(code.startswith(("PTX1", "PTX7")) for code, _ in self.ours)

    def row(self) -> tuple[object, ...]:
        """The row in labels.tsv."""
        return (
            self.mutant.name,
            self.mutant.operator,
            self.mutant.line,
            self.arch,
            " ".join(self.flags),
            "accept" if self.accepted else "reject",
            ",".join(map(str, self.lines)),
            self.message,
        )


def mutants(found: Sequence[File], count: int, seed: int) -> Iterator[Mutant]:
    """``count`` mutants, or fewer where operators find no place; the same for the same seed.

    Each has its own random numbers, so that none depends on how many came before.
    """

    @cache
    def text(file: File) -> Text:
        return Text(file.text())

    operators = list(OPERATORS)
    for number in range(count if found else 0):
        random = Random(f"{seed} {number}")
        operator = operators[number % len(operators)]
        for _ in range(_TRIES):
            source = random.choice(found)
            made = mutated(text(source), operator, random)
            if made is not None:
                yield Mutant(number, source, operator, *made)
                break


class Judge:
    """Asks ptxas and ptxlint, with texts in a folder."""

    def __init__(self, tool: str, folder: Path) -> None:
        self.tool = tool
        self.folder = folder
        codes = [entry.code for entry in entries()]
        chosen = (c for c in _CATEGORIES if any(code.startswith(c) for code in codes))
        self.select = ",".join(chosen)

    def usable(self, found: Sequence[File]) -> dict[File, tuple[str, tuple[str, ...]]]:
        """The files that ptxas accepts, each with its architecture and flags."""
        jobs: dict[File, tuple[str, tuple[str, ...]]] = {}
        for file in progress(found):
            arch = file.arch or arch_of(file.text())
            for flags in (("-O0",), ("-O0", "-c")):
                if assemble(self.tool, file.path, arch, flags).accepted:
                    jobs[file] = (arch, flags)
                    break
        return jobs

    def judge(self, mutant: Mutant, arch: str, flags: tuple[str, ...]) -> Judged:
        """Both verdicts on a mutant; its text stays in the folder."""
        path = self.folder / mutant.name
        path.write_text(mutant.text, encoding="utf-8", newline="")
        done = assemble(self.tool, path, arch, flags)
        lines, message = errors(done)
        findings = check_text(mutant.text, mutant.name, select=self.select)
        ours = tuple(
            (finding.code, finding.span.start.line)
            for finding in findings
            if finding.severity is Severity.ERROR
        )
        return Judged(mutant, arch, flags, done.accepted, lines, message, ours)


def errors(done: Assembled) -> tuple[tuple[int, ...], str]:
    """The lines of ptxas' errors, and the first message."""
    matches = [] if done.accepted else list(_ERROR.finditer(done.output))
    lines = sorted({int(match[1]) for match in matches if match[1]})
    message = matches[0][2] if matches else ""
    return tuple(lines), " ".join(message.split())


def labels(judged: Sequence[Judged], folder: Path) -> None:
    """Write labels.tsv."""
    with (folder / "labels.tsv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(
            stream, delimiter="\t", quoting=csv.QUOTE_NONE, quotechar=None, lineterminator="\n"
        )
        writer.writerow(COLUMNS)
        writer.writerows(one.row() for one in judged)


def figures(judged: Sequence[Judged]) -> dict[str, Any]:
    """The counts by operator, the misses and the false alarms."""
    groups = {
        operator: _counts([one for one in judged if one.mutant.operator == operator])
        for operator in OPERATORS
    }
    return {
        "operators": groups,
        "total": _counts(judged),
        "missed": [_place(one) for one in judged if not one.accepted and not one.ours],
        "elsewhere": [_place(one) for one in judged if one.ours and one.lines and not one.on_line],
        "false": [_place(one) for one in judged if one.false],
    }


def _counts(judged: Sequence[Judged]) -> dict[str, int]:
    rejected = [one for one in judged if not one.accepted]
    return {
        "mutants": len(judged),
        "rejected": len(rejected),
        "reported": sum(bool(one.ours) for one in rejected),
        "lined": sum(bool(one.lines) for one in rejected),
        "on line": sum(one.on_line for one in rejected),
        "false": sum(one.false for one in judged),
    }


def _place(one: Judged) -> dict[str, Any]:
    mutant = one.mutant
    return {
        "file": mutant.name,
        "operator": mutant.operator,
        "source": f"{mutant.source.name}:{mutant.line}",
        "text": " ".join(mutant.text.split("\n")[mutant.line - 1].split()),
        "ptxas": [list(one.lines), one.message],
        "ours": [f"{code} at {line}" for code, line in one.ours],
    }


def tables(result: dict[str, Any]) -> str:
    """The figures for people: the table, false alarms, and misses of the syntax operators."""
    rows = []
    for name, row in [*result["operators"].items(), ("total", result["total"])]:
        reported = percent(row["reported"], row["rejected"])
        on_line = percent(row["on line"], row["lined"])
        counts = (row["mutants"], row["rejected"], row["reported"])
        rows.append((name, *counts, reported, row["on line"], on_line, row["false"]))
    head = ("operator", "mutants", "rejected", "reported", "", "on line", "", "false")
    parts = [f"ptxas {result['ptxas']}", "", table(head, rows), ""]
    for title in ("false", "missed", "elsewhere"):
        for place in result[title]:
            if title == "false" or place["operator"] in SYNTAX:
                lines, message = place["ptxas"]
                parts.append(
                    f"{title}: {place['file']} ({place['source']}): {place['text'][:100]}\n"
                    f"    ptxas {lines[:5]} {message}; ours: {', '.join(place['ours'][:4])}"
                )
    return "\n".join(parts)


def run(
    found: Sequence[File], tool: str, count: int, seed: int, out: Path | None = None
) -> dict[str, Any]:
    """All figures; texts and labels.tsv go to ``out``."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        judge = Judge(tool, folder)
        jobs = judge.usable(found)
        judged = [judge.judge(m, *jobs[m.source]) for m in mutants(list(jobs), count, seed)]
        labels(judged, folder)
    return {"ptxas": tool_version(tool), "seed": seed, **figures(judged)}


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    flags = flag_parser(__doc__)
    flags.add_argument("--count", type=int, default=380, metavar="N", help="mutants (default: 380)")
    flags.add_argument("--out", type=Path, metavar="DIR", help="keep texts and labels.tsv there")
    flags.add_argument("--ptxas", metavar="PATH")
    return flags


def main() -> None:
    """Break, judge and print."""
    flags = parser().parse_args()
    tool = needed_ptxas(parser(), flags.ptxas)
    found = chosen(files(flags.folders), flags)
    result = run(found, tool, flags.count, flags.seed, flags.out)
    report(flags, result, tables(result))


if __name__ == "__main__":
    main()
