"""Which files a path stands for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ptxlint.inputs import Patterns, find


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("a.ptx", "b.txt", "sub/c.ptx", "sub/gen/d.ptx", ".hidden/e.ptx", "sub/f.PTX"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    return tmp_path


def found(tree: Path, *patterns: object, paths: tuple[str, ...] = ("",)) -> list[str]:
    files, problems = find([str(tree / path) for path in paths], Patterns(*patterns))  # type: ignore[arg-type]
    assert problems == []
    return [os.path.relpath(file, tree) for file in files]


def test_directories_are_searched_for_ptx(tree: Path) -> None:
    assert found(tree) == ["a.ptx", "sub/c.ptx", "sub/gen/d.ptx"]


def test_include_replaces_what_is_taken(tree: Path) -> None:
    assert found(tree, ("*.txt", "sub/*.ptx")) == ["b.txt", "sub/c.ptx", "sub/gen/d.ptx"]


@pytest.mark.parametrize("glob", ["sub", "sub/", "sub/*"])
def test_exclude_takes_folders_and_files_out(tree: Path, glob: str) -> None:
    assert found(tree, ("*.ptx",), (glob,)) == ["a.ptx"]


def test_named_files_are_excluded_only_by_force(tree: Path) -> None:
    named = ("a.ptx", "b.txt", "sub/gen/d.ptx")
    assert found(tree, ("*.ptx",), ("a.ptx", "gen"), paths=named) == list(named)
    assert found(tree, ("*.ptx",), ("a.ptx", "gen"), True, paths=named) == ["b.txt"]


def test_a_file_is_read_once_and_stdin_has_its_place(tree: Path) -> None:
    files, _ = find([str(tree / "a.ptx"), "-", str(tree)], Patterns())
    assert [os.path.basename(file) for file in files] == ["a.ptx", "-", "c.ptx", "d.ptx"]


def test_what_is_missing_or_empty_is_a_problem(tmp_path: Path) -> None:
    files, problems = find([str(tmp_path), str(tmp_path / "x.ptx")], Patterns())
    assert files == []
    assert [problem.reason for problem in problems] == [
        "no file in this directory matches *.ptx",
        "no such file or directory",
    ]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read any directory")
def test_a_directory_without_read_permission_is_a_problem(tree: Path) -> None:
    (tree / "sub").chmod(0)
    try:
        files, problems = find([str(tree)], Patterns())
    finally:
        (tree / "sub").chmod(0o755)
    assert [os.path.basename(file) for file in files] == ["a.ptx"]
    assert [(p.path, p.reason) for p in problems] == [(str(tree / "sub"), "permission denied")]
