"""The README says what is so: its first command's output, its rules."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from ptxlint.engine.registry import entries

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.S)


def test_the_first_command_prints_what_is_shown() -> None:
    command = blocks("sh")[0].split("&&")[-1].split()
    assert command[0].endswith("ptxlint")
    run = subprocess.run(
        [sys.executable, "-m", "ptxlint", *command[1:], "--no-cache", "--color", "never"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    shown = re.search(r"```\n(error\[.*?)```", README, re.S)
    assert shown is not None
    assert shown.group(1) == run.stdout + run.stderr


def test_the_second_command_is_what_ci_runs() -> None:
    install, test = blocks("sh")[1].strip().split(" && ")
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert install.split(maxsplit=1)[1] in ci
    assert test.endswith(" -m pytest")
    assert re.search(r'python" -m pytest$', ci, re.M)


def test_every_rule_is_in_the_table() -> None:
    rows = re.findall(r"^\| ((?:PTX|SAS)\d+) \| ([\w-]+) \| (\w+)(?:, preview)? \|", README, re.M)
    wanted = [(entry.code, entry.name, entry.severity.value) for entry in entries()]
    assert sorted(rows) == sorted(wanted)
