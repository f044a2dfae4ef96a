"""Exit statuses and bad input: 0, 1, 2; one line; no traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .conftest import HEAD, Run


def test_found_and_not_found(run: Run, good: str, bad: str) -> None:
    assert run("check", good).returncode == 0
    assert run(good).returncode == 0
    assert run(bad).returncode == 1
    assert run(good, bad).returncode == 1


@pytest.mark.parametrize(
    ("level", "severity", "status"),
    [
        ("warning", "warning", 1),
        ("error", "warning", 0),
        ("error", "error", 1),
        ("info", "info", 1),
        ("warning", "info", 0),
        ("never", "error", 0),
    ],
)
def test_fail_on(run: Run, bad: str, level: str, severity: str, status: int) -> None:
    done = run("--fail-on", level, "--severity", f"PTX903={severity}", bad)
    assert done.returncode == status
    assert f"{severity}[PTX903]" in done.stdout


@pytest.mark.parametrize("format", ["full", "concise", "json", "json-lines", "sarif", "github"])
def test_the_format_never_changes_the_status(run: Run, good: str, bad: str, format: str) -> None:
    assert run("--output-format", format, good).returncode == 0
    assert run("--output-format", format, bad).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--select", "PTX31415"], "unknown rule or prefix 'PTX31415'"),
        (["--ignore", "blanket-supression"], "did you mean 'blanket-suppression'?"),
        (["--frobnicate"], "unknown flag '--frobnicate'"),
        (["--statistic"], "unknown flag '--statistic'; did you mean '--statistics'?"),
        (["--output-format", "jsn"], "unknown format 'jsn'; did you mean 'json'?"),
        (["--output", "json"], "--output takes FORMAT=PATH"),
        (["--output", "nope=x"], "unknown format 'nope'"),
        (["--severity", "PTX903"], "--severity takes CODE=LEVEL"),
        (["--severity", "PTX903=fatal"], "not a level: 'fatal'"),
        (["--block", "0"], "not a block shape: '0'"),
        (["--target", "a100"], "not a target: 'a100'"),
        (["--fail-on", "always"], "invalid choice: 'always'"),
        (["-j", "many"], "not a number of processes: 'many'"),
        (["--select"], "expected one argument"),
    ],
)
def test_usage_errors_are_one_line(run: Run, good: str, arguments: list[str], said: str) -> None:
    done = run("check", good, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.startswith("ptxlint: error: ")
    assert done.stderr.count("\n") == 1


def test_no_arguments(run: Run) -> None:
    done = run()
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: ptxlint")
    assert run("check").returncode == 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("p.ptx", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "a binary of unknown kind"),
        ("noise.ptx", bytes((i * 7919 + i // 3) % 256 for i in range(3000)), "unknown kind"),
        ("t.cubin", b"\x7fELF\x02\x01\x01" + b"\0" * 40, "is an ELF file cut off"),
        ("f.fatbin", b"\x50\xed\x55\xba" + b"\0" * 40, "a fatbin of version 0"),
    ],
)
def test_binaries(
    run: Run, good: str, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(content)
    done = run(name, good)
    assert done.returncode == 2
    line, summary = done.stderr.splitlines()
    assert line.startswith(f"ptxlint: {name}: ")
    assert said in line
    assert summary == "nothing found in 1 file"


def test_a_missing_path_among_others(run: Run, bad: str) -> None:
    done = run("nope.ptx", bad)
    assert done.returncode == 2
    assert "ptxlint: nope.ptx: no such file or directory\n" in done.stderr
    assert "warning[PTX903]" in done.stdout


def test_a_directory_with_nothing_in_it(run: Run, tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    done = run("none")
    assert done.returncode == 2
    assert done.stderr == "ptxlint: none: no file in this directory matches *.ptx\n"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read any file")
def test_a_file_without_read_permission(run: Run, good: str, bad: str, tmp_path: Path) -> None:
    (tmp_path / good).chmod(0)
    done = run(good, bad)
    assert done.returncode == 2
    assert f"ptxlint: {good}: permission denied\n" in done.stderr
    assert "warning[PTX903]" in done.stdout


def test_text_that_ends_in_nul_is_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "z.ptx").write_bytes(HEAD.encode() + b"\0")
    assert run("z.ptx").returncode in (0, 1)


@pytest.mark.parametrize("content", [b"", b"a" * 20_000_000, HEAD.encode() + b"{" * 50_000])
def test_text_that_is_no_ptx_ends_without_a_traceback(
    run: Run, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "x.ptx").write_bytes(content)
    done = run("x.ptx")
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stdout + done.stderr
    assert all(len(line) < 300 for line in done.stdout.splitlines())


def test_an_internal_error_is_one_line(run: Run, good: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import ptxlint.engine.batch as batch\n"
        "def broken(*a, **k): raise RuntimeError('two\\nlines')\n"
        "batch.lint_files = broken\n"
    )
    env = {"PYTHONPATH": os.pathsep.join((str(tmp_path), str(Path(__file__).parents[2])))}
    done = run(good, env=env)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "internal error: RuntimeError: two lines" in done.stderr
    assert "Traceback" in run("-v", good, env=env).stderr
