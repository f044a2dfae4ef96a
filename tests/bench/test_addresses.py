"""Known addresses are those that lanes use, on a part of the corpus."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PTX = ROOT / "corpus" / "ptx" / "sm_80"


def study(*words: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.addresses", "--json", "-", *words]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-2000:]
    known: dict[str, Any] = json.loads(run.stdout)
    return known


def held(known: dict[str, Any]) -> None:
    """Something was compared, and nothing was otherwise."""
    assert known["WRONG"] == [] and known["crashes"] == []
    total = [source for name, source in known["sources"].items() if name == "all"] or [
        *known["sources"].values()
    ]
    assert sum(source["requests"] for source in total) > 500


def test_a_few_kernels() -> None:
    held(study(str(PTX), "--limit", "12", "--launches", "3", "--seconds", "4"))


@pytest.mark.slow
def test_all_of_the_corpus() -> None:
    held(study(str(PTX), "--limit", "400"))
