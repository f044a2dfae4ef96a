"""What diff prints, and its exit statuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import HEAD, ROOT, Run

CORPUS = ROOT / "corpus" / "ptx" / "sm_80"
ONE = HEAD + (
    ".visible .entry _Z1fPi(.param .u64 p)\n.maxntid 64\n{\n.reg .b64 %rd<2>;\n"
    ".shared .b32 t[4];\nld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], 1;\nret;\n}\n"
)
SAME = ONE.replace("%rd", "%q").replace("p)", "x)").replace("[p]", "[x]").replace(", 1;", ", 0x1;")
OTHER = ONE.replace("64\n{", "32\n{").replace("st.global", "red.global.add").replace("[4]", "[8]")


@pytest.fixture(autouse=True)
def texts(tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text(ONE)
    (tmp_path / "same.ptx").write_text(SAME)
    (tmp_path / "b.ptx").write_text(OTHER)
    (tmp_path / "head.ptx").write_text(ONE.replace(".version 8.0", ".version 8.1"))


def test_equal(run: Run) -> None:
    assert SAME != ONE
    done = run("diff", "--fail-on", "changed", "a.ptx", "same.ptx")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "1 kernel equal\n")
    assert run("diff", "-q", "a.ptx", "same.ptx").stderr == ""


def test_changed(run: Run) -> None:
    done = run("diff", "a.ptx", "b.ptx")
    assert (done.returncode, done.stderr) == (0, "1 kernel changed\n")
    assert done.stdout.splitlines() == [
        "--- a.ptx",
        "+++ b.ptx",
        "kernel f(int*): changed",
        "  shared bytes: 16 → 32",
        "  .maxntid: 64 → 32",
        "  objects: .shared .b32[4] → .shared .b32[8]",
        "  opcodes: +1 red.global.add.u32, -1 st.global.u32",
    ]
    assert run("diff", "--fail-on", "changed", "a.ptx", "b.ptx").returncode == 1
    assert run("diff", "--fail-on", "never", "a.ptx", "b.ptx").returncode == 0


def test_verbose_has_a_diff_and_fingerprints(run: Run) -> None:
    lines = run("diff", "-v", "a.ptx", "b.ptx").stdout.splitlines()
    assert "  -st.global.u32 [%b64_0], 1" in lines
    assert "  +red.global.add.u32 [%b64_0], 1" in lines
    head = next(line for line in lines if line.startswith("kernel"))
    assert len(head.split()[-1]) == 32
    equal = run("diff", "-v", "a.ptx", "same.ptx").stdout
    assert "kernel f(int*): equal " in equal


def test_a_long_diff_is_cut(run: Run, tmp_path: Path) -> None:
    rows = "st.global.u32 [%rd1], 1;\n"
    (tmp_path / "long.ptx").write_text(ONE.replace(rows, rows * 200))
    lines = run("diff", "-v", "a.ptx", "long.ptx").stdout.splitlines()
    assert len(lines) < 80
    assert lines[-1].startswith("  … ")
    assert lines[-1].endswith(" more lines")


def test_the_head_of_the_module_counts(run: Run) -> None:
    done = run("diff", "--fail-on", "changed", "a.ptx", "head.ptx")
    assert done.returncode == 1
    assert done.stdout == "--- a.ptx\n+++ head.ptx\n.version: 8.0 → 8.1\n"
    assert done.stderr == "the module's head changed, 1 kernel equal\n"


def test_kernels_of_one_file_only(run: Run, tmp_path: Path) -> None:
    (tmp_path / "two.ptx").write_text(ONE + ".visible .entry g() { ret; }\n.func h() { ret; }\n")
    done = run("diff", "a.ptx", "two.ptx")
    assert "kernel g: added\nfunction h: added\n" in done.stdout
    assert done.stderr == "1 kernel added, 1 function added, 1 kernel equal\n"
    assert "kernel g: removed\n" in run("diff", "two.ptx", "a.ptx").stdout


def test_json(run: Run) -> None:
    value = json.loads(run("diff", "--output-format", "json", "a.ptx", "b.ptx").stdout)
    assert (value["schema_version"], value["before"], value["after"]) == (1, "a.ptx", "b.ptx")
    assert value["equal"] is False
    (function,) = value["functions"]
    assert (function["kind"], function["status"]) == ("kernel", "changed")
    assert function["demangled"] == "f(int*)"
    assert function["mix"] == {"red.global.add.u32": 1, "st.global.u32": -1}
    assert function["instructions"] == {"before": 3, "after": 3}
    assert {"what": "shared bytes", "before": 16, "after": 32} in function["changes"]
    assert function["fingerprints"]["before"] != function["fingerprints"]["after"]
    same = json.loads(run("diff", "--output-format", "json", "a.ptx", "same.ptx").stdout)
    assert same["equal"] is True
    assert same["functions"][0]["fingerprints"]["after"] == function["fingerprints"]["before"]


def test_line_information_and_debug_builds(run: Run) -> None:
    plain, lines, debug = (
        str(CORPUS / f"checked_call{kind}.ptx") for kind in ("", ".lineinfo", ".debug")
    )
    assert run("diff", "--fail-on", "changed", plain, lines).returncode == 0
    done = run("diff", "--fail-on", "changed", plain, debug)
    assert done.returncode == 1
    assert ".target: sm_80 → sm_80, debug\n" in done.stdout


def test_standard_input(run: Run) -> None:
    assert run("diff", "--fail-on", "changed", "a.ptx", "-", stdin=SAME).returncode == 0
    assert run("diff", "--fail-on", "changed", "-", "a.ptx", stdin=OTHER).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: A.ptx, B.ptx"),
        (["a.ptx"], "the following arguments are required: B.ptx"),
        (["a.ptx", "b.ptx", "c.ptx"], "unknown flag 'c.ptx'"),
        (["-", "-"], "only one of the two files can be standard input"),
        (["a.ptx", "b.ptx", "--fail-on", "spill"], "invalid choice: 'spill'"),
        (["a.ptx", "b.ptx", "--output-format", "full"], "invalid choice: 'full'"),
        (["a.ptx", "nope.ptx"], "nope.ptx: no such file or directory"),
    ],
)
def test_usage(run: Run, arguments: list[str], said: str) -> None:
    done = run("diff", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x7fELF\x02\x01\x01" + b"\0" * 40, "is a cubin or host ELF"),
        (ONE.replace("ret;", "ret").encode(), "not all of it is PTX (line 12)"),
        (b"", "not all of it is PTX"),
    ],
)
def test_what_can_not_be_compared(run: Run, tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "x.ptx").write_bytes(content)
    done = run("diff", "a.ptx", "x.ptx")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("ptxlint: x.ptx: ")
    assert said in done.stderr


def test_colour(run: Run) -> None:
    assert "\x1b[" in run("diff", "-v", "--color", "always", "a.ptx", "b.ptx").stdout
    assert "\x1b[" not in run("diff", "-v", "a.ptx", "b.ptx").stdout


def test_check_does_not_load_it(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from ptxlint.cli.main import main\n"
        "main(['--no-cache', 'a.ptx'])\n"
        "sys.exit(any('difference' in name or 'fingerprint' in name for name in sys.modules))"
    )
    command = [sys.executable, "-c", code, str(ROOT)]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
