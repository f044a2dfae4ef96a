"""Does ptxlint read what ptxas accepts, and refuse what ptxas refuses?

Reads all PTX below the folders given. A folder may hold a labels.tsv with the columns file, arch,
verdict (accept, reject) and flags, and ptxas_lines, the lines named in its errors; for a file
without a label ptxas is asked, where there is one. By top-level subfolder:

files, MB, statements   what was read (MB are 10^6 bytes)
accepted, full          files that ptxas accepts, and those of them that parse without a gap
rejected, syntax        files that ptxas rejects, and those with a syntax or name problem
error                   ... with any finding at error, those included
on line, of             ... with one on a line that ptxas names, of those where it names one
at error                findings at error in accepted files: each must be a true fault that ptxas
                        doesn't look for (it assembles a misaligned access)
crashes                 files on which the parser or a rule raised

Then those findings by code with the first three places, files that are not full, and crashes.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ptxlint import check_text, parse
from ptxlint.ptx.ir import Block, Function, Module, Section

from .common import (
    File,
    arch_of,
    assemble,
    chosen,
    files,
    flag_parser,
    percent,
    progress,
    ptxas,
    report,
    table,
)

INTERNAL = "PTX999"
KEPT = 3


@dataclass
class Tally:
    """The counts of one group of files."""

    counts: Counter[str] = field(default_factory=Counter)
    parse_seconds: float = 0.0
    check_seconds: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.counts + other.counts,
            self.parse_seconds + other.parse_seconds,
            self.check_seconds + other.check_seconds,
        )


@dataclass
class Reading:
    """All that comes out: tallies by group, and what is to be listed."""

    groups: dict[str, Tally] = field(default_factory=dict)
    codes: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)

    def at_error(self, code: str, place: str) -> None:
        """Count a finding at error in a file that ptxas accepts."""
        self.codes[code] += 1
        places = self.places.setdefault(code, [])
        # Three files say more than three lines of one.
        if len(places) < KEPT and not any(p.split(":")[0] == place.split(":")[0] for p in places):
            places.append(place)


def statements(module: Module) -> int:
    """How many statements a module holds, those in functions, blocks and sections included."""
    count = 0
    stack: list[Any] = [module.items]
    while stack:
        for item in stack.pop():
            count += 1
            if isinstance(item, Function):
                if item.body is not None:
                    stack.append(item.body.statements)
            elif isinstance(item, Block):
                stack.append(item.statements)
            elif isinstance(item, Section):
                count += len(item.items)
    return count


def read(found: list[File], tool: str | None = None) -> Reading:
    """Read the files; ``tool`` is the ptxas that is asked where there is no label."""
    reading = Reading()
    for file in progress(found):
        tally = reading.groups.setdefault(file.group, Tally())
        _one(reading, tally, file, tool)
        gc.collect()
    return reading


def _one(reading: Reading, tally: Tally, file: File, tool: str | None) -> None:
    count = tally.counts
    text = file.text()
    verdict, lines = _verdict(file, text, tool)
    count.update(files=1, bytes=file.size, **{verdict: 1})
    start = time.process_time()
    try:
        module = parse(text, file.name)
    except Exception as error:
        count["crashes"] += 1
        reading.crashes.append(f"{file.name}: parse: {type(error).__name__}: {error}")
        return
    tally.parse_seconds += time.process_time() - start
    count["statements"] += statements(module)
    full = module.parsed == "full"
    problems = [problem.start for problem in module.syntax_problems]
    problems += [problem.start for problem in module.name_problems]
    problem_lines = {module.source.line_of(start) for start in problems}
    del module
    start = time.process_time()
    found = check_text(text, file.name)
    tally.check_seconds += time.process_time() - start
    errors = [finding for finding in found if finding.severity.value == "error"]
    raised = [finding.message for finding in errors if finding.code == INTERNAL]
    if raised:
        count["crashes"] += 1
        reading.crashes += [f"{file.name}: {message}" for message in raised[:KEPT]]
    errors = [finding for finding in errors if finding.code != INTERNAL]
    if verdict == "accept":
        count["full"] += full
        if not full or problems:
            first = f":{min(problem_lines)}" if problem_lines else ""
            reading.gaps.append(f"{file.name}{first}")
        count["at error"] += len(errors)
        for finding in errors:
            place = f"{file.name}:{finding.span.start.line}: {finding.message}"
            reading.at_error(finding.code, place)
    elif verdict == "reject":
        _rejected(reading, count, file, lines, problem_lines, {f.span.start.line for f in errors})


def _rejected(
    reading: Reading,
    count: Counter[str],
    file: File,
    lines: frozenset[int] | None,
    problem_lines: set[int],
    error_lines: set[int],
) -> None:
    said = problem_lines | error_lines
    count["syntax"] += bool(problem_lines)
    count["error"] += bool(said)
    if not said:
        reading.silent.append(file.name)
    if lines:
        count["lined"] += 1
        count["on line"] += bool(lines & said)
        if said and not lines & said:
            ours, theirs = sorted(said)[:KEPT], sorted(lines)[:KEPT]
            reading.elsewhere.append(f"{file.name}: ptxlint {ours}, ptxas {theirs}")


def _verdict(file: File, text: str, tool: str | None) -> tuple[str, frozenset[int] | None]:
    if file.verdict is not None:
        return file.verdict, file.lines
    if tool is None:
        return "unknown", None
    try:
        made = assemble(tool, file.path, arch_of(text))
    except subprocess.TimeoutExpired:
        return "unknown", None
    return ("accept", None) if made.accepted else ("reject", made.lines)


def figures(reading: Reading) -> dict[str, Any]:
    """The reading as plain data."""
    groups = {name: _row(tally) for name, tally in sorted(reading.groups.items())}
    return {
        "groups": groups,
        "total": _row(sum(reading.groups.values(), Tally())),
        "at error": {
            code: {"count": count, "places": reading.places[code]}
            for code, count in sorted(reading.codes.items())
        },
        "accepted, with a gap or problem": reading.gaps,
        "rejected, nothing said": reading.silent,
        "rejected, said elsewhere": reading.elsewhere,
        "crashes": reading.crashes,
    }


def _row(tally: Tally) -> dict[str, Any]:
    keys = ("files", "bytes", "statements", "accept", "full", "reject", "unknown", "syntax")
    more = ("error", "on line", "lined", "at error", "crashes")
    counts = {key: tally.counts[key] for key in (*keys, *more)}
    return counts | {
        "parse seconds": tally.parse_seconds,
        "check seconds": tally.check_seconds,
    }


def tables(result: dict[str, Any], listed: int) -> str:
    """The figures for people; of each list at most ``listed``."""
    head = ("folder", "files", "MB", "statements", "accepted", "full", "rejected", "syntax")
    more = ("error", "on line", "of", "at error", "crashes", "parse MB/s")
    rows = []
    for name, row in [*result["groups"].items(), ("total", result["total"])]:
        cells: list[object] = [name, row["files"], row["bytes"] / 1e6, row["statements"]]
        cells += [row[key] for key in ("accept", "full", "reject", "syntax", "error", "on line")]
        cells += [row[key] for key in ("lined", "at error", "crashes")]
        rows.append([*cells, row["bytes"] / 1e6 / max(row["parse seconds"], 1e-9)])
    total = result["total"]
    shares = [
        f"accepted and full {percent(total['full'], total['accept'])}",
        f"rejected and reported {percent(total['error'], total['reject'])}",
        f"on ptxas' line {percent(total['on line'], total['lined'])}",
    ]
    if total["unknown"]:
        shares.append(f"{total['unknown']} files of unknown verdict")
    parts = [table((*head, *more), rows), "; ".join(shares)]
    parts += [
        f"{code}: {entry['count']} at error in accepted files\n"
        + "\n".join(f"  {place}" for place in entry["places"])
        for code, entry in result["at error"].items()
    ]
    lists = [key for key, value in result.items() if isinstance(value, list) and value]
    for key in lists:
        names = result[key]
        rest = f"\n  … {len(names) - listed} more" if len(names) > listed else ""
        parts.append(f"{key}: {len(names)}\n" + "\n".join(f"  {n}" for n in names[:listed]) + rest)
    return "\n\n".join(parts)


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    flags = flag_parser(__doc__)
    flags.add_argument("--ptxas", metavar="PATH")
    flags.add_argument("--listed", type=int, default=20, help="of each list (default: 20)")
    return flags


def main() -> None:
    """Read and print."""
    flags = parser().parse_args()
    found = chosen(files(flags.folders), flags)
    result = figures(read(found, ptxas(flags.ptxas)))
    report(flags, result, tables(result, flags.listed))


if __name__ == "__main__":
    main()
