"""What compute-sanitizer says of the cases about barriers and shared memory, beside ptxlint.

    python bench/gpu/races.py tests/rules/races_sm90.json

runs each kernel of corpus/cases that PTX210, 211, 214 or 220 is about, and its corrected twin,
under racecheck and synccheck, in a process of its own, and writes how many errors each gave
(``hang`` where it had to be killed). Needs compute-sanitizer and a GPU.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

CASES = ROOT / "corpus" / "cases"
CODES = ("PTX210", "PTX211", "PTX214", "PTX220")
TOOLS = ("racecheck", "synccheck")
_SUMMARY = re.compile(r"(?:RACECHECK|ERROR) SUMMARY: (\d+)")
_LONGEST = 30
_NUMBER = 20  # what a parameter that is no pointer is


def chosen() -> list[str]:
    """The names of the bad cases with such a code, and of their twins."""
    found = []
    for path in sorted(CASES.glob("*.bad.ptx")):
        text = path.read_text(encoding="utf-8")
        if any(f"//~ {code}" in text for code in CODES) and "entry" in text:
            found += [path.name, path.name.replace(".bad.", ".good.")]
    return found


def launch(path: str) -> None:
    """Run the kernel of one file, with the block that .reqntid demands."""
    from bench.gpu.driver import Device

    text = Path(path).read_text(encoding="utf-8")
    name = re.search(r"\.entry (\w+)\(([^)]*)\)", text)
    shape = re.search(r"\.reqntid (\d+), (\d+), (\d+)", text)
    if name is None or shape is None:
        sys.exit("no kernel with .reqntid")
    device = Device()
    function = device.function(device.load(text), name[1])
    x, y, z = map(int, shape.groups())
    given = []
    for parameter in name[2].split(","):
        pointer = ".u64" in parameter
        given.append(
            struct.pack("<Q", device.memory(1 << 16)) if pointer else struct.pack("<I", _NUMBER)
        )
    device.launch(function, (x, y, z), given)


def errors(tool: str, name: str) -> int | str:
    """How many errors a tool of compute-sanitizer reports for a case."""
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    command = [sanitizer, "--tool", tool, sys.executable, __file__, "--launch", str(CASES / name)]
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = child.communicate(timeout=_LONGEST)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return "hang"
    summary = _SUMMARY.search(output)
    return int(summary[1]) if summary is not None else f"no summary: {output[-160:]}"


def main() -> None:
    """The command line: the file to write, or ``--launch`` and a case."""
    if sys.argv[1] == "--launch":
        launch(sys.argv[2])
        return
    names = chosen()
    jobs = [(tool, name) for name in names for tool in TOOLS]
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda job: errors(*job), jobs))
    rows = {name: {} for name in names}  # type: dict[str, dict[str, int | str]]
    for (tool, name), result in zip(jobs, results, strict=True):
        rows[name][tool] = result
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    head = '"source": "compute-sanitizer, NVIDIA H200, sm_90"'
    Path(sys.argv[1]).write_text(f'{{\n {head},\n "cases": {{\n{lines}\n }}\n}}\n')
    print(lines)


if __name__ == "__main__":
    main()
