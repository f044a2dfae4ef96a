"""Predicted against counted: wavefronts and sectors of the accesses of whole kernels.

    python bench/gpu/compare.py tests/analysis/memory/kernels_sm90.json [--jobs build/gpu]

Each SASS access that ran is joined to the PTX accesses at its line. ``equal`` and ``unequal`` say
whether the model gives what was counted; the others could not be compared: ``changed`` (the
assembler made accesses of another width), ``lanes`` (others took part than was taken, or a
different number of times), ``unknown`` (the address is not known, or only up to a stride),
``none`` (no PTX access at the line, or several). Without ``--jobs``, only kernels whose PTX is in
the repository are read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.gpu.kernels import without_lines
from bench.gpu.shapes import kernels
from ptxlint import parse
from ptxlint.analysis import Facts
from ptxlint.analysis.memory.banks import Wavefronts
from ptxlint.analysis.memory.requests import KNOWN, Request, by_warp, matrices, requests
from ptxlint.analysis.values.patterns import Patterns, patterns
from ptxlint.engine.options import Options

ROOT = Path(__file__).parents[2]


class Compared(NamedTuple):
    """One SASS access: what was predicted of all warps, and counted."""

    source: str
    kernel: str
    line: int
    sass: str
    verdict: str
    predicted: int | None = None
    counted: int | None = None


def text_of(kernel: dict[str, Any], jobs: Path | None) -> str | None:
    """The PTX that a kernel of the record was made from, without line information."""
    source = str(kernel["source"])
    if source.startswith("shapes/"):
        return next((k.ptx for k in kernels() if k.name == source.partition("/")[2]), None)
    path = ROOT / source
    if path.exists():
        return without_lines(path.read_text(encoding="utf-8"))
    return None if jobs is None else (jobs / f"{kernel['number']}.ptx").read_text(encoding="utf-8")


def compare(kernel: dict[str, Any], text: str) -> Iterator[Compared]:
    """Every access of one kernel of the record."""
    module = parse(text)
    function = next(f for f in module.kernels if f.name == kernel["kernel"])
    facts = Facts(module, Options(block=tuple(kernel["block"])))
    known = facts.once(function, patterns)
    at: dict[int, list[Request]] = {}
    for request in facts.once(function, requests):
        line = module.source.line_of(request.access.instruction.start)
        at.setdefault(line, []).append(request)
    for line, sass, bits, warps, lanes, *counted in kernel["accesses"]:
        found = [r for r in at.get(line, []) if _fits(r, sass)]
        head = (kernel["source"], kernel["kernel"], line, sass)
        if len(found) != 1:
            yield Compared(*head, "none")
            continue
        yield _judge(head, found[0], known, (bits, warps, lanes, counted))


def _fits(request: Request, sass: str) -> bool:
    """Whether the access is of the space that the SASS instruction reads or writes."""
    shared = sass.startswith(("LDS", "STS", "ATOMS", "LDSM", "STSM", "RED.S"))
    return "LDGSTS" not in sass and (request.access.space == "shared") == shared


def _judge(
    head: tuple[str, str, int, str], request: Request, known: Patterns, row: tuple[Any, ...]
) -> Compared:
    bits, warps, lanes, (wavefronts, sectors) = row
    if request.state != KNOWN:
        return Compared(*head, "unknown")
    if not matrices(request.access) and bits != 8 * (request.size or 0):
        return Compared(*head, "changed")
    found = by_warp(request, known)
    each = sum(len(taking) for _, taking, _ in found)
    turns = warps // max(1, len(found))
    if not found or turns * len(found) != warps or each * turns != lanes:
        return Compared(*head, "lanes")
    predicted = turns * sum(f.total if isinstance(f, Wavefronts) else f.low for *_, f in found)
    counted = wavefronts if request.access.space == "shared" else sectors
    verdict = "equal" if predicted == counted else "unequal"
    return Compared(*head, verdict, predicted, counted)


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("record", type=Path)
    parser.add_argument("--jobs", type=Path)
    flags = parser.parse_args()
    counts: dict[str, Counter[str]] = {}
    measured: dict[str, set[tuple[str, str]]] = {}
    for kernel in json.loads(flags.record.read_text(encoding="utf-8"))["kernels"]:
        text = text_of(kernel, flags.jobs)
        if text is None:
            continue
        group = str(kernel["source"]).partition("/")[0] if "/" in kernel["source"] else "others"
        for each in compare(kernel, text):
            counts.setdefault(group, Counter())[each.verdict] += 1
            if each.verdict in ("equal", "unequal"):
                measured.setdefault(group, set()).add((each.source, each.kernel))
            if each.verdict == "unequal":
                print(*each)
    for group, count in counts.items():
        print(group, len(measured.get(group, ())), "kernels", dict(count))


if __name__ == "__main__":
    main()
