"""How well the registers that ptxas gives a kernel are estimated from its PTX alone.

``python -m bench.registers DIR…``: each folder is a project. ptxas assembles its files, and kernels
of 24 registers and more are compared: with a fit of plain liveness, and with the model
(``analysis/register_estimate``), each fitted on the other projects and tested on the one left out.
``--write`` fits on all and writes the model's constants.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Sequence
from math import exp, log
from pathlib import Path
from typing import NamedTuple

from ptxlint import parse
from ptxlint.analysis import Facts
from ptxlint.analysis.pressure import Pressure, pressure
from ptxlint.analysis.register_estimate import FEWEST, features, most_registers
from ptxlint.engine.options import Options

from .common import chosen, files, flag_parser, ptxas, report, table

MODEL = Path(__file__).parents[1] / "ptxlint" / "isa" / "data" / "register_estimate.json"
LEAST = 24  # registers: smaller kernels are ptxas' floor, and limit nothing
_SHARE = 0.9  # of kernels that the interval is to hold
_TAIL = 0.045  # of residuals that each end leaves out when fitting: projects differ from each other
_ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\w+)'")
_USED = re.compile(r"Used (\d+) registers")
Vector = tuple[float, ...]


class Row(NamedTuple):
    """One kernel: what ptxas gave it, what bounds it, and the model's figures."""

    project: str
    name: str
    registers: int
    most: int
    pressure: Pressure


def measured(folder: Path, flags: Namespace) -> list[Row]:
    """The kernels of a project, those that are the same in all figures once."""
    found: dict[tuple[object, ...], Row] = {}
    for file in chosen(files([folder]), flags):
        given = _assembled(file.path)
        module = parse(file.path.read_text(encoding="utf-8", errors="replace"), file.name)
        facts = Facts(module, Options())
        count = 0
        for kernel in module.kernels:
            if kernel.name not in given or len(kernel.instructions) > flags.longest:
                continue
            if count >= flags.per_file:
                break
            count += 1
            row = Row(
                folder.name,
                f"{file.name}: {kernel.name}",
                given[kernel.name],
                most_registers(kernel, facts),
                facts.once(kernel, pressure),
            )
            found.setdefault((row.registers, row.most, row.pressure.every, row.pressure[0]), row)
    return list(found.values())


def _assembled(path: Path) -> dict[str, int]:
    """Registers by kernel."""
    text = path.read_text(encoding="utf-8", errors="replace")
    target = re.search(r"^\.target\s+(\w+)", text, re.MULTILINE)
    tool = ptxas()
    if target is None or tool is None:
        return {}
    arch = target[1] if int(re.sub(r"\D", "", target[1])) >= 75 else "sm_80"
    command = [tool, "-v", f"-arch={arch}", "-o", "/dev/null", str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    found, name = {}, ""
    for line in run.stderr.splitlines():
        if (entry := _ENTRY.search(line)) is not None:
            name = entry[1]
        elif (used := _USED.search(line)) is not None and name:
            found[name] = int(used[1])
            name = ""
    return found if run.returncode == 0 else {}


def fitted(rows: Sequence[Row], of: Callable[[Row], Vector]) -> list[float]:
    """Constants of the least absolute errors of the logarithm, projects counting by the root of
    their size; by reweighted least squares.
    """
    sizes = Counter(row.project for row in rows)
    base = [sizes[row.project] ** -0.5 for row in rows]
    xs, ys = [of(row) for row in rows], [log(row.registers) for row in rows]
    constants = _least_squares(xs, ys, base)
    for _ in range(12):
        errors = [abs(y - _dot(constants, x)) for x, y in zip(xs, ys, strict=True)]
        weights = [w / max(e, 0.05) for w, e in zip(base, errors, strict=True)]
        constants = _least_squares(xs, ys, weights)
    return constants


def _dot(a: Sequence[float], b: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def _least_squares(xs: list[Vector], ys: list[float], weights: list[float]) -> list[float]:
    """Ridge regression, its normal equations solved by elimination."""
    size = len(xs[0])
    matrix = [[0.05 * (i == j) for j in range(size)] + [0.0] for i in range(size)]
    for x, y, weight in zip(xs, ys, weights, strict=True):
        for i in range(size):
            for j in range(size):
                matrix[i][j] += weight * x[i] * x[j]
            matrix[i][size] += weight * x[i] * y
    for i in range(size):
        pivot = max(range(i, size), key=lambda k: abs(matrix[k][i]))
        matrix[i], matrix[pivot] = matrix[pivot], matrix[i]
        for k in range(size):
            if k != i:
                factor = matrix[k][i] / matrix[i][i]
                matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i], strict=True)]
    return [matrix[i][size] / matrix[i][i] for i in range(size)]


def _model(row: Row) -> Vector:
    return features(row.pressure)


def _liveness(row: Row) -> Vector:
    return (1.0, log(row.pressure.every + 8))


def _guess(row: Row, constants: list[float], of: Callable[[Row], Vector]) -> float:
    return min(max(exp(_dot(constants, of(row))), FEWEST), row.most)


def _interval(rows: Sequence[Row]) -> tuple[float, float]:
    """Factors to the estimate: of the residuals of each project by a fit on the others."""
    residuals: list[float] = []
    for project in {row.project for row in rows}:
        constants = fitted([row for row in rows if row.project != project], _model)
        residuals += [
            row.registers / _guess(row, constants, _model)
            for row in rows
            if row.project == project and row.registers >= LEAST
        ]
    residuals.sort()
    cut = int(len(residuals) * _TAIL)
    return residuals[cut], residuals[-1 - cut]


class Tested(NamedTuple):
    """Relative errors of the kernels of a project left out, with both fits; of the interval,
    whether it held the truth and its half width.
    """

    plain: list[float]
    model: list[float]
    held: list[bool]
    widths: list[float]
    worst: list[tuple[float, int, Row]]


def test(rows: Sequence[Row], project: str) -> Tested:
    """Fit on the other projects, try on this one."""
    others = [row for row in rows if row.project != project]
    plain, model = fitted(others, _liveness), fitted(others, _model)
    low, high = _interval(others)
    found = Tested([], [], [], [], [])
    for row in rows:
        if row.project != project or row.registers < LEAST:
            continue
        guess = _guess(row, model, _model)
        found.plain.append(abs(_guess(row, plain, _liveness) / row.registers - 1))
        found.model.append(abs(guess / row.registers - 1))
        ends = [min(max(round(guess * factor), FEWEST), row.most) for factor in (low, high)]
        found.held.append(ends[0] <= row.registers <= ends[1])
        found.widths.append((ends[1] - ends[0]) / 2 / guess)
        found.worst.append((guess / row.registers - 1, round(guess), row))
    return found


def at(values: Sequence[float], share: float) -> float:
    """The value that a share of all is below."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0.0


def _lines(tests: dict[str, Tested]) -> list[list[str]]:
    rows = []
    for name, found in tests.items():
        figures = [at(found.plain, 0.5), at(found.plain, 0.9), at(found.model, 0.5)]
        figures += [at(found.model, 0.9), sum(found.held) / max(1, len(found.held))]
        figures.append(at(found.widths, 0.5))
        rows.append([name, str(len(found.model)), *[f"{100 * f:.1f} %" for f in figures]])
    return rows


def main() -> None:
    """The command line."""
    parser = flag_parser(__doc__)
    parser.add_argument("--per-file", type=int, default=14, help="kernels of a file (default: 14)")
    parser.add_argument("--longest", type=int, default=9000, help="instructions of a kernel")
    parser.add_argument(
        "--rows", metavar="FILE", help="keep what was measured, or take it from there"
    )
    parser.add_argument("--write", action="store_true", help="fit on all and write the constants")
    flags = parser.parse_args()
    if ptxas() is None:
        sys.exit("no ptxas: $PTXAS, $CUDA_HOME or PATH")
    rows = _kept(flags)
    projects = sorted({row.project for row in rows})
    tests = {project: test(rows, project) for project in projects}
    pooled = Tested(*[[x for t in tests.values() for x in t[i]] for i in range(5)])  # type: ignore[arg-type]
    head = ("project", "kernels", "liveness, median", "p90", "model, median", "p90", "in interval",
            "half width")  # fmt: skip
    text = table(head, _lines({**tests, "all": pooled}))
    worst = sorted(pooled.worst, key=lambda each: -abs(each[0]))[:10]
    text += "\n\nworst:\n" + "\n".join(
        f"{100 * error:+.0f} %: {guess} for {row.registers}, {row.name} {row.pressure[0]} live,"
        f" {row.pressure.lazy} late, {row.pressure.edge} at an edge, {row.pressure.loads} loaded"
        for error, guess, row in worst
    )
    if flags.write:
        _write(rows, pooled, projects)
    known = {"projects": {name: _lines({name: t})[0] for name, t in tests.items()}}
    report(flags, known, text)


def _kept(flags: Namespace) -> list[Row]:
    """The kernels, from ``--rows`` where they were measured before."""
    if flags.rows and Path(flags.rows).exists():
        kept = json.loads(Path(flags.rows).read_text())
        return [Row(*row[:-1], Pressure(*row[-1])) for row in kept]
    rows = [row for folder in flags.folders for row in measured(Path(folder), flags)]
    if flags.rows:
        Path(flags.rows).write_text(json.dumps(rows))
    return rows


def _write(rows: list[Row], pooled: Tested, projects: list[str]) -> None:
    low, high = _interval(rows)
    fit = [row for row in rows if row.registers >= LEAST - 4]
    counts = Counter(row.project for row in fit)
    said = ", ".join(f"{name} {counts[name]}" for name in projects)
    model = {
        "source": f"bench/registers.py, ptxas 13.5, kernels of {said}. Projects left out in turn:"
        f" median error {100 * at(pooled.model, 0.5):.1f} %, 90th percentile"
        f" {100 * at(pooled.model, 0.9):.1f} %, {100 * sum(pooled.held) / len(pooled.held):.0f} %"
        f" in the interval, half of its width {100 * at(pooled.widths, 0.5):.0f} %",
        "features": "1, and log(x + 8) of a Pressure's peak, lazy, edge, loads (to 96), every",
        "constants": [round(c, 5) for c in fitted(fit, _model)],
        "low": round(low, 3),
        "high": round(high, 3),
    }
    MODEL.write_text(json.dumps(model, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
