"""NVIDIA's assembler, where there is one: what it really gives each kernel of a PTX text."""

from __future__ import annotations

import os
import re
import subprocess
from tempfile import TemporaryDirectory
from typing import NamedTuple

from .cubin import Cubin, Kernel
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
    """What ptxas made: the kernels of the cubin, and what it said of spills, by kernel."""

    kernels: dict[str, Kernel]
    spills: dict[str, Spills]


def assembled(text: str, name: str, target: str, tool: str) -> Assembled:
    """``text`` (of the file ``name``) assembled for ``target``; raises InputError with the first
    of what ptxas says.
    """
    with TemporaryDirectory(prefix="ptxlint-") as folder:
        source, cubin = os.path.join(folder, "x.ptx"), os.path.join(folder, "x.cubin")
        with open(source, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        command = [tool, "-v", f"-arch={target}", "-o", cubin, source]
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
                kernels = Cubin(file.read()).kernels
        except (OSError, Damaged) as error:
            raise InputError(name, f"what ptxas made of it: {error}") from None
    return Assembled({kernel.name: kernel for kernel in kernels}, _spills(run.stderr))


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
