"""The snippets of constructs.tsv, each made a whole module."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

_HEAD = ".version 9.0\n.target sm_90a\n.address_size 64\n"
_REGISTERS = (
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<5>; .reg .f32 %f<5>; "
    ".reg .b16 %h<5>; .reg .f64 %d<3>;\n"
)


class Snippet(NamedTuple):
    """A construct; ``lines`` are those that ptxas names in what it refuses."""

    verdict: str
    lines: frozenset[int]
    source: str
    text: str


def _module(scope: str, source: str) -> str:
    if scope == "body":
        body = f"{{\n{_REGISTERS}{source}\nret;\n}}\n"
        return f"{_HEAD}.visible .entry k(.param .u64 kp)\n{body}"
    return f"{_HEAD}{source}\n.visible .entry k(.param .u64 kp){{ret;}}\n"


def snippets() -> list[Snippet]:
    """All of them."""
    made = []
    for row in (Path(__file__).parent / "constructs.tsv").read_text().splitlines():
        if row.startswith("# "):
            continue
        scope, verdict, lines, source = row.split("\t")
        text = source.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
        numbers = frozenset(int(line) for line in lines.split(",") if line)
        made.append(Snippet(verdict, numbers, source, _module(scope, text)))
    return made
