"""PTX210, 211, 214 and 220 beside compute-sanitizer, as it judged the cases on a GPU."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.gpu.races import CASES, CODES, chosen
from ptxlint import check_text

SAID = json.loads((Path(__file__).parent / "races_sm90.json").read_text())["cases"]
# Of matrix instructions that not all lanes execute neither tool speaks. Two bar.sync of one number
# that whole warps choose between are right by the ISA (the barrier counts warps); synccheck wants
# one instruction.
SILENT = {"matrix-behind-a-bound.bad.ptx", "matrix-of-half-a-warp.bad.ptx"}
STRICTER = {"warp-skips-a-barrier.good.ptx"}
TOOL = {"PTX210": "synccheck", "PTX211": "synccheck", "PTX214": "racecheck", "PTX220": "racecheck"}


def test_every_such_case_was_run() -> None:
    assert set(SAID) == set(chosen()) and len(SAID) >= 22


@pytest.mark.parametrize("name", chosen())
def test_compute_sanitizer_says_the_same(name: str) -> None:
    text = (CASES / name).read_text(encoding="utf-8")
    codes = {f.code for f in check_text(text) if f.code in CODES}
    errors = {tool for tool, count in SAID[name].items() if count}
    if name in SILENT:
        assert codes and not errors
    elif name in STRICTER:
        assert errors == {"synccheck"} and not codes
    else:
        assert {TOOL[code] for code in codes} <= errors
        assert bool(codes) == bool(errors)
