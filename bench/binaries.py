"""Binaries: the same bytes, resources and lines as NVIDIA's tools give, and what it takes.

python -m bench.binaries [FILE...]: libraries, object files, fatbins, cubins, archives, wheels.
cuobjdump and nvdisasm are those beside ptxas or on PATH.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ptxlint.inputs.cubin import Cubin
from ptxlint.inputs.images import Image, open_inputs
from ptxlint.inputs.lineprogram import SASS_TO_PTX, SASS_TO_SOURCE, lines

from .common import ROOT, cpu_seconds, flag_parser, ptxas, report, table

BINARIES = ROOT / "corpus" / "binaries"
_FUNCTION = re.compile(r"Function (.*?):\n\s+(.*)")
_SECTION = re.compile(r"\s*\.section\s+(\.text\.[^\s,]+),")
_PLACE = re.compile(r'## File "(.*?)", line (\d+)')
_INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s")
_LISTED = 15


def tool(name: str) -> str:
    """The path of one of NVIDIA's tools; ends the program where there is none."""
    beside = Path(ptxas() or "").with_name(name)
    found = shutil.which(str(beside)) or shutil.which(name)
    if found is None:
        sys.exit(f"bench.binaries: no {name}: its wheel, or PATH")
    return found


# --- the same bytes ------------------------------------------------------------------------------


def identity(path: Path) -> dict[str, Any]:
    """Images compared with what cuobjdump extracts, and those that differ.

    ``only ours`` are images that cuobjdump left no file of: it gave several one file name
    (``overwritten``), or stopped at one that it does not read.
    """
    inside = open_inputs(str(path))
    ours = Counter(_sum(image.kind, image.load()) for image in inside if _is_code(image))
    with tempfile.TemporaryDirectory() as folder:
        command = [tool("cuobjdump"), "-all", "-xelf", "all", "-xptx", "all", str(path.resolve())]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        theirs = Counter(
            _sum(file.suffix[1:], file.read_bytes()) for file in Path(folder).iterdir()
        )
    said = done.stdout.count("Extracting ")
    return {
        "images": sum(ours.values()),
        "compared": sum((ours & theirs).values()),
        "differing": sum((theirs - ours).values()),
        "only ours": sum((ours - theirs).values()),
        "overwritten": said - sum(theirs.values()),
        "stopped": "fatal" in done.stderr,
        "problems": [str(problem) for problem in inside.problems],
    }


def _is_code(image: Image) -> bool:
    return image.kind in ("ptx", "cubin")


def _sum(kind: str, data: bytes) -> tuple[str, str]:
    return kind, hashlib.sha256(data).hexdigest()


# --- the same resources and lines ----------------------------------------------------------------


def cubins(path: Path, every: int) -> Iterator[tuple[Image, bytes]]:
    """Each ``every``-th cubin of a file, and its bytes."""
    found = (image for image in open_inputs(str(path)) if image.kind == "cubin")
    for number, image in enumerate(found):
        if number % every == 0:
            yield image, image.load()


def resources(path: Path, every: int) -> dict[str, Any]:
    """Kernels compared with ``cuobjdump -res-usage``, and the names of those that differ."""
    kernels, differing = 0, []
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        for image, data in cubins(path, every):
            Path(file.name).write_bytes(data)
            command = [tool("cuobjdump"), "-res-usage", file.name]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            rows = dict(_FUNCTION.findall(done.stdout))
            for kernel in Cubin(data).kernels:
                kernels += 1
                stack = "UNKNOWN" if kernel.stack is None else kernel.stack
                words = [f"REG:{kernel.registers}", f"STACK:{stack}", f"SHARED:{kernel.shared}"]
                words += [f"CONSTANT[{bank}]:{size}" for bank, size in kernel.constants.items()]
                words += ["LOCAL:0", "TEXTURE:0", "SURFACE:0", "SAMPLER:0"]
                if sorted(rows.get(kernel.name, "").split()) != sorted(words):
                    differing.append(f"{image.name} {kernel.name}")
    return {"kernels": kernels, "differing": differing}


def line_maps(path: Path, every: int) -> dict[str, Any]:
    """Instructions compared with ``nvdisasm -gp`` and ``-g``, and those of another line."""
    counts = {"to PTX": 0, "to source": 0}
    differing = []
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        for image, data in cubins(path, every):
            cubin = Cubin(data)
            for name, flag, section in (
                ("to PTX", "-gp", SASS_TO_PTX),
                ("to source", "-g", SASS_TO_SOURCE),
            ):
                if section not in cubin.by_name:
                    continue
                Path(file.name).write_bytes(data)
                found = lines(cubin, section)
                for text, offset, place in _printed(file.name, flag):
                    row = found.at(text, offset)
                    counts[name] += 1
                    if (row and row.place[:2]) != place:
                        differing.append(f"{image.name} {text} {offset:#x} {flag}")
    return {**counts, "differing": differing}


def _printed(path: str, flag: str) -> Iterator[tuple[str, int, tuple[str, int] | None]]:
    """Section, offset and line of each instruction; nvdisasm prints a line where it changes."""
    command = [tool("nvdisasm"), "-c", flag, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    section = ""
    place: tuple[str, int] | None = None
    for line in done.stdout.splitlines():
        if match := _SECTION.match(line):
            section = match[1]
        elif match := _PLACE.search(line):
            place = (match[1], int(match[2]))
        elif match := _INSTRUCTION.match(line):
            yield section, int(match[1], 16), place


# --- what it takes -------------------------------------------------------------------------------


def speed(path: Path) -> dict[str, float]:
    """CPU seconds of extracting all, ours and cuobjdump's; wall seconds of listing; memory."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "ptxlint", "extract", str(path.resolve()), "-o", folder]
        ours = cpu_seconds(words)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        command = [tool("cuobjdump"), "-all", "-xelf", "all", "-xptx", "all", str(path.resolve())]
        subprocess.run(command, cwd=folder, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    theirs = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"extract": ours, "cuobjdump": theirs, "list": min(_listing(path) for _ in range(5))}


def _listing(path: Path) -> float:
    start = time.perf_counter()
    command = [sys.executable, "-m", "ptxlint", "extract", "--list", str(path.resolve())]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def measure(path: Path, every: int, what: set[str]) -> dict[str, Any]:
    """All figures of one file."""
    result: dict[str, Any] = {"file": path.name, "MB": path.stat().st_size / 1e6}
    if "identity" in what:
        result["identity"] = identity(path)
    if "resources" in what:
        result["resources"] = resources(path, every)
    if "lines" in what:
        result["lines"] = line_maps(path, every)
    if "speed" in what:
        result["speed"] = speed(path)
    return result


def tables(rows: list[dict[str, Any]]) -> str:
    """The figures in Markdown, and what differs."""
    parts = []
    if rows and "identity" in rows[0]:
        head = ("file", "MB", "images", "compared", "differing", "only ours", "overwritten")
        cells = [[r["file"], r["MB"], *(r["identity"][name] for name in head[2:])] for r in rows]
        parts.append(table(head, cells))
        parts += [f"cuobjdump stopped in {r['file']}" for r in rows if r["identity"]["stopped"]]
        parts += [problem for row in rows for problem in row["identity"]["problems"]]
    for name, columns in (("resources", ("kernels",)), ("lines", ("to PTX", "to source"))):
        if rows and name in rows[0]:
            cells = [
                [r["file"], *(r[name][c] for c in columns), len(r[name]["differing"])] for r in rows
            ]
            total = ["total", *(sum(row[i] for row in cells) for i in range(1, len(columns) + 2))]
            parts.append(table(("file", *columns, "differing"), [*cells, total]))
            parts += [place for row in rows for place in row[name]["differing"][:_LISTED]]
    if rows and "speed" in rows[0]:
        head = ("file", "MB", "extract s CPU", "cuobjdump s CPU", "list s")
        cells = [[r["file"], r["MB"], *r["speed"].values()] for r in rows]
        parts.append(table(head, cells))
    return "\n\n".join(parts)


def main(arguments: list[str] | None = None) -> None:
    """Measure the files that are named, or the corpus."""
    parser: argparse.ArgumentParser = flag_parser(__doc__, folders=False)
    parser.add_argument("files", nargs="*", type=Path, help="binaries (default: the corpus)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th cubin only")
    parser.add_argument(
        "--only",
        action="append",
        choices=("identity", "resources", "lines", "speed"),
        help="not all of it (repeatable)",
    )
    flags = parser.parse_args(arguments)
    paths = flags.files or sorted(BINARIES.iterdir())
    what = set(flags.only or ("identity", "resources", "lines", "speed"))
    rows = [measure(path, flags.every, what) for path in paths]
    report(flags, rows, tables(rows))


if __name__ == "__main__":
    main()
