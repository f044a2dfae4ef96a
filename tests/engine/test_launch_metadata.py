"""Triton's metadata beside a file: read, handed to the analyses, part of the cache's key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ptxlint.analysis.facts import Facts
from ptxlint.analysis.launch import MOST_THREADS, launch_shape, shape_from_metadata
from ptxlint.engine import batch, runner
from ptxlint.engine.options import Options
from ptxlint.ptx import parse

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.entry k()%s
{
  .reg .b32 %%r<4>;
  mov.u32 %%r1, %%tid.x;
  ret;
}
"""


def shape(directives: str = "", **given: object) -> tuple[object, str, int]:
    module = parse(KERNEL % directives)
    found = launch_shape(module.functions[0], Facts(module, Options.of(**given)))
    return found.block, found.source, found.most


def test_what_tells_the_shape_and_in_which_order() -> None:
    triton = json.dumps({"name": "k", "num_warps": 8})
    assert shape() == (None, "", MOST_THREADS)
    assert shape("\n.maxntid 128") == (None, "", 128)
    assert shape("\n.maxntid 64, 4", metadata=triton) == ((256, 1, 1), "Triton metadata", 256)
    assert shape("\n.reqntid 64, 2", metadata=triton) == ((64, 2, 1), ".reqntid", 128)
    assert shape("\n.reqntid 64, 2", block="32,4") == ((32, 4, 1), "--block", 128)


@pytest.mark.parametrize(
    ("metadata", "block"),
    [
        ({"num_warps": 4}, (128, 1, 1)),
        ({"num_warps": 4, "name": "other"}, None),
        ({"num_warps": 4, "num_consumer_groups": 2}, None),
        ({"num_warps": 4, "target": {"backend": "hip", "warp_size": 64}}, None),
        ({"num_warps": 4, "target": {"backend": "cuda", "arch": 90}}, (128, 1, 1)),
        ({"num_warps": 0}, None),
        ({"warps": 4}, None),
        ([4], None),
    ],
)
def test_metadata_that_tells_the_shape(metadata: object, block: object) -> None:
    assert shape(metadata=json.dumps(metadata))[0] == block


def test_text_that_is_no_metadata() -> None:
    assert shape_from_metadata("{") is None


def test_the_file_beside_is_read_and_changes_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    seen: list[str | None] = []
    lint = runner.lint

    def spy(text: str, path: str, options: Options) -> object:
        seen.append(options.metadata)
        return lint(text, path, options)

    monkeypatch.setattr(runner, "lint", spy)
    path, beside = tmp_path / "k.ptx", tmp_path / "k.json"
    path.write_text(KERNEL % "")
    for text in (None, "{}", '{"num_warps": 4}', '{"num_warps": 4}', '{"num_warps": 8}'):
        if text is not None:
            beside.write_text(text)
        batch.lint_files([str(path)], Options(), cached=True)
    assert seen == [None, '{"num_warps": 4}', '{"num_warps": 8}']
    batch.lint_files([str(path)], Options(block=(32, 1, 1)))
    assert seen[-1] is None
