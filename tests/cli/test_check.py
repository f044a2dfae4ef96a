"""What check prints, and where."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import HEAD, ROOT, Run


def test_data_on_stdout_summary_on_stderr(run: Run, good: str, bad: str) -> None:
    done = run("--output-format", "concise", good, bad)
    assert done.stdout == (
        "bad.ptx:4:1: PTX903 warning `ignore` names no rule, so it suppresses nothing "
        "[blanket-suppression]\n"
    )
    assert done.stderr == "1 warning in 2 files\n"
    assert run("-q", bad).stderr == ""


def test_verbose_and_statistics(run: Run, bad: str) -> None:
    done = run("-v", "--statistics", bad)
    assert done.stderr.splitlines() == [
        "     1  PTX903  warning  blanket-suppression",
        "ptxlint: bad.ptx: parsed full, 0 kernels",
        "1 warning in 1 file",
    ]


def test_reports_to_files_besides(run: Run, bad: str, tmp_path: Path) -> None:
    done = run("--output", "json=r.json", "--output=sarif=r.sarif", bad)
    assert done.returncode == 1
    assert "warning[PTX903]" in done.stdout
    assert json.loads((tmp_path / "r.json").read_text())["summary"]["warning"] == 1
    assert json.loads((tmp_path / "r.sarif").read_text())["version"] == "2.1.0"
    failed = run("--output", "json=none/r.json", bad)
    assert failed.returncode == 2
    assert "none/r.json: can't be written: no such file or directory" in failed.stderr


def test_standard_input(run: Run) -> None:
    done = run(
        "--output-format",
        "json",
        "--stdin-filename",
        "k.ptx",
        "-",
        stdin=HEAD + "// ptxlint: ignore\n",
    )
    assert done.returncode == 1
    value = json.loads(done.stdout)
    assert [file["path"] for file in value["files"]] == ["k.ptx"]
    assert [d["path"] for d in value["diagnostics"]] == ["k.ptx"]
    assert run("-", stdin=b"\x7fELF").stderr.startswith("ptxlint: <stdin>: is an ELF file cut off")


def test_selection_and_suppression_flags(run: Run, bad: str) -> None:
    assert run("--ignore", "PTX9", bad).returncode == 0
    assert run("--select", "unused-suppression", bad).returncode == 0
    assert run("--select", "PTX901", "--extend-select", "PTX903", bad).returncode == 1


def test_files_flags(run: Run, good: str, bad: str, tmp_path: Path) -> None:
    (tmp_path / "k.txt").write_text(HEAD + "// ptxlint: ignore\n")
    assert run(".").stderr == "1 warning in 2 files\n"
    assert run("--exclude", "bad.ptx", ".").stderr == "nothing found in 1 file\n"
    assert run("--exclude", "bad.ptx", bad).returncode == 1
    forced = run("--force-exclude", "--exclude", "bad.ptx", bad)
    assert (forced.returncode, forced.stderr) == (0, "")
    assert run("--include", "*.txt", ".").stderr == "1 warning in 1 file\n"


def test_processes_and_cache_change_nothing(run: Run, good: str, bad: str, tmp_path: Path) -> None:
    plain = run("--no-cache", "--output-format", "json", ".")
    assert not (tmp_path / ".c").exists()
    for arguments in (["-j", "2"], [], ["-j2", "--no-cache"]):
        done = run("--output-format", "json", *arguments, ".")
        assert (done.stdout, done.returncode) == (plain.stdout, plain.returncode)
    assert (tmp_path / ".c" / "ptxlint").is_dir()


@pytest.mark.parametrize(
    ("arguments", "env", "coloured"),
    [
        ([], {}, False),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ([], {"FORCE_COLOR": ""}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour(
    run: Run, bad: str, arguments: list[str], env: dict[str, str], coloured: bool
) -> None:
    assert ("\x1b[" in run(*arguments, bad, env=env).stdout) is coloured


def test_a_reader_that_goes_away(run: Run, tmp_path: Path) -> None:
    (tmp_path / "many.ptx").write_text(HEAD + "// ptxlint: ignore\n" * 3000)
    command = f"'{sys.executable}' -m ptxlint many.ptx | head -n 1"
    done = subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        },
        check=False,
    )
    assert done.stdout.startswith("warning[PTX903]")
    assert "Error" not in done.stderr
    assert "Traceback" not in done.stderr


def test_any_name_can_be_printed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "\N{GREEK SMALL LETTER ALPHA}.ptx").write_bytes(
        b".version 8.0 // \xff\n// ptxlint: ignore\n"
    )
    done = run(".", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert "\\u03b1.ptx:2:1" in done.stdout


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout.startswith("ptxlint 0.")
    assert "exit status" in run("--help").stdout
    assert "--extend-select" in run("check", "--help").stdout


def test_nothing_heavy_is_loaded(tmp_path: Path) -> None:
    """Modules that cost more to load than a small file costs to lint."""
    (tmp_path / "k.ptx").write_text(HEAD + "// ptxlint: ignore\n")
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from ptxlint.cli.main import main\n"
        "main(['--no-cache', 'k.ptx'])\n"
        "heavy = {'rich', 'networkx', 'jsonschema', 'multiprocessing', 'concurrent', 'difflib'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert "warning[PTX903]" in done.stdout
    assert done.stderr.splitlines()[1:] in ([], [""])
