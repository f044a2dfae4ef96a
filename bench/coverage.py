"""How much of the addresses does the pattern domain know?

For all PTX below the folders given, by top-level subfolder, of the accesses of shared and of global
memory in which each lane gives its own address (ld, st, atom, red, cp.async, ldmatrix, stmatrix;
generic ones where their space is proved):

n          accesses in the text
known      share whose address is known in every thread up to what all share
+stride    ... or up to rows of an unknown stride
interior   ... where bound checks are taken to agree in a warp (for performance rules)
data       share that no analysis can know: the index was loaded, or comes from a scan
uniform    share of those known that are the same in all threads

Then the time for all of them per MB (10^6 bytes) of PTX, parsing and SSA not counted, what the
unknown ones come from, and on how many of those known each assumption bears. Files built with -G
are left out: there everything goes through the stack.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ptxlint import parse
from ptxlint.analysis import Facts
from ptxlint.analysis.flow.ssa import values
from ptxlint.analysis.memory.accesses import accesses
from ptxlint.analysis.memory.requests import DATA, KNOWN, SPACES, STRIDE, Request, by_lane
from ptxlint.analysis.values.patterns import interior_patterns, patterns
from ptxlint.engine.options import Options
from ptxlint.ptx.ir import Address, Function

from .common import File, chosen, files, flag_parser, percent, progress, report, table

COLUMNS = ("known", "stride", "interior", "data")
_SHOWN = 8


@dataclass
class Tally:
    """The counts of one group of files."""

    counts: Counter[str] = field(default_factory=Counter)
    causes: Counter[tuple[str, str]] = field(default_factory=Counter)
    assumptions: Counter[tuple[str, str]] = field(default_factory=Counter)
    seconds: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.counts + other.counts,
            self.causes + other.causes,
            self.assumptions + other.assumptions,
            self.seconds + other.seconds,
        )


def usable(file: File, text: str) -> bool:
    """Whether a file counts: PTX that ptxas takes, not built with -G."""
    return file.verdict != "reject" and ".target" in text and ", debug" not in text[:4096]


def group_of(file: File, each: bool) -> str:
    """The name of the row that a file belongs to: its own if ``each``."""
    return file.path.name if each else file.group


def asked(function: Function, facts: Facts) -> list[Request]:
    """The accesses that count, with their patterns; what they take is not worked out."""
    known = facts.once(function, patterns)
    return [
        Request(access, known.address(access.index, access.operand), known)
        for access in facts.once(function, accesses)
        if by_lane(access) and isinstance(access.operand, Address)
    ]


def within(request: Request, function: Function, facts: Facts) -> bool:
    """Whether the address is known in a warp that is not at the border of the data."""
    operand = request.access.operand
    inner = facts.once(function, interior_patterns)
    return isinstance(operand, Address) and inner.address(request.access.index, operand) is not None


def classify(request: Request, function: Function, facts: Facts) -> tuple[str, ...]:
    """The columns that a request counts in."""
    state = request.state
    found = [name for name, yes in (
        ("known", state == KNOWN),
        ("stride", state in (KNOWN, STRIDE)),
        ("interior", within(request, function, facts)),
        ("data", state == DATA),
        ("uniform", request.is_uniform),
    ) if yes]  # fmt: skip
    return tuple(found)


def measure(text: str) -> Tally:
    """The counts of one file."""
    tally = Tally()
    module = parse(text)
    facts = Facts(module, Options())
    for kernel in module.kernels:
        facts.once(kernel, values)
        facts.once(kernel, accesses)
        start = time.process_time()
        wanted = asked(kernel, facts)
        tally.seconds += time.process_time() - start
        tally.counts["kernels"] += bool(wanted)
        for request in wanted:
            count(tally, request, kernel, facts)
    tally.counts["bytes"] = len(text)
    tally.counts["files"] = 1
    return tally


def count(tally: Tally, request: Request, kernel: Function, facts: Facts) -> None:
    """Add one request to a tally."""
    space = request.access.space
    tally.counts[space] += 1
    for column in classify(request, kernel, facts):
        tally.counts[f"{space} {column}"] += 1
    why = request.cause
    if why is not None:
        tally.causes[space, why.mnemonic or "?"] += 1
    tally.assumptions.update((space, text) for text in request.assumptions)


def figures(groups: dict[str, Tally]) -> dict[str, Any]:
    """The tallies as plain data."""
    return {
        name: {
            **tally.counts,
            "seconds per MB": tally.seconds * 1e6 / max(tally.counts["bytes"], 1),
            "causes": [[*key, count] for key, count in tally.causes.most_common()],
            "assumptions": [[*key, count] for key, count in tally.assumptions.most_common()],
        }
        for name, tally in groups.items()
    }


def shares(counts: Counter[str], space: str) -> list[object]:
    """The number of accesses to a space, and the columns' shares of it."""
    whole = counts[space]
    return [whole, *[percent(counts[f"{space} {column}"], whole) for column in COLUMNS]]


def reasons(name: str, tally: Tally) -> list[str]:
    """Lines on what is not known, and on what the rest rests."""
    lines = []
    for space in SPACES:
        top = [(why, n) for (s, why), n in tally.causes.most_common() if s == space][:_SHOWN]
        if top:
            lines.append(f"{name}, {space}: " + ", ".join(f"{why} {n}" for why, n in top))
        rests = [(text, n) for (s, text), n in tally.assumptions.most_common() if s == space]
        if rests:
            words = "; ".join(f"{text} {n}" for text, n in rests)
            lines.append(f"{name}, {space}, known if: {words}")
    return lines


def tables(groups: dict[str, Tally]) -> str:
    """The figures for people."""
    head = ["folder", "files", "MB", "s/MB"]
    for space in SPACES:
        head += [space, "known", "+stride", "interior", "data", "uniform"]
    rows: list[list[object]] = []
    lines: list[str] = []
    for name, tally in groups.items():
        counts = tally.counts
        row: list[object] = [name, counts["files"], counts["bytes"] / 1e6]
        row.append(tally.seconds * 1e6 / max(counts["bytes"], 1))
        for space in SPACES:
            row += shares(counts, space)
            row.append(percent(counts[f"{space} uniform"], counts[f"{space} stride"]))
        rows.append(row)
        lines += reasons(name, tally)
    return "\n".join([table(head, rows), "", *lines])


def with_total(groups: dict[str, Tally]) -> dict[str, Tally]:
    """Sorted, and with their sum where there are several."""
    found = dict(sorted(groups.items()))
    if len(found) > 1:
        found["total"] = sum(found.values(), Tally())
    return found


def main() -> None:
    """Measure and print."""
    parser = flag_parser(__doc__)
    parser.add_argument("--each", action="store_true", help="a row for each file")
    flags = parser.parse_args()
    groups: dict[str, Tally] = {}
    for file in progress(chosen(files(flags.folders), flags)):
        text = file.text()
        if usable(file, text):
            name = group_of(file, flags.each)
            groups[name] = groups.get(name, Tally()) + measure(text)
    found = with_total(groups)
    report(flags, figures(found), tables(found))


if __name__ == "__main__":
    main()
