"""The instruction table against ptxas: does it still take what the table has, and since when?

For a new CUDA release: ``python -m bench.recheck --ptxas PATH``. Every group of every form gives
some of its spellings (``--each``, drawn by ``--seed``), with operands made from its pattern.
ptxas judges a thousand lines a run, front end only (``-arch=compute_XX``): at the newest version
known, and at the version before the one that the table names, where it must refuse. Patterns that
stand for more than registers (textures, calls) are counted as left out.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from bench import common

TABLE = common.ROOT / "ptxlint" / "isa" / "data" / "instructions"
VERSIONS = common.ROOT / "ptxlint" / "isa" / "data" / "versions.json"
BATCH = 1000
REGISTERS = (
    *("pred", "b128", "f16", "f16x2", "f32", "f64"),
    *(f"{kind}{width}" for kind in "bus" for width in (8, 16, 32, 64)),
)
# Types that no register has, by the one that holds them.
HELD_IN = {
    **dict.fromkeys(("bf16", "e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "ue8m0x2", "e2m1x4"), "b16"),
    **dict.fromkeys(("bf16x2", "tf32", "u16x2", "s16x2", "u8x4", "s8x4", "b1"), "b32"),
    **dict.fromkeys(("e4m3", "e5m2", "e2m1x2"), "b8"),
    "s2f6x2": "b16",
    **dict.fromkeys(("e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4"), "b32"),
    "f32x2": "b64",
}
_PART = re.compile(r"\s*(\[[^\]]*\]|\{[^}]*\}|'[^']*'|[^,]+)")
_NAMED = re.compile(r"[!>]?[\w-]+:(<\w+>|W<\w+>|\w+)(?:\*(\d+))?")


class Line(NamedTuple):
    """One instruction to be judged, for ``target``, in the table since ``since``."""

    text: str
    target: str
    since: tuple[int, int]
    form: str


def operand(pattern: str, chosen: dict[str, str], numbers: Iterator[int]) -> str | None:
    """A text for one operand of a pattern; None for a pattern that is more than registers."""
    pattern = pattern.strip()
    if "|" in pattern and ":" in pattern:
        halves = [operand(half, chosen, numbers) for half in pattern.split("|")]
        return None if None in halves else "|".join(map(str, halves))
    if pattern.startswith("["):
        inner = pattern[1:-1]
        named = _NAMED.fullmatch(inner)
        return f"[{register(named, chosen, numbers)}]" if named else None
    if pattern.startswith("{"):
        halves = [operand(half, chosen, numbers) for half in pattern[1:-1].split(",")]
        return None if None in halves else "{" + ",".join(map(str, halves)) + "}"
    if "=" in pattern:
        return pattern.split("=")[1]
    named = _NAMED.fullmatch(pattern)
    return register(named, chosen, numbers) if named else None


def register(match: re.Match[str], chosen: dict[str, str], numbers: Iterator[int]) -> str:
    """A register, or a vector of them, of the type that the pattern asks for."""
    type_ = match.group(1)
    wide = type_.startswith("W")
    if "<" in type_:
        type_ = chosen.get(type_.strip("W<>"), "b32")
    if wide:
        type_ = type_[0] + str(2 * int(type_[1:]))
    type_ = HELD_IN.get(type_, type_)
    count = match.group(2)
    names = [f"%{type_}_{next(numbers)}" for _ in range(int(count or 1))]
    return "{" + ",".join(names) + "}" if count else names[0]


def counter() -> Iterator[int]:
    """0, 1, 2 …"""
    number = 0
    while True:
        yield number
        number += 1


def target_of(group: dict[str, Any]) -> str:
    """The lowest target that the table says has the group."""
    names = [name.lstrip("=") for name in group.get("arch_specific", ())]
    if group.get("min_target"):
        return str(group["min_target"])
    return names[0]


def lines(each: int, seed: int) -> tuple[list[Line], int]:
    """The instructions to ask for, and how many groups were left out."""
    chance = random.Random(seed)
    found: list[Line] = []
    left_out = 0
    for path in sorted(TABLE.glob("*.json")):
        for form in json.loads(path.read_text(encoding="utf-8")):
            order = [name for name, _, _ in form["slots"]]
            for variant in form["variants"]:
                for group in variant["groups"]:
                    made = list(_spellings(form["opcode"], order, group, each, chance))
                    left_out += not made
                    since = tuple(int(part) for part in group["since"].split("."))
                    found += [
                        Line(text, target_of(group), (since[0], since[1]), form["id"])
                        for text in made
                    ]
    return found, left_out


def _spellings(
    opcode: str, order: list[str], group: dict[str, Any], each: int, chance: random.Random
) -> Iterator[str]:
    choices = []
    for combo in group["combos"]:
        names = [name for name in order if name in combo]
        choices += [
            dict(zip(names, values, strict=True))
            for values in product(*(combo[name] for name in names))
        ]
    chance.shuffle(choices)
    for chosen in choices[:each]:
        numbers = counter()
        parts = [p for p in _PART.findall(group["operands"]) if p.strip()]
        operands = [operand(part, chosen, numbers) for part in parts]
        if None in operands:
            return
        name = ".".join([opcode, *(chosen[n] for n in order if chosen.get(n))])
        yield f"{name} {', '.join(map(str, operands))};"


def refused(ptxas: str, batch: list[str], target: str, version: str) -> dict[int, str]:
    """What ptxas refuses of a batch: index and first words. Drops a fatal line and asks again."""
    declared = "".join(f".reg .{t} %{t}_<140>;\n" for t in REGISTERS)
    head = f".version {version}\n.target {target}\n.address_size 64\n.entry k() {{\n{declared}"
    first = head.count("\n") + 1
    out: dict[int, str] = {}
    live = list(range(len(batch)))
    with TemporaryDirectory() as folder:
        source = Path(folder) / "x.ptx"
        while live:
            source.write_text(head + "\n".join(batch[i] for i in live) + "\nret;\n}\n")
            # What is for an older GPU than ptxas knows is compiled for the oldest that it does.
            arch = target[3:] if int(target[3:].rstrip("af")) >= common.OLDEST else common.OLDEST
            command = [ptxas, f"-arch=compute_{arch}", "-o", "/dev/null", str(source)]
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            said = run.stdout + run.stderr
            found = re.findall(r"line (\d+); (error|fatal)\s*: (.*)", said)
            for line, _, words in found:
                if first <= int(line) < first + len(live):
                    out.setdefault(live[int(line) - first], words)
            left = [i for i in live if i not in out]
            if not found or left == live or all(kind == "error" for _, kind, _ in found):
                return out
            live = left
    return out


@cache
def _versions() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(VERSIONS.read_text(encoding="utf-8"))
    return known


def version_before(line: Line) -> str | None:
    """The version before the one that the table names; None if that does not know the target."""
    known = _versions()
    # 5.1 was 6.0 before its release: ptxas takes all of 6.0 under that number.
    versions = [tuple(map(int, v.split("."))) for v in known["versions"] if v != "5.1"]
    first = tuple(map(int, known["targets"][line.target].split(".")))
    before = max((v for v in versions if first <= v < line.since), default=None)
    return None if before is None else ".".join(map(str, before))


def judge(ptxas: str, wanted: list[tuple[Line, str]]) -> dict[Line, str]:
    """The lines that ptxas refuses, each at its version."""
    batches: dict[tuple[str, str], list[Line]] = defaultdict(list)
    for line, version in wanted:
        batches[line.target, version].append(line)
    out: dict[Line, str] = {}
    for (target, version), group in batches.items():
        for begin in range(0, len(group), BATCH):
            part = group[begin : begin + BATCH]
            for index, words in refused(ptxas, [p.text for p in part], target, version).items():
                out[part[index]] = words
    return out


def main(arguments: list[str] | None = None) -> int:
    """Ask and report; exit status 1 if anything disagrees."""
    parser = common.flag_parser(__doc__, folders=False)
    parser.add_argument("--each", type=int, default=3, help="spellings of each group")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--version", default=None, help="PTX version (default: the newest known)")
    parser.add_argument("--ptxas")
    given = parser.parse_args(arguments)
    ptxas = common.ptxas(given.ptxas)
    if ptxas is None:
        print("recheck: no ptxas found", file=sys.stderr)
        return 2
    wanted, left_out = lines(given.each, given.seed)
    newest = list(_versions()["versions"])[-1]
    now = judge(ptxas, [(line, given.version or newest) for line in wanted])
    dated = {line: version_before(line) for line in wanted if line not in now}
    gated = [(line, version) for line, version in dated.items() if version is not None]
    before = judge(ptxas, gated)
    text = [
        f"ptxas {common.tool_version(ptxas)}, {len(wanted)} spellings of "
        f"{len({line.form for line in wanted})} forms"
        f" ({left_out} groups left out: not registers alone)",
        f"taken {len(wanted) - len(now)}, refused {len(now)}",
        f"refused one version earlier: {len(before)} of {len(gated)}",
        *(f"  {line.target} {line.text}  -- {words}" for line, words in sorted(now.items())[:40]),
    ]
    figures = {
        "spellings": len(wanted),
        "refused": [line.text for line in now],
        "refused_earlier": len(before),
        "gated": len(gated),
    }
    common.report(given, figures, "\n".join(text))
    return int(bool(now))


if __name__ == "__main__":
    sys.exit(main())
