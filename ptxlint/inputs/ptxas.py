"""NVIDIA's assembler, where there is one: what it really gives each kernel of a PTX text."""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from tempfile import TemporaryDirectory
from typing import NamedTuple

from .cubin import Cubin, Kernel
from .lineprogram import SASS_TO_PTX, lines
from .source import Damaged
from .text import InputError

_ENTRY = re.compile(r"Compiling entry function '(\S+)' for '\w+'")
_SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_LONGEST = 600  # seconds


class Spills(NamedTuple):
    """Bytes of a kernel's stack frame, and of its spilling stores and loads, as written in code."""

    frame: int
    stores: int
    loads: int


class Assembled(NamedTuple):
    """What ptxas made: the kernels of the cubin, what it said of spills, and how many instructions
    that spill stand at which line of the PTX, all by kernel.
    """

    kernels: dict[str, Kernel]
    spills: dict[str, Spills]
    spill_lines: dict[str, dict[int, int]]


def assembled(text: str, name: str, target: str, tool: str) -> Assembled:
    """``text`` (of the file ``name``) assembled for ``target``; raises InputError with the first
    of what ptxas says.
    """
    with TemporaryDirectory(prefix="ptxlint-") as folder:
        source, cubin = os.path.join(folder, "x.ptx"), os.path.join(folder, "x.cubin")
        with open(source, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        command = [tool, "-v", "-lineinfo", f"-arch={target}", "-o", cubin, source]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, timeout=_LONGEST, check=False
            )
        except subprocess.TimeoutExpired:
            raise InputError(name, f"ptxas took more than {_LONGEST} s") from None
        except OSError as error:
            raise InputError(name, f"{tool} did not run: {error.strerror}") from None
        if run.returncode:
            said = run.stderr.strip() or run.stdout.strip() or f"ptxas ended with {run.returncode}"
            raise InputError(name, _first(said).replace(source, name))
        try:
            with open(cubin, "rb") as file:
                made = Cubin(file.read())
            kernels = {kernel.name: kernel for kernel in made.kernels}
            at_lines = {name: _spill_lines(made, kernel) for name, kernel in kernels.items()}
        except (OSError, Damaged) as error:
            raise InputError(name, f"what ptxas made of it: {error}") from None
    return Assembled(kernels, _spills(run.stderr), at_lines)


def _spill_lines(made: Cubin, kernel: Kernel) -> dict[int, int]:
    """Instructions that spill, by line of the PTX, most first; raises Damaged."""
    if not kernel.spills:
        return {}
    table, section = lines(made, SASS_TO_PTX), made.sections[kernel.section].name
    rows = [table.at(section, offset) for offset in kernel.spills]
    return dict(Counter(row.place.line for row in rows if row is not None).most_common())


def _first(said: str) -> str:
    """The first line that names an error."""
    lines = said.splitlines()
    return next((line for line in lines if "error" in line or "fatal" in line), lines[0]).strip()


def _spills(said: str) -> dict[str, Spills]:
    found, name = {}, ""
    for line in said.splitlines():
        if (entry := _ENTRY.search(line)) is not None:
            name = entry[1]
        elif (spills := _SPILLS.search(line)) is not None and name:
            found[name] = Spills(*map(int, spills.groups()))
            name = ""
    return found
