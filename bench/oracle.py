"""Do the analyses say anything of a kernel that is not so when it runs?

Kernels below the folders given, our own of tests/oracle/kernels and ``--generated`` random ones run
in the interpreter (ptxlint/execute), each in several launches, while every claim of the analyses
about them is compared with what happens.

claims          distinct claims (of an instruction, a value, an edge) that were compared at all
checks          comparisons
contradictions  claims that an execution disproves: one is a bug
assumed         executions that disprove a claim which says what it assumes, where nobody can tell
                whether that held (index arithmetic that wraps around); of undefined values, guards
                that were undefined in a run and of which nothing is reported

Files with a finding on validity (PTX1xx) are left out. A file contributes at most ``--per-file``
kernels, those of the same opcodes once. A kernel has ``--seconds`` of processor time; what is not
finished then still counts as far as it got.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ptxlint import check_text, parse
from ptxlint.ptx.ir import Function, Module
from tests.oracle import generate
from tests.oracle.claims.base import Contradiction, Tally
from tests.oracle.study import Report, Study

from .common import ROOT, File, chosen, files, flag_parser, percent, report, table

OURS = ROOT / "tests" / "oracle" / "kernels"
LARGEST = 6000
"""Instructions of a kernel that is still looked at."""


@dataclass
class Group:
    """The reports of the kernels of one source."""

    reports: list[Report] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)

    def total(self, kind: str) -> Tally:
        """What was found out about one kind of claim."""
        whole = Tally()
        for number, each in enumerate(self.reports):
            tally = each.tallies.get(kind)
            if tally is not None:
                whole.claims |= {(number, *claim) for claim in tally.claims}
                whole.checks += tally.checks
                whole.wrong += tally.wrong
                whole.assumed += tally.assumed
                whole.contradictions += tally.contradictions
                whole.examples += tally.examples
        return whole


def kernels(module: Module, most: int, draw: random.Random) -> list[Function]:
    """Kernels of a module that differ in their opcodes, at most so many."""
    different: dict[tuple[object, ...], Function] = {}
    for kernel in module.kernels:
        if 0 < len(kernel.instructions) <= LARGEST:
            key = tuple(i.opcode for i in kernel.instructions)
            different.setdefault(key, kernel)
    found = list(different.values())
    return found if len(found) <= most else draw.sample(found, most)


def sources(flags: argparse.Namespace) -> Iterator[tuple[str, str, str]]:
    """(group, name, text) of each module."""
    for path in sorted(OURS.glob("*.ptx")) if flags.ours else ():
        yield "ours", path.name, path.read_text(encoding="utf-8")
    for start in range(0, flags.generated, 8):
        yield "generated", f"seed {start}", generate.module(start, min(8, flags.generated - start))
    found: list[File] = []
    for folder in flags.folders:
        found += [f for f in chosen(files([folder]), flags) if f.verdict != "reject"]
    for file in found:
        yield file.folder.name, file.name, file.text()


def study(flags: argparse.Namespace) -> dict[str, Group]:
    """All kernels, by source."""
    draw = random.Random(flags.seed)
    groups: dict[str, Group] = {}
    until = time.monotonic() + 60 * flags.minutes
    for name, file, text in sources(flags):
        if time.monotonic() > until:
            break
        group = groups.setdefault(name, Group())
        module = parse(text, file)
        if module.parsed != "full" or check_text(text, file, select="PTX1"):
            continue  # what the assembler refuses means nothing
        one = Study(
            module, launches=flags.launches, seconds=flags.seconds, max_steps=flags.max_steps
        )
        most = flags.per_file if name not in ("ours", "generated") else 1000
        for kernel in kernels(module, most, draw):
            started = time.process_time()
            try:
                group.reports.append(one.kernel(kernel))
            except Exception as error:
                if flags.stop:
                    raise
                group.crashes.append(f"{file} {kernel.name}: {type(error).__name__}: {error}")
            _shown(flags, file, kernel, time.process_time() - started, group)
    return groups


def _shown(
    flags: argparse.Namespace, file: str, kernel: Function, seconds: float, group: Group
) -> None:
    if not flags.verbose:
        return
    last = group.reports[-1] if group.reports else None
    what = f"{last.contradictions} {dict(last.statuses)}" if last is not None else ""
    print(f"{seconds:6.1f} s {file} {kernel.name[:50]} {what}", file=sys.stderr, flush=True)
    if last is not None and last.contradictions:
        found = [c for tally in last.tallies.values() for c in tally.contradictions]
        print("\n".join(_listed(found)[:6]), file=sys.stderr, flush=True)


# --- what goes out -------------------------------------------------------------------------------


def figures(groups: dict[str, Group]) -> dict[str, Any]:
    """Everything that is told, as plain values."""
    every = Group([r for g in groups.values() for r in g.reports])
    kinds = list(dict.fromkeys(k for r in every.reports for k in r.tallies))
    return {
        "kinds": {kind: _kind(every.total(kind)) for kind in kinds},
        "sources": {name: _source(group) for name, group in [*groups.items(), ("all", every)]},
        "crashes": [c for g in groups.values() for c in g.crashes],
        "contradictions": _listed(c for k in kinds for c in every.total(k).contradictions),
        "assumed": _listed(c for k in kinds for c in every.total(k).examples),
        "unsupported": _counted(every, "lacking"),
        "opaque": _counted(every, "arbitrary"),
    }


def _listed(found: Iterable[Contradiction]) -> list[str]:
    """One of each kind and place."""
    places: dict[tuple[object, ...], str] = {}
    for each in found:
        places.setdefault((each.kind, each.kernel, each.function, each.line), str(each))
    return list(places.values())


def _counted(group: Group, name: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for each in group.reports:
        total.update(getattr(each, name))
    return dict(total.most_common(20))


def _kind(tally: Tally) -> dict[str, int]:
    return {
        "claims": len(tally.claims),
        "checks": tally.checks,
        "contradictions": tally.wrong,
        "assumed": tally.assumed,
    }


def _source(group: Group) -> dict[str, Any]:
    reports = group.reports
    statuses: Counter[str] = Counter()
    for each in reports:
        statuses.update(each.statuses)
    return {
        "kernels": len(reports),
        "launches": sum(r.launches for r in reports),
        "instructions": sum(r.instructions for r in reports),
        "supported": sum(r.supported for r in reports),
        "opaque": sum(r.opaque for r in reports),
        "executed": sum(len(r.executed) for r in reports),
        "steps": sum(r.steps for r in reports),
        "opaque steps": sum(sum(r.arbitrary.values()) for r in reports),
        "unsupported steps": sum(sum(r.lacking.values()) for r in reports),
        "ended": dict(statuses),
    }


def text(known: dict[str, Any], listed: int) -> str:
    """The tables."""
    parts = [
        table(
            ("kind", "claims", "checks", "contradictions", "assumed"),
            [(kind, *row.values()) for kind, row in known["kinds"].items()],
        ),
        table(
            ("source", "kernels", "launches", "instructions", "supported", "opaque", "executed",
             "steps", "opaque steps", "unsupported steps", "done", "faults"),
            [_row(name, row) for name, row in known["sources"].items()],
        ),
    ]  # fmt: skip
    for title in ("contradictions", "assumed", "crashes"):
        rows = known[title]
        if rows:
            parts.append("\n".join([f"{title} ({len(rows)} written out):", *rows[:listed]]))
    for title in ("unsupported", "opaque"):
        if known[title]:
            words = ", ".join(f"{name} {n}" for name, n in known[title].items())
            parts.append(f"{title}, by steps: {words}")
    return "\n\n".join(parts)


def _row(name: str, row: dict[str, Any]) -> tuple[object, ...]:
    total, steps = row["instructions"], row["steps"]
    return (
        name,
        row["kernels"],
        row["launches"],
        total,
        percent(row["supported"], total),
        percent(row["opaque"], total),
        percent(row["executed"], total),
        steps,
        percent(row["opaque steps"], steps),
        percent(row["unsupported steps"], steps),
        row["ended"].get("done", 0),
        row["ended"].get("fault", 0),
    )


def main() -> None:
    """The command line."""
    parser = flag_parser(__doc__)
    parser.add_argument("--launches", type=int, default=6, help="of each kernel (default: 6)")
    parser.add_argument("--seconds", type=float, default=20, help="for each kernel (default: 20)")
    parser.add_argument("--minutes", type=float, default=600, help="for all (default: 600)")
    parser.add_argument("--max-steps", type=int, default=3000, help="of a launch (default: 3000)")
    parser.add_argument("--per-file", type=int, default=3, help="kernels of a file (default: 3)")
    parser.add_argument("--generated", type=int, default=80, help="random kernels (default: 80)")
    parser.add_argument("--no-ours", dest="ours", action="store_false", help="only the folders'")
    parser.add_argument("--listed", type=int, default=100, help="contradictions that are printed")
    parser.add_argument("--stop", action="store_true", help="at the first crash")
    parser.add_argument("--verbose", action="store_true", help="a line for each kernel")
    flags = parser.parse_args()
    known = figures(study(flags))
    report(flags, known, text(known, flags.listed))
    if known["contradictions"] or known["crashes"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
