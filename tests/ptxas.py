"""ptxas, the oracle of what is valid PTX: from the wheel of the `test` extra, else from PATH."""

from __future__ import annotations

import io
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest
from elftools.elf.elffile import ELFFile

from bench import common

# Not what an instruction's expansion says of itself (`ptxas <macro util>, line 2; …`).
_LINE = re.compile(r"^ptxas (?!<).*\bline (\d+);", re.M)


class Verdict(NamedTuple):
    """What ptxas said: accepted or not, the lines it named, its words, the code it made."""

    accepted: bool
    lines: frozenset[int]
    output: str
    code: dict[str, bytes]


def find() -> str | None:
    """The path of ptxas, or None."""
    return common.ptxas()


needed = pytest.mark.skipif(find() is None, reason="no ptxas: neither its wheel nor one on PATH")


def assemble(text: str, target: str, *flags: str) -> Verdict:
    """Assemble a PTX text for ``target`` (``sm_80``)."""
    ptxas = find()
    assert ptxas is not None
    with TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "x.ptx", Path(folder) / "x.cubin"
        source.write_bytes(text.encode("utf-8", "surrogateescape"))
        command = [ptxas, f"-arch={target}", "-o", str(cubin), *flags, str(source)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        output = run.stdout + run.stderr
        lines = frozenset(int(line) for line in _LINE.findall(output))
        if run.returncode:
            return Verdict(False, lines, output, {})
        if target.startswith("compute_"):
            return Verdict(True, lines, output, {})  # the front end alone: no code is made
        elf = ELFFile(io.BytesIO(cubin.read_bytes()))
        code = {s.name: s.data() for s in elf.iter_sections() if _is_code(s.name)}
        return Verdict(True, lines, output, code)


def _is_code(section: str) -> bool:
    """Code, data and what the driver is told; not symbols and debug sections, which hold names."""
    return section.startswith((".text", ".nv.global", ".nv.constant", ".nv.shared", ".nv.info"))
