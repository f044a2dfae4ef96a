"""Kernels in processes of their own: a fault spoils a context, and what hangs must be killed."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

RESULT = "RESULT "  # what a child's one line of result begins with


def result(script: str, case: Any, longest: float) -> str:
    """What ``script --launch`` says of a case that it is given as JSON: after ``RESULT``."""
    child = subprocess.Popen(
        [sys.executable, script, "--launch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = child.communicate(json.dumps(case), timeout=longest)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return "timeout"
    line = next((x for x in output.splitlines() if x.startswith(RESULT)), None)
    return f"died: {errors[-200:]}" if line is None else line.removeprefix(RESULT)


def command_line(
    script: str,
    doc: str,
    launch: Callable[[], None],
    cases: Callable[[], dict[str, Any]],
    longest: float,
    children: int,
) -> None:
    """``script FILE`` runs all cases and writes the file; ``script --launch`` is a child."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--launch", action="store_true", help="one kernel, from standard input")
    flags = parser.parse_args()
    if flags.launch:
        launch()
    elif flags.file is not None:
        run_all(script, cases(), flags.file, longest, children)


def run_all(script: str, cases: dict[str, Any], file: Path, longest: float, children: int) -> None:
    """Run every case; write what each did as JSON, a row for each, and print how many did what."""
    with ThreadPoolExecutor(children) as pool:
        results = list(pool.map(partial(result, script, longest=longest), cases.values()))
    rows = [{"name": name, "result": did} for name, did in zip(cases, results, strict=True)]
    write(file, "one block of each kernel, NVIDIA H200, sm_90", rows)
    kinds = [did.split()[0] for did in results]
    print({kind: kinds.count(kind) for kind in sorted(set(kinds))})


def write(file: Path, source: str, rows: Sequence[dict[str, Any]]) -> None:
    """The rows as JSON, one a line."""
    lines = ",\n".join(json.dumps(row) for row in rows)
    file.write_text(f'{{"source": "{source}", "kernels": [\n{lines}\n]}}\n', encoding="utf-8")
