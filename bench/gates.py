"""``python -m bench.gates FILE...``: ptxlint/isa/data/gates.json from the opcodes of PTX files.

What each opcode needs is worked out from the tables of instructions; the files only say which
opcodes are worth keeping ready. Opcodes whose needs hang on the number of operands stay out.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ptxlint.isa.gates import Gate, worked_out
from ptxlint.isa.versions import text

HOME = Path(__file__).parents[1] / "ptxlint" / "isa" / "data" / "gates.json"
SOURCE = (
    "worked out from data/instructions by bench/gates.py, for the opcodes that files are made of"
)
_OPCODE = re.compile(r"^[ \t{]*(?:@!?[\w%$]+[ \t]+)?([a-z]\w*(?:\.[\w:]+)*)[ \t;]", re.M)


def row(gates: tuple[Gate, ...]) -> list[dict[str, Any]]:
    """Gates as the file holds them."""
    rows = []
    for gate in gates:
        found: dict[str, Any] = {"since": text(gate.since)}
        if gate.minimum != "sm_10":
            found["minimum"] = gate.minimum
        if gate.specific:
            found["specific"] = list(gate.specific)
        if gate.not_on:
            found["not_on"] = list(gate.not_on)
        if gate.since_on:
            found["since_on"] = {name: text(since) for name, since in gate.since_on}
        if gate.until is not None:
            found["until"] = text(gate.until)
        rows.append(found)
    return rows


def table(opcodes: Iterable[str]) -> str:
    """The text of the file for those opcodes."""
    by_gates: dict[str, list[str]] = {}
    for opcode in sorted(set(opcodes)):
        mnemonic, *modifiers = opcode.split(".")
        gates = worked_out(mnemonic, tuple(modifiers))
        if gates and all(gate.operands is None for gate in gates):
            by_gates.setdefault(json.dumps(row(gates)), []).append(opcode)
    rows = [
        f'  {{"gates": {gates}, "opcodes": "{" ".join(names)}"}}'
        for gates, names in by_gates.items()
    ]
    lines = ",\n".join(rows)
    return f'{{\n "source": "{SOURCE}",\n "rows": [\n{lines}\n ]\n}}\n'


def main(paths: list[str]) -> int:
    """Write the file: its own opcodes and those of the PTX files named."""
    opcodes: set[str] = set()
    if HOME.exists():
        for one in json.loads(HOME.read_text())["rows"]:
            opcodes.update(one["opcodes"].split())
    for path in paths:
        opcodes.update(_OPCODE.findall(Path(path).read_text(errors="replace")))
    HOME.write_text(table(opcodes))
    print(f"{HOME}: {len(opcodes)} opcodes, {HOME.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
