"""ptxlint as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]
ROOT = Path(__file__).resolve().parents[2]
HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run ``ptxlint ARGUMENTS`` in an empty folder, with a cache of its own."""

    def run(
        *arguments: str, stdin: bytes | str = "", env: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        content = stdin.encode() if isinstance(stdin, str) else stdin
        plain = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
        path = os.pathsep.join(p for p in (str(ROOT), plain.get("PYTHONPATH")) if p)
        done = subprocess.run(
            [sys.executable, "-m", "ptxlint", *arguments],
            input=content,
            capture_output=True,
            cwd=tmp_path,
            env={
                **plain,
                "PYTHONPATH": path,
                "XDG_CACHE_HOME": str(tmp_path / ".c"),
                **(env or {}),
            },
            timeout=120,
            check=False,
        )
        out, err = done.stdout.decode(), done.stderr.decode()
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    return run


@pytest.fixture
def good(tmp_path: Path) -> str:
    """A file with nothing to find, by its name in the folder of the run."""
    (tmp_path / "good.ptx").write_text(HEAD)
    return "good.ptx"


@pytest.fixture
def bad(tmp_path: Path) -> str:
    """A file with one warning, PTX903."""
    (tmp_path / "bad.ptx").write_text(HEAD + "// ptxlint: ignore\n")
    return "bad.ptx"
