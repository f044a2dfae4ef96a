"""How fast ptxlint parses and checks, in CPU time and memory, beside ptxas in the same run.

Arguments are PTX files, the big one first; without any, PTX is made from bench/kernels with nvcc
(thrust/cub, -lineinfo, -G). Measured:

parsing   For each file in three fresh processes: the first parse (with the import of ptxlint and
          the load of the shipped shapes, and of Lark if the file has a shape that is not among
          them), and the fastest of N. MB are 10^6 bytes. Peak memory of a fresh process that
          parses the file once, less that of one that parses an empty module, by byte of input (the
          least of three runs of each; Lark alone is some 10 MB).
checking  CPU time of the whole process ``ptxlint check --no-cache -j 1`` on the first file, against
          ``ptxas -O3`` and ``-O0`` on the same, in turns; medians of the runs. One small file too.
linearity Time for each MB of the first file, once and four times over with all names new.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from .common import CORPUS, arch_of, child, cpu_seconds, flag_parser, ptxas, report, table
from .common import tool_version as version
from .made import made

SMALL = CORPUS / "faulty" / "misaligned_vector.ptx"
ROUNDS = 3
"""Processes for each file, in turns with the other files: a machine's slow spell hits all."""
ENOUGH = 5_000_000
"""Bytes that are parsed of each file, at least, in the search for the fastest run."""
EMPTY = ".version 8.0\n.target sm_80\n.address_size 64\n"


def parsing(paths: list[Path], times: int) -> list[dict[str, Any]]:
    """Time and memory of parsing each of the files."""
    with tempfile.TemporaryDirectory() as folder:
        empty = Path(folder, "empty.ptx")
        empty.write_text(EMPTY, encoding="utf-8")
        base = peak(empty)
    runs: dict[Path, list[dict[str, Any]]] = {path: [] for path in paths}
    for _ in range(ROUNDS):
        for path in paths:
            # A small file is parsed more often: the fastest of a few short runs is mostly noise.
            count = max(times, round(ENOUGH / path.stat().st_size))
            runs[path].append(child("parse", str(path), str(count)))
    rows = []
    for path in paths:
        size = runs[path][0]["bytes"]
        fastest = {key: min(run[key] for run in runs[path]) for key in ("best", "cold")}
        rows.append(
            {
                "file": path.name,
                "form": _form(path),
                "parsed": runs[path][0]["parsed"],
                "megabytes": size / 1e6,
                "best": size / 1e6 / fastest["best"],
                "cold": size / 1e6 / fastest["cold"],
                "lark": "yes" if runs[path][0]["lark"] else "no",
                "memory": (peak(path) - base) / size,
            }
        )
    return rows


def peak(path: Path) -> int:
    """Peak memory of a process that parses the file once, in bytes: the least of three."""
    return min(int(child("parse", str(path), "1")["peak"]) for _ in range(3))


def _form(path: Path) -> str:
    """What the compiler was asked for, as far as the text shows it."""
    text = path.read_text(encoding="utf-8")
    if "debug" in next((line for line in text.splitlines() if ".target" in line), ""):
        return "-G"
    return "-lineinfo" if "\t.loc\t" in text or "\t.loc " in text else "plain"


def check_command(path: Path) -> list[str]:
    """``ptxlint check`` of this checkout, as one process that does all of the work."""
    words = ["-m", "ptxlint", "check", "--no-cache", "-j", "1", "--fail-on", "never", "--isolated"]
    return [sys.executable, *words, str(path)]


def checking(path: Path, tool: str | None, times: int) -> dict[str, Any]:
    """CPU seconds of a check and of ptxas on the same file, in turns, and the ratios."""
    commands = {"check": check_command(path)}
    if tool is not None:
        arch = arch_of(path.read_text(encoding="utf-8"))
        for level in ("-O3", "-O0"):
            commands[level] = [tool, level, f"-arch={arch}", "-o", "/dev/null", str(path)]
    runs: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            runs[name].append(cpu_seconds(command))
    median = {name: statistics.median(seconds) for name, seconds in runs.items()}
    return {
        "file": path.name,
        "megabytes": path.stat().st_size / 1e6,
        "seconds": median,
        "ratios": {name: median["check"] / median[name] for name in median if name != "check"},
    }


def small(path: Path, times: int) -> dict[str, Any]:
    """CPU seconds of a check of one small file, from the start of the process to its end."""
    seconds = [cpu_seconds(check_command(path)) for _ in range(3 * times)]
    return {
        "file": path.name,
        "bytes": path.stat().st_size,
        "seconds": statistics.median(seconds),
        "fastest": min(seconds),
    }


def linearity(path: Path, times: int, copies: tuple[int, ...] = (1, 4)) -> list[dict[str, Any]]:
    """Milliseconds for each MB, for the file so and so many times over."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for count in copies:
            out = Path(folder, f"times{count}.ptx")
            child("repeat", str(path), str(count), str(out))
            runs = [child("parse", str(out), str(times)) for _ in range(ROUNDS)]
            timed = min(runs, key=lambda run: float(run["best"]))
            check = statistics.median(cpu_seconds(check_command(out)) for _ in range(3))
            megabytes = timed["bytes"] / 1e6
            rows.append(
                {
                    "copies": count,
                    "parsed": timed["parsed"],
                    "megabytes": megabytes,
                    "parse": 1e3 * timed["best"] / megabytes,
                    "check": 1e3 * check / megabytes,
                }
            )
    return rows


def measure(paths: list[Path], flags: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    tool = ptxas(flags.ptxas)
    return {
        "python": sys.version.split()[0],
        "ptxas": version(tool) if tool else None,
        "parsing": parsing(paths, flags.times),
        "checking": [checking(path, tool, flags.times) for path in paths[: flags.checked]],
        "small": small(Path(flags.small), flags.times),
        "linearity": linearity(paths[0], flags.times),
    }


def tables(figures: dict[str, Any]) -> str:
    """The figures for people."""
    parse_head = ("file", "form", "parsed", "MB", "MB/s", "cold MB/s", "Lark", "memory, B/B")
    parse_keys = ("file", "form", "parsed", "megabytes", "best", "cold", "lark", "memory")
    check_head = ("file", "MB", "check, s", "-O3, s", "-O0, s", "check / -O3", "check / -O0")
    check_rows = [
        (
            row["file"],
            row["megabytes"],
            *[row["seconds"].get(name) for name in ("check", "-O3", "-O0")],
            *[row["ratios"].get(name) for name in ("-O3", "-O0")],
        )
        for row in figures["checking"]
    ]
    line_head = ("copies", "parsed", "MB", "parse, ms/MB", "check, ms/MB")
    line_keys = ("copies", "parsed", "megabytes", "parse", "check")
    one = figures["small"]
    return "\n\n".join(
        [
            f"CPU time, Python {figures['python']}, ptxas {figures['ptxas'] or 'not found'}",
            table(parse_head, [[row[key] for key in parse_keys] for row in figures["parsing"]]),
            table(check_head, check_rows),
            f"One small file ({one['file']}, {one['bytes']} bytes): median "
            f"{one['seconds']:.3f} s, fastest {one['fastest']:.3f} s",
            table(line_head, [[row[key] for key in line_keys] for row in figures["linearity"]]),
        ]
    )


def main() -> None:
    """Measure and print."""
    parser = flag_parser(__doc__, folders=False)
    parser.add_argument("files", nargs="*", type=Path, help="PTX files, the big one first")
    parser.add_argument("--times", type=int, default=5, help="runs of each (default: 5)")
    parser.add_argument(
        "--checked", type=int, default=1, metavar="N", help="compare the first N with ptxas"
    )
    parser.add_argument("--small", default=str(SMALL), metavar="FILE", help="the small file")
    parser.add_argument("--ptxas", metavar="PATH")
    parser.add_argument("--nvcc", metavar="PATH")
    flags = parser.parse_args()
    try:
        paths = [path.resolve() for path in flags.files] or made(flags.nvcc)
    except FileNotFoundError as error:
        parser.error(str(error))
    figures = measure(paths, flags)
    report(flags, figures, tables(figures))


if __name__ == "__main__":
    main()
