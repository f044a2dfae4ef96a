"""Binaries in the engine: order, how much is held at once, who opens them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest

import ptxlint
from ptxlint.engine import batch
from ptxlint.engine.batch import lint_files
from ptxlint.engine.options import Options
from ptxlint.inputs import InputError
from ptxlint.inputs import extractors as registered
from ptxlint.inputs.images import Image, Inputs
from ptxlint.inputs.source import Source

from ..inputs.fatbins import KERNEL, LZ4, container, entry, host

MARKED = KERNEL + b"// ptxlint: ignore\n"


@pytest.fixture
def library(tmp_path: Path) -> str:
    path = tmp_path / "lib.so"
    images = [entry(MARKED + b"\n" * n) for n in range(30)]
    path.write_bytes(host([(".nv_fatbin", container(*images, entry(b"?", flags=LZ4, size=9)))]))
    return str(path)


class Slow(Executor):
    """Runs a task when its result is asked for, and counts those that wait for it."""

    def __init__(self) -> None:
        self.waiting = self.most = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        executor = self

        class Later(Future[Any]):
            def result(self, timeout: float | None = None) -> Any:
                executor.waiting -= 1
                return fn(*args, **kwargs)

        return Later()


def test_images_come_in_order_and_the_file_last(library: str) -> None:
    reports, problems = lint_files([library], Options(select=("PTX903",)), jobs=1)
    members = [f"{n}.sm_80.ptx" for n in range(1, 31)]
    assert [report.member for report in reports] == [*members, None]
    assert [len(report.findings) for report in reports] == [1] * 30 + [0]
    (problem,) = problems
    assert str(problem).startswith(f"{library}!31.sm_80.ptx: is no LZ4 block")


def test_a_library_is_not_unpacked_at_once(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    slow = Slow()
    reports, _ = lint_files([library], Options(), executor=slow)
    assert len(reports) == 31
    assert slow.most == batch._AHEAD + 1


def test_the_python_functions_read_binaries(library: str) -> None:
    with pytest.raises(InputError, match="is no LZ4 block"):
        ptxlint.check_path(library)
    images = list(ptxlint.open_inputs(library))
    assert len(images) == 31
    assert isinstance(images[0], ptxlint.Image)
    assert images[0].load() == MARKED


def test_without_a_rule_about_ptx_no_ptx_is_read(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Image, "load", None)
    reports, problems = lint_files([library], Options(select=("SAS",)), jobs=1)
    assert [report.member for report in reports] == [None]
    assert problems == []


def test_another_extractor_takes_the_place_of_ours(
    library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(path: str) -> Inputs:
        return Inputs(Source(container(entry(MARKED, sm=75))), path)

    monkeypatch.setattr("ptxlint.inputs.images.open_inputs", opened)
    monkeypatch.setitem(registered.EXTRACTORS, "other", ("images", "open_inputs"))
    reports, _ = lint_files([library], Options(), extract_with="other")
    assert [report.member for report in reports] == ["1.sm_75.ptx", None]
