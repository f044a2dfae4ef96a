"""Does PTX that is parsed and printed assemble to the same machine code?

Every file below the folders that ptxas accepts and that parses full is printed from its IR, and
original and print are assembled with the same flags (those of a labels.tsv, where there is one).
Compared byte for byte: all ``.text`` sections of the two cubins, and the sections of data
(``.nv.global.init``, ``.nv.constant*``, ``.nv.shared*``: name, size, content).

files      what was given, within --limit-bytes and --sample
compared   accepted by ptxas and parsed full
identical  ... with the same code and data
differ     the others; they are listed
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from ptxlint import parse
from ptxlint.ptx.printer import print_module

from .common import (
    File,
    arch_of,
    assemble,
    chosen,
    files,
    flag_parser,
    needed_ptxas,
    progress,
    report,
    table,
    tool_version,
)

DATA = (".nv.global", ".nv.constant", ".nv.shared", ".nv.local")


def sections(path: Path) -> dict[str, bytes | int]:
    """The sections of code and data of a cubin; of one without bytes in the file, the size."""
    found: dict[str, bytes | int] = {}
    with path.open("rb") as stream:
        for section in ELFFile(stream).iter_sections():
            if section.name.startswith((".text", *DATA)):
                bare = section["sh_type"] == "SHT_NOBITS"
                found[section.name] = section["sh_size"] if bare else section.data()
    return found


class Rejected(Exception):
    """ptxas doesn't take a text; its first line says why."""


@dataclass(frozen=True)
class Job:
    """How the texts that are compared are assembled."""

    tool: str
    arch: str
    flags: tuple[str, ...]
    folder: Path

    def sections(self, source: Path) -> dict[str, bytes | int]:
        """What ptxas makes of a file; raises Rejected and subprocess.TimeoutExpired."""
        cubin = self.folder / "out.cubin"
        made = assemble(self.tool, source, self.arch, self.flags, str(cubin))
        if not made.accepted:
            raise Rejected(next(iter(made.output.strip().splitlines()), "no output"))
        return sections(cubin)

    def sections_of_text(self, text: str) -> dict[str, bytes | int]:
        """What ptxas makes of a text."""
        source = self.folder / "text.ptx"
        source.write_text(text, encoding="utf-8")
        return self.sections(source)


class Comparer:
    """Assembles pairs in a folder; counts, and keeps what differs."""

    def __init__(self, tool: str, folder: Path, extra: Sequence[str] = ()) -> None:
        self.tool = tool
        self.folder = folder
        self.extra = tuple(extra)
        self.counts: dict[str, Counter[str]] = {}
        self.differing: list[str] = []

    def compare(self, file: File) -> None:
        """Take one file through parser, printer and assembler."""
        counts = self.counts.setdefault(file.group, Counter())
        counts["files"] += 1
        try:
            outcome, why = self._outcome(file)
        except subprocess.TimeoutExpired:
            outcome, why = "too long", ""
        counts[outcome] += 1
        if outcome in ("identical", "differ"):
            counts["compared"] += 1
            counts["bytes"] += file.size
        if outcome == "differ":
            self.differing.append(f"{file.name}: {why}")

    def _outcome(self, file: File) -> tuple[str, str]:
        """What came of a file, and where it differs."""
        if file.verdict not in (None, "accept"):
            return "rejected", ""
        text = file.text()
        job = Job(self.tool, file.arch or arch_of(text), (*file.flags, *self.extra), self.folder)
        try:
            before = job.sections(file.path)
        except Rejected:
            return "rejected", ""
        module = parse(text, file.name)
        if module.parsed != "full":
            return "partial", ""
        try:
            after = job.sections_of_text(print_module(module))
        except Rejected as error:
            return "differ", f"the print is rejected: {error}"
        if before == after:
            return "identical", ""
        names = sorted(n for n in {*before, *after} if before.get(n) != after.get(n))
        return "differ", ", ".join(names[:3])


def compare(found: list[File], tool: str, extra: Sequence[str] = ()) -> dict[str, Any]:
    """All figures."""
    with tempfile.TemporaryDirectory() as folder:
        comparer = Comparer(tool, Path(folder), extra)
        for file in progress(found):
            comparer.compare(file)
    total = sum(comparer.counts.values(), Counter())
    return {
        "ptxas": tool_version(tool),
        "groups": {name: dict(counts) for name, counts in sorted(comparer.counts.items())},
        "total": dict(total),
        "differing": comparer.differing,
    }


def tables(figures: dict[str, Any]) -> str:
    """The figures for people."""
    keys = (
        "files",
        "rejected",
        "partial",
        "too long",
        "compared",
        "identical",
    )
    rows = [
        [
            name,
            *[row.get(key, 0) for key in (*keys, "differ")],
            row.get("bytes", 0) / 1e6,
        ]
        for name, row in [*figures["groups"].items(), ("total", figures["total"])]
    ]
    head = ("folder", *keys, "differ", "MB compared")
    lines = [f"  {line}" for line in figures["differing"]]
    return "\n".join([f"ptxas {figures['ptxas']}", "", table(head, rows), "", *lines])


def parser() -> argparse.ArgumentParser:
    """The arguments."""
    flags = flag_parser(__doc__)
    flags.add_argument("--ptxas", metavar="PATH")
    flags.add_argument(
        "--ptxas-flag", action="append", default=[], metavar="FLAG", help="as --ptxas-flag=-O0"
    )
    return flags


def main() -> None:
    """Compare and print."""
    flags = parser().parse_args()
    tool = needed_ptxas(parser(), flags.ptxas)
    result = compare(chosen(files(flags.folders), flags), tool, flags.ptxas_flag)
    report(flags, result, tables(result))


if __name__ == "__main__":
    main()
