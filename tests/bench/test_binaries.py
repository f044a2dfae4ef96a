"""The benchmark of binaries gives its right answer on the corpus."""

from __future__ import annotations

import pytest

from bench import binaries

from .. import tools


@tools.needed("cuobjdump", "nvdisasm")
def test_nothing_of_the_corpus_differs() -> None:
    paths = sorted(binaries.BINARIES.iterdir())
    rows = [binaries.measure(path, 1, {"identity", "resources", "lines"}) for path in paths]
    assert sum(row["identity"]["images"] for row in rows) == 10
    assert not any(row["identity"]["differing"] + row["identity"]["only ours"] for row in rows)
    assert sum(row["resources"]["kernels"] for row in rows) == 11
    assert not any(row["resources"]["differing"] for row in rows)
    assert sum(row["lines"]["to PTX"] for row in rows) > 300
    assert not any(row["lines"]["differing"] for row in rows)
    assert "| spill.cubin" in binaries.tables(rows)


@tools.needed("cuobjdump", "nvdisasm")
def test_a_difference_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    path = binaries.BINARIES / "half_math.lineinfo.cubin"
    monkeypatch.setattr("ptxlint.inputs.nvinfo.REGCOUNT", 0x11)
    monkeypatch.setattr("ptxlint.inputs.lineprogram._ADVANCE_LINE", 99)
    row = binaries.measure(path, 1, {"resources", "lines"})
    assert len(row["resources"]["differing"]) == row["resources"]["kernels"] == 3
    assert row["lines"]["differing"]


def test_speed_is_measured() -> None:
    if tools.find("cuobjdump") is None:
        pytest.skip("no cuobjdump")
    row = binaries.speed(binaries.BINARIES / "spill.cubin")
    assert 0 < row["list"] < 5
    assert row["extract"] > 0
