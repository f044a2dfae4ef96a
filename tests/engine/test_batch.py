"""Many files: order, unreadable ones, processes, the cache, the Python functions."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ptxlint
from ptxlint.engine import batch, cache
from ptxlint.engine.batch import lint_files
from ptxlint.engine.options import Options, UsageError
from ptxlint.engine.serial import report_of, report_value
from ptxlint.model import Edit, FileReport, Finding, Fix, Label, Position, SourceLine, Span

TEXT = ".version 8.0\n.target sm_80\n// ptxlint: ignore\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{n}.ptx" for n in range(5)]
    for path in paths:
        path.write_text(TEXT)
    paths[2].write_bytes(b"\x7fELF\x02")
    return [str(path) for path in paths]


@pytest.mark.parametrize("jobs", [1, 2])
def test_reports_come_in_order_and_unreadable_files_apart(files: list[str], jobs: int) -> None:
    reports, problems = lint_files([*files, "/nowhere.ptx"], Options(), jobs=jobs)
    assert [report.path for report in reports] == files[:2] + files[3:]
    assert [finding.code for report in reports for finding in report.findings] == ["PTX903"] * 4
    assert [problem.path for problem in problems] == [files[2], "/nowhere.ptx"]
    assert "is an ELF file cut off" in problems[0].reason
    assert problems[1].reason == "no such file or directory"


def test_an_executor_takes_the_place_of_the_pool(files: list[str]) -> None:
    with ThreadPoolExecutor(2) as executor:
        reports, problems = lint_files(files, Options(), executor=executor)
    assert [report.path for report in reports] == files[:2] + files[3:]
    assert len(problems) == 1


def test_unknown_rules_are_refused_before_anything_is_read() -> None:
    with pytest.raises(UsageError):
        lint_files(["/nowhere.ptx"], Options(select=("PTX31415",)))


def test_the_cache_gives_what_was_found(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    first, _ = lint_files(files[:1], Options(), cached=True)
    monkeypatch.setattr("ptxlint.engine.runner.parse", None)  # nothing is parsed any more
    again, _ = lint_files(files[3:4], Options(), cached=True)
    assert again[0].path == files[3]
    assert (again[0].findings, again[0].lines) == (first[0].findings, first[0].lines)
    assert again[0].parsed == first[0].parsed


def test_a_broken_cache_is_no_cache(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lint_files(files[:1], Options(), cached=True)
    (entry,) = (tmp_path / "ptxlint").rglob("*.json")
    entry.write_text('{"parsed": "full"')
    reports, _ = lint_files(files[:1], Options(), cached=True)
    assert [f.code for f in reports[0].findings] == ["PTX903"]
    assert json.loads(entry.read_text())["findings"]
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    reports, _ = lint_files(files[:1], Options(), cached=True)
    assert [f.code for f in reports[0].findings] == ["PTX903"]


def test_the_key_is_content_and_options() -> None:
    key = cache.key(b"a", Options())
    assert key == cache.key(b"a", Options(fail_on=None))
    assert key != cache.key(b"b", Options())
    assert key != cache.key(b"a", Options(block=(32, 1, 1)))


def test_a_finding_survives_being_remembered() -> None:
    span = Span(Position(1, 2), Position(3, 4))
    finding = Finding(
        code="PTX301",
        name="misaligned-access",
        severity=ptxlint.Severity.ERROR,
        confidence=ptxlint.Confidence.LOW,
        message="m",
        span=span,
        kernel="_Z1kv",
        kernel_demangled="k()",
        labels=(Label(span, "declared here"),),
        notes=("n",),
        help="h",
        fix=Fix("align it", (Edit(span, "x"),), safe=False),
        assumptions=("a",),
        witness={"block": [1, 1, 1]},
        data={"width": 16},
        source=(SourceLine("a.cu", 1, 0), SourceLine("b.cu", 2, 3)),
        fingerprint="0" * 16,
        suppressed="inline",
    )
    report = FileReport("p.ptx", "partial", [finding], ["_Z1kv"], unanalysed=[span], lines=["x"])
    value = json.loads(json.dumps(report_value(report)))
    assert report_of(value, "p.ptx", ["x"]) == report


def test_more_work_gets_more_processes(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert batch._jobs(files) == 1
    monkeypatch.setattr(batch, "_WORTH_WORKERS", 10)
    assert batch._jobs(files) == len(os.sched_getaffinity(0))


def test_check_path_and_check_text(files: list[str], tmp_path: Path) -> None:
    assert [f.code for f in ptxlint.check_path(files[0])] == ["PTX903"]
    assert [f.code for f in ptxlint.check_text(TEXT)] == ["PTX903"]
    assert ptxlint.check_text(TEXT, ignore="PTX9") == []
    ignored = ".version 8.0\n.target sm_80\n// ptxlint: file-ignore[PTX903]\n// ptxlint: ignore\n"
    assert ptxlint.check_text(ignored) == []
    with pytest.raises(OSError, match="no such file"):
        ptxlint.check_path(tmp_path / "none.ptx")
    with pytest.raises(OSError, match="ELF"):
        ptxlint.check_path(files[2])
    with pytest.raises(ValueError, match="did you mean 'select'"):
        ptxlint.check_text(TEXT, selct="ALL")


def test_the_public_names() -> None:
    for name in ptxlint.__all__:
        assert getattr(ptxlint, name) is not None
    assert set(ptxlint.__all__) <= set(dir(ptxlint))
    with pytest.raises(AttributeError, match="nonsense"):
        ptxlint.nonsense  # noqa: B018


def dying(task: batch.Task) -> FileReport:
    os._exit(1)


def test_a_worker_that_dies_is_a_file_that_was_not_read(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch, "lint_file", dying)
    reports, problems = lint_files(files[:2], Options(), jobs=2)
    assert reports == []
    assert [problem.path for problem in problems] == files[:2]
    assert "worker process that read it died" in problems[0].reason
