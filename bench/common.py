"""What the benchmarks share: PTX files and their labels, ptxas, processor time, tables.

Nothing of ptxlint is loaded with it: what only starts and measures other processes stays small.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "corpus" / "ptx"

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_TARGET = re.compile(r"^\s*\.target\s+(?:sm|compute)_(\d+)([af]?)", re.M)
_LINE = re.compile(r"\bline (\d+)[;:,]")
OLDEST = 75
"""The oldest target that today's ptxas takes; what is for an older one is assembled for this."""


@dataclass(frozen=True)
class File:
    """A PTX file; ``verdict`` is ``accept``, ``reject``, or None where nobody has asked ptxas.

    ``lines`` are those that ptxas names in its errors; None where that is not known.
    """

    path: Path
    folder: Path
    arch: str | None = None
    verdict: str | None = None
    flags: tuple[str, ...] = ()
    lines: frozenset[int] | None = None

    @property
    def name(self) -> str:
        """The path below the folder that was given."""
        return self.path.relative_to(self.folder).as_posix()

    @property
    def group(self) -> str:
        """The top-level subfolder; the folder's own name for a file that lies directly in it."""
        parts = self.path.relative_to(self.folder).parts
        return parts[0] if len(parts) > 1 else self.folder.name

    @property
    def size(self) -> int:
        """Bytes."""
        return self.path.stat().st_size

    def text(self) -> str:
        """The content, in the encoding that ptxlint would read it in."""
        content = self.path.read_bytes()
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            return content.decode("latin-1")


# --- files ---------------------------------------------------------------------------------------


def files(folders: Sequence[str | Path]) -> list[File]:
    """All .ptx files below the folders, with what a labels.tsv at a folder's top says of them."""
    found = []
    for given in folders:
        folder = Path(given).resolve()
        if folder.is_file():
            found.append(File(folder, folder.parent))
            continue
        labels = _labels(folder)
        for path in sorted(folder.rglob("*.ptx")):
            name = path.relative_to(folder).as_posix()
            found.append(labels.get(name) or File(path, folder))
    return found


def _labels(folder: Path) -> dict[str, File]:
    path = folder / "labels.tsv"
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {
        row["file"]: File(
            folder / row["file"],
            folder,
            row["arch"],
            row["verdict"],
            tuple(flag for flag in (row.get("flags") or "").split() if flag.startswith("-")),
            _label_lines(row),
        )
        for row in rows
    }


def _label_lines(row: dict[str, str]) -> frozenset[int] | None:
    """From ``ptxas_lines`` ("3,17") or ``ptxas_line_and_message`` ("3; text || 17; text")."""
    if row.get("ptxas_lines") is not None:
        words = row["ptxas_lines"].split(",")
    elif row.get("ptxas_line_and_message") is not None:
        words = [part.split(";")[0] for part in row["ptxas_line_and_message"].split("||")]
    else:
        return None
    return frozenset(int(word) for word in words if word.strip().isdigit())


def arch_of(text: str) -> str:
    """The target to assemble a PTX text for: its own, or the oldest that ptxas still takes."""
    match = _TARGET.search(_COMMENT.sub(" ", text))
    if match is None or int(match.group(1)) < OLDEST:
        return f"sm_{OLDEST}"
    return f"sm_{match.group(1)}{match.group(2)}"


def chosen(found: list[File], flags: argparse.Namespace) -> list[File]:
    """Those within ``--limit-bytes``, and of these a random ``--sample``."""
    if flags.limit_bytes:
        found = [file for file in found if file.size <= flags.limit_bytes]
    if flags.sample and flags.sample < len(found):
        found = sorted(random.Random(flags.seed).sample(found, flags.sample), key=lambda f: f.path)
    return found


# --- tools ---------------------------------------------------------------------------------------


def ptxas(given: str | None = None) -> str | None:
    """ptxas: as given, or where ptxlint itself looks for it."""
    from ptxlint.inputs import tools

    return tools.ptxas(given)


def needed_ptxas(parser: argparse.ArgumentParser, given: str | None) -> str:
    """As ``ptxas``; ends the program with a line of usage where there is none."""
    tool = ptxas(given)
    if tool is None:
        parser.error("no ptxas: --ptxas, $PTXAS, $CUDA_HOME or PATH")
    return tool


def tool_version(tool: str) -> str:
    """``13.0.88`` of ``ptxas`` or ``nvcc``."""
    out = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.search(r"\bV(\d[\d.]*)", out)
    return match.group(1) if match else "unknown"


@dataclass(frozen=True)
class Assembled:
    """What ptxas made of a file: whether it accepts it, and the lines that its errors name."""

    accepted: bool
    lines: frozenset[int]
    output: str


def assemble(
    tool: str,
    source: Path,
    arch: str,
    flags: Sequence[str] = (),
    out: str = os.devnull,
    timeout: float = 600,
) -> Assembled:
    """One run of ptxas; raises subprocess.TimeoutExpired."""
    done = subprocess.run(
        [tool, f"-arch={arch}", *flags, str(source), "-o", out],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout,
        check=False,
    )
    lines = frozenset(map(int, _LINE.findall(done.stderr + done.stdout)))
    return Assembled(done.returncode == 0, lines, done.stderr + done.stdout)


# --- measuring -----------------------------------------------------------------------------------


def cpu_seconds(command: Sequence[str]) -> float:
    """User and system time of one process and its children, from its start to its end."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"status {process.returncode}: {' '.join(command)}")
    return usage.ru_utime + usage.ru_stime


def child(*words: str) -> dict[str, Any]:
    """What a fresh process of ``bench.child`` prints."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.child", *words],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


# --- what goes out -------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown, aligned: the first column to the left, the others to the right."""
    cells = [list(head), *[[_cell(value) for value in row] for row in rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [
        "| "
        + " | ".join(
            text.rjust(width) if i else text.ljust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        + " |"
        for row in cells
    ]
    rule = [
        "-" * (width + 2) if not i else "-" * (width + 1) + ":" for i, width in enumerate(widths)
    ]
    lines.insert(1, "|" + "|".join(rule) + "|")
    return "\n".join(lines)


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def percent(part: float, whole: float) -> str | None:
    """``97.4 %``; None of nothing. Never 100 % unless it is all."""
    if not whole:
        return None
    share = 100 * part / whole
    return f"{min(share, 99.9) if part != whole else share:.1f} %"


def flag_parser(doc: str | None, *, folders: bool = True) -> argparse.ArgumentParser:
    """The flags that the benchmarks share; ``doc`` is the module's."""
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", metavar="PATH", help="write the figures as JSON (- for stdout)")
    if folders:
        parser.add_argument(
            "folders", nargs="*", default=[str(CORPUS)], help="folders of PTX (default: the corpus)"
        )
        parser.add_argument("--limit-bytes", type=int, metavar="N", help="leave out longer files")
        parser.add_argument("--sample", type=int, metavar="N", help="a random N of the files")
        parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    return parser


def report(flags: argparse.Namespace, figures: Any, text: str) -> None:
    """Print the tables and write the JSON, or print only the JSON."""
    if flags.json == "-":
        print(json.dumps(figures, indent=2))
        return
    print(text)
    if flags.json:
        Path(flags.json).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def progress(items: Sequence[File]) -> Iterator[File]:
    """The items, with a line on the terminal that counts them."""
    shown = sys.stderr.isatty()
    for number, item in enumerate(items, 1):
        if shown:
            print(f"\r\x1b[K{number}/{len(items)} {item.name[-60:]}", end="", file=sys.stderr)
        yield item
    if shown:
        print("\r\x1b[K", end="", file=sys.stderr)
