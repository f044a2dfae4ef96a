"""Are the addresses that the pattern domain knows those that lanes use?

Kernels of all PTX below the folders given run in the interpreter (ptxlint/execute), several
launches each: numbers that put bounds inside a warp, blocks other than the first, whole and partial
warps, one row of threads and several where the kernel reads %tid.y. At each executed request of
shared or global memory the 32 addresses are held against the pattern. By source and space:

n          accesses in the text of the kernels that ran
known      share whose address is known in every thread up to what all share
+stride    ... or up to rows of an unknown stride
interior   ... where bound checks are taken to agree in a warp (counted; not held against a run)
data       share that no analysis can know: the index was loaded, or comes from a scan
unknown    the rest
executed   of those known or with strides, the share that ran in a launch that meets what the
           pattern assumes of the block
requests   executions that were compared
right      accesses whose lanes differed as said at every request
alone      ... of which never more than one lane took part: nothing to compare
wrapped    accesses whose lanes differed otherwise where the pattern assumes something that a launch
           does not tell (index arithmetic that wraps around)
WRONG      accesses whose lanes differed otherwise: one is a bug

A file contributes at most ``--per-file`` kernels (those of the same opcodes once), a source
``--limit``. A kernel has ``--seconds`` of processor time, a launch ``--max-steps``; what is not
finished counts as far as it got. Files built with -G are left out.
"""

from __future__ import annotations

import random
import sys
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ptxlint import parse
from ptxlint.analysis import Facts
from ptxlint.analysis.memory.requests import SPACES, Request
from ptxlint.analysis.values.pattern import Pattern
from ptxlint.analysis.values.threads import ThreadSpace, thread_space
from ptxlint.engine.options import Options
from ptxlint.execute import Result, run
from ptxlint.ptx.ir import Address, Function, Module
from tests.oracle.claims.base import Contradiction, Moment, Subject, Tally, lanes
from tests.oracle.claims.patterns import InBlock
from tests.oracle.launches import Plan, launch, plans, pointers
from tests.oracle.study import OutOfTime, Report, Watch

from .common import chosen, files, flag_parser, percent, report, table
from .coverage import asked, classify, group_of, shares, usable
from .oracle import kernels

RIGHT, ALONE, WRAPPED, WRONG = "right", "alone", "wrapped", "WRONG"
_RANK = (ALONE, RIGHT, WRAPPED, WRONG)
Place = tuple[int, int]  # (instruction, which of its addresses)
_TRIED = 60
"""Plans that are looked through for those that suit a kernel."""


class Addresses(InBlock):
    """The addresses of a kernel's requests, at every execution. ``verdicts`` says of each place
    what has been seen so far, ``requests`` how often.
    """

    kind = "addresses"

    def __init__(self, subject: Subject, tally: Tally, wanted: dict[Place, Pattern]) -> None:
        super().__init__(subject, tally)
        self.wanted = wanted
        self.verdicts: dict[Place, str] = {}
        self.requests = 0

    def before(self, moment: Moment) -> None:
        """Nothing: operands are looked at as addresses, after the step."""

    def after(self, moment: Moment) -> None:
        """Compare the addresses of a step."""
        if moment.function is not self.subject.kernel:
            return
        step = moment.step
        both = ((step.addresses, step.space), (step.source_addresses, step.source_space))
        for slot, (given, space) in enumerate(both):
            pattern = self.wanted.get((moment.pc, slot))
            if pattern is None or given is None or not space or self.met(pattern.assumed) is False:
                continue
            actual = {n: a for n in lanes(moment.active) if (a := given[n]) is not None}
            if actual:
                self.requests += 1
                self._judge(moment, slot, pattern, actual)

    def _judge(self, moment: Moment, slot: int, pattern: Pattern, actual: dict[int, int]) -> None:
        before = self.tally.wrong, self.tally.assumed
        self._compare(moment, pattern, actual, f"address {slot}", False)
        verdict = RIGHT if len(actual) > 1 else ALONE
        if self.tally.assumed > before[1]:
            verdict = WRAPPED
        if self.tally.wrong > before[0]:
            verdict = WRONG
        place = moment.pc, slot
        worst = max(verdict, self.verdicts.get(place, ALONE), key=_RANK.index)
        self.verdicts[place] = worst

    def _across(self, *_: object) -> str | None:
        """How far the shared part is shared is the oracle's to check."""
        return None


@dataclass
class Source:
    """The counts of the kernels of one source."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[Contradiction] = field(default_factory=list)
    wrapped: list[Contradiction] = field(default_factory=list)
    ended: Counter[str] = field(default_factory=Counter)
    crashes: list[str] = field(default_factory=list)

    def __add__(self, other: Source) -> Source:
        return Source(
            self.counts + other.counts,
            self.wrong + other.wrong,
            self.wrapped + other.wrapped,
            self.ended + other.ended,
            self.crashes + other.crashes,
        )


# --- one kernel ----------------------------------------------------------------------------------


def suited(kernel: Function, space: ThreadSpace, count: int) -> list[Plan]:
    """Launches that meet what is assumed of the block, in the schedule that patterns speak of."""
    found = []
    for plan in plans(kernel, _TRIED):
        x, y, z = plan.block
        fits = space.shape.block is not None or (y == z == 1 if space.whole else x % 32 == 0)
        if fits and plan.schedule == "reconverge":
            found.append(plan)
    return found[:count]


def places(found: list[Request]) -> dict[Place, Request]:
    """The requests by instruction and place in it: a copy has two."""
    placed: dict[Place, Request] = {}
    for request in found:
        access = request.access
        addresses = [o for o in access.instruction.operands if isinstance(o, Address)]
        slot = next(i for i, operand in enumerate(addresses) if operand is access.operand)
        placed[access.index, slot] = request
    return placed


def examine(module: Module, kernel: Function, flags: Namespace) -> Source:
    """All launches of one kernel, and what they showed."""
    facts = Facts(module, Options())
    placed = places(asked(kernel, facts))
    wanted = {p: request.pattern for p, request in placed.items() if request.pattern is not None}
    source = Source()
    verdicts: dict[Place, str] = {}
    until = time.process_time() + flags.seconds
    for plan in suited(kernel, facts.once(kernel, thread_space), flags.launches):
        for tame in (False, True):
            subject = Subject(
                module, kernel, facts, str(plan), plan.block, plan.schedule, pointers(kernel)
            )
            claim = Addresses(subject, Tally(), wanted)
            result = _run(claim, replace(plan, tame=tame), flags.max_steps, until)
            _collect(source, claim, verdicts)
            source.ended["time" if result is None else result.status] += 1
            if result is None or result.fault is None:
                break
        if result is None:
            break
    _count(source, placed, verdicts, facts, kernel)
    return source


def _run(claim: Addresses, plan: Plan, max_steps: int, until: float) -> Result | None:
    """One launch; None where time ran out."""
    subject = claim.subject
    kernel = subject.kernel
    watch = Watch([claim], subject.facts, Report(kernel.name, len(kernel.instructions)), until)
    try:
        return run(subject.module, kernel, launch(kernel, plan, max_steps), watch)
    except OutOfTime:
        return None


def _collect(source: Source, claim: Addresses, verdicts: dict[Place, str]) -> None:
    source.counts["launches"] += 1
    source.counts["requests"] += claim.requests
    source.wrong += claim.tally.contradictions
    source.wrapped += claim.tally.examples
    for place, verdict in claim.verdicts.items():
        verdicts[place] = max(verdict, verdicts.get(place, ALONE), key=_RANK.index)


def _count(
    source: Source,
    placed: dict[Place, Request],
    verdicts: dict[Place, str],
    facts: Facts,
    kernel: Function,
) -> None:
    counts = source.counts
    counts["kernels"] = 1
    for place, request in placed.items():
        space = request.access.space
        counts[space] += 1
        for column in classify(request, kernel, facts):
            counts[f"{space} {column}"] += 1
        if place in verdicts:
            counts[f"{space} executed"] += 1
            counts[f"{space} {verdicts[place]}"] += 1


# --- all of them ---------------------------------------------------------------------------------


def study(flags: Namespace) -> dict[str, Source]:
    """The kernels of all files, by source."""
    draw = random.Random(flags.seed)
    found = chosen(files(flags.folders), flags)
    draw.shuffle(found)
    groups: dict[str, Source] = {}
    until = time.monotonic() + 60 * flags.minutes
    for file in found:
        group = groups.setdefault(group_of(file, flags.each), Source())
        left = flags.limit - group.counts["kernels"] if flags.limit else flags.per_file
        if left <= 0 or time.monotonic() > until:
            continue
        text = file.text()
        if not usable(file, text):
            continue
        module = parse(text, file.name)
        if module.parsed != "full":
            continue
        for kernel in kernels(module, min(left, flags.per_file), draw):
            groups[group_of(file, flags.each)] += _examined(module, kernel, flags)
    return {name: group for name, group in sorted(groups.items()) if group.counts["kernels"]}


def _examined(module: Module, kernel: Function, flags: Namespace) -> Source:
    start = time.process_time()
    try:
        found = examine(module, kernel, flags)
    except Exception as error:
        if flags.stop:
            raise
        name = f"{module.source.name} {kernel.name}"
        return Source(crashes=[f"{name}: {type(error).__name__}: {error}"])
    if flags.verbose:
        seconds = time.process_time() - start
        print(f"{seconds:6.1f} s {module.source.name} {kernel.name[:60]} {dict(found.ended)}",
              file=sys.stderr, flush=True)  # fmt: skip
    return found


# --- what goes out -------------------------------------------------------------------------------


def figures(groups: dict[str, Source]) -> dict[str, Any]:
    """Everything that is told, as plain values."""
    every = sum(groups.values(), Source())
    shown = {**groups, "all": every} if len(groups) > 1 else groups
    return {
        "sources": {name: {**s.counts, "ended": dict(s.ended)} for name, s in shown.items()},
        "WRONG": [str(each) for each in every.wrong],
        "wrapped": [str(each) for each in every.wrapped],
        "crashes": every.crashes,
    }


def rows(known: dict[str, Any]) -> Iterator[tuple[object, ...]]:
    """The rows of the table: one for each source and space."""
    for name, figures_ in known["sources"].items():
        counts: Counter[str] = Counter({k: v for k, v in figures_.items() if k != "ended"})
        for space in SPACES:
            n = counts[space]
            named = counts[f"{space} stride"]
            if n:
                yield (
                    name, counts["kernels"], space, *shares(counts, space),
                    percent(n - named - counts[f"{space} data"], n),
                    percent(counts[f"{space} executed"], named),
                    *[counts[f"{space} {v}"] for v in (RIGHT, ALONE, WRAPPED, WRONG)],
                )  # fmt: skip


def text(known: dict[str, Any], listed: int) -> str:
    """The table, and each contradiction."""
    head = ("source", "kernels", "space", "n", "known", "+stride", "interior", "data", "unknown",
            "executed", RIGHT, ALONE, WRAPPED, WRONG)  # fmt: skip
    parts = [table(head, list(rows(known)))]
    total = sum(s.get("requests", 0) for name, s in known["sources"].items() if name != "all")
    parts.append(f"{total} requests compared")
    parts += [
        "\n".join([f"{title} ({len(known[title])}):", *known[title][:listed]])
        for title in (WRONG, WRAPPED, "crashes")
        if known[title]
    ]
    return "\n\n".join(parts)


def main() -> None:
    """The command line."""
    parser = flag_parser(__doc__)
    parser.add_argument("--launches", type=int, default=5, help="of each kernel (default: 5)")
    parser.add_argument("--limit", type=int, default=40, metavar="N", help="kernels of a source")
    parser.add_argument("--per-file", type=int, default=3, help="kernels of a file (default: 3)")
    parser.add_argument("--seconds", type=float, default=15, help="for each kernel (default: 15)")
    parser.add_argument("--minutes", type=float, default=600, help="for all (default: 600)")
    parser.add_argument("--max-steps", type=int, default=20000, help="of a launch (default: 20000)")
    parser.add_argument("--each", action="store_true", help="a row for each file")
    parser.add_argument("--listed", type=int, default=20, help="contradictions that are printed")
    parser.add_argument("--stop", action="store_true", help="at the first crash")
    parser.add_argument("--verbose", action="store_true", help="a line for each kernel")
    flags = parser.parse_args()
    known = figures(study(flags))
    report(flags, known, text(known, flags.listed))
    if known[WRONG] or known["crashes"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
