"""What each analysis costs, and whether its time grows with the size of the file.

Arguments are PTX files. For each, CPU milliseconds for each MB (10^6 bytes) of every analysis in
the order in which they build on each other, all functions, with Python's collector held back after
parsing; the graph of networkx apart, on the largest function only. ``--copies`` repeats the first
file so and so many times, with all names new, and gives the exponent of growth: 1 is linear.
``--peaks N`` prints of the N largest kernels where most registers are live at once.
"""

from __future__ import annotations

import gc
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ptxlint import parse
from ptxlint.analysis import Facts
from ptxlint.analysis.dependence.ordering import ordering
from ptxlint.analysis.flow.control import control_dependence
from ptxlint.analysis.flow.dominance import dominators, post_dominators
from ptxlint.analysis.flow.graph import control_flow
from ptxlint.analysis.flow.induction import induction
from ptxlint.analysis.flow.liveness import liveness
from ptxlint.analysis.flow.loops import loops
from ptxlint.analysis.flow.registers import register_use
from ptxlint.analysis.flow.ssa import values
from ptxlint.analysis.memory.accesses import accesses
from ptxlint.analysis.values.patterns import patterns
from ptxlint.analysis.values.uniformity import uniformity
from ptxlint.engine.options import Options
from ptxlint.ptx.ir import Address, Function

from .common import child, flag_parser, report, table


def addresses(function: Function, facts: Facts) -> int:
    """The patterns of all addresses; asked for, they are worked out."""
    known = facts.once(function, patterns)
    found = 0
    for index, instruction in enumerate(function.instructions):
        for operand in instruction.operands:
            if isinstance(operand, Address):
                found += known.address(index, operand) is not None
    return found


ANALYSES: tuple[Callable[[Function, Facts], Any], ...] = (
    control_flow,
    dominators,
    post_dominators,
    register_use,
    liveness,
    loops,
    values,
    control_dependence,
    induction,
    uniformity,
    accesses,
    ordering,
    addresses,
)


def costs(path: Path) -> dict[str, float]:
    """CPU seconds of each analysis over a whole file, of parsing, and of one networkx graph."""
    text = path.read_text(encoding="utf-8", errors="replace")
    start = time.process_time()
    module = parse(text)
    found = {"MB": len(text) / 1e6, "parse": time.process_time() - start}
    gc.collect()
    gc.freeze()
    facts = Facts(module, Options())
    bodies = [function for function in module.functions if function.body is not None]
    for analysis in ANALYSES:
        start = time.process_time()
        for function in bodies:
            facts.once(function, analysis)
        found[analysis.__name__] = time.process_time() - start
    largest = max(bodies, key=lambda function: len(function.instructions))
    start = time.process_time()
    facts.dependence(largest)
    found["networkx"] = time.process_time() - start
    found["networkx instructions"] = len(largest.instructions)
    gc.unfreeze()
    return found


def growth(path: Path, copies: list[int]) -> dict[str, float]:
    """Exponents of time over size, from the smallest to the largest number of copies."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for count in copies:
            out = Path(folder, f"times{count}.ptx")
            child("repeat", str(path), str(count), str(out))
            rows.append(costs(out))
    size = math.log(rows[-1]["MB"] / rows[0]["MB"])
    return {
        name: math.log(rows[-1][name] / rows[0][name]) / size
        for name in rows[0]
        if name not in ("MB", "networkx", "networkx instructions") and rows[0][name] > 0.005
    }


def peaks(paths: list[Path], count: int) -> list[tuple[str, int, int, str]]:
    """(kernel, instructions, registers live at the peak, the instruction there)."""
    found = []
    for path in paths:
        module = parse(path.read_text(encoding="utf-8", errors="replace"))
        facts = Facts(module, Options())
        for kernel in module.kernels:
            at, live = facts.once(kernel, liveness).peak()
            line = facts.span(kernel.instructions[at]).start.line if at >= 0 else 0
            place = f"line {line} `{kernel.instructions[at].opcode}`" if at >= 0 else ""
            found.append((kernel.name, len(kernel.instructions), live.bit_count(), place))
    return sorted(found, key=lambda row: -row[1])[:count]


def main() -> None:
    parser = flag_parser(__doc__)
    parser.add_argument("--copies", metavar="N,M,…", help="repeat the first file so often")
    parser.add_argument("--peaks", type=int, default=0, metavar="N", help="peaks of N kernels")
    flags = parser.parse_args()
    paths = [Path(each) for each in flags.folders]
    if not paths:
        parser.error("which files?")
    figures: dict[str, Any] = {"costs": {str(path): costs(path) for path in paths}}
    rows = []
    for path, found in figures["costs"].items():
        for name, seconds in found.items():
            if name not in ("MB", "networkx", "networkx instructions"):
                rows.append((Path(path).name, name, f"{1e3 * seconds / found['MB']:.0f}"))
        graph = f"{found['networkx']:.2f} s for {found['networkx instructions']:.0f} instructions"
        rows.append((Path(path).name, "networkx", graph))
    text = table(("file", "analysis", "ms/MB"), rows)
    if flags.copies:
        figures["growth"] = growth(paths[0], [int(each) for each in flags.copies.split(",")])
        exponents = [(name, f"{value:.2f}") for name, value in figures["growth"].items()]
        text += "\n\n" + table(("analysis", "exponent"), exponents)
    if flags.peaks:
        figures["peaks"] = peaks(paths, flags.peaks)
        text += "\n\n" + table(("kernel", "instructions", "live", "at"), figures["peaks"])
    report(flags, figures, text)


if __name__ == "__main__":
    sys.exit(main())
