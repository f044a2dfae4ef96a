"""Wavefronts and sectors of the accesses of whole kernels, as Nsight Compute counts them.

Three steps. On any machine, choose kernels (those of ``shapes``, corpus/ptx, and PTX files given):

    python bench/gpu/kernels.py prepare build/gpu [FILE.ptx …]

On one with a GPU, ncu and ptxas, run each under ncu, its source counters kept by SASS address:

    python bench/gpu/kernels.py profile build/gpu OUT

Then join SASS to PTX lines, and write what was counted of each PTX access:

    python bench/gpu/kernels.py collect build/gpu OUT tests/analysis/memory/kernels_sm90.json

Parameters are made up: a pointer gets 64 MiB of zeros, an integer 1,024, a float 1. Kernels that
need more (tensor maps, structures) are left out, and so is one that does not end well.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

POINTEE = 64 << 20
INTEGER = 1024
DYNAMIC = 200 << 10
_ENDLESS = {"timers", "persistent_flags"}  # wait for what another launch does
_LONGEST = 440  # seconds
_DEBUG = re.compile(r"^\s*\.(loc|file)\b.*$", re.MULTILINE)
_SECTION = re.compile(r"^\s*\.section\s+\.debug\w*\s*\{[^}]*\}", re.MULTILINE)
_FLOATS = {"f32": struct.pack("<f", 1.0), "f64": struct.pack("<d", 1.0)}


def prepare(folder: Path, extra: list[Path]) -> None:
    """Write one PTX without line information and one job for each kernel."""
    from bench.gpu.shapes import kernels
    from ptxlint import parse

    folder.mkdir(parents=True, exist_ok=True)
    jobs = [
        _job(folder, f"shapes/{kernel.name}", kernel.ptx, "k", kernel.block, ["p", "p"])
        for kernel in kernels()
    ]
    corpus = sorted((ROOT / "corpus" / "ptx").glob("sm_*/*.ptx"))
    for path in [*extra, *(p for p in corpus if p.name.count(".") == 1)]:
        text = without_lines(path.read_text(encoding="utf-8"))
        module = parse(text)
        for function in module.kernels:
            parameters = [_kind(p, ".ptr" in text) for p in function.parameters]
            if None not in parameters and path.stem not in _ENDLESS:
                name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else Path(path.name)
                block = _block(function, text)
                jobs.append(_job(folder, str(name), text, function.name, block, parameters))
    (folder / "jobs.json").write_text(json.dumps(jobs, indent=1), encoding="utf-8")
    print(f"{len(jobs)} kernels")


def without_lines(text: str) -> str:
    """PTX without line information: then the assembler's own leads to the lines of the PTX."""
    return _SECTION.sub("", _DEBUG.sub("", text))


def _job(
    folder: Path, source: str, text: str, kernel: str, block: tuple[int, int, int], parameters: Any
) -> dict[str, Any]:
    number = len(list(folder.glob("*.ptx")))
    (folder / f"{number}.ptx").write_text(text, encoding="utf-8")
    dynamic = DYNAMIC if re.search(r"\.extern\s+\.shared", text) else 0
    return {
        "number": number,
        "source": source,
        "kernel": kernel,
        "block": block,
        "parameters": parameters,
        "dynamic": dynamic,
        "target": "sm_90a" if re.search(r"^\.target\s+sm_90a", text, re.MULTILINE) else "sm_90",
    }


def _kind(parameter: Any, marked: bool) -> str | None:
    """``p`` for a pointer, the type of a number, None for anything else.

    ``marked``: the file marks its pointers by .ptr, so that other 64-bit parameters are numbers.
    """
    if parameter.dimensions:
        return None
    if parameter.pointer is not None or (parameter.type in ("u64", "b64") and not marked):
        return "p"
    known = ("u32", "s32", "b32", "u64", "s64", "b64", "f32", "f64")
    return str(parameter.type) if parameter.type in known else None


def _block(function: Any, text: str) -> tuple[int, int, int]:
    for directive in function.directives:
        if directive.name == "reqntid":
            x, y, z = ([int(str(a)) for a in directive.arguments] + [1, 1])[:3]
            return x, y, z
    most = next((int(str(d.arguments[0])) for d in function.directives if d.name == "maxntid"), 256)
    body = text[function.start : function.end]
    return (32, min(8, most // 32), 1) if "%tid.y" in body else (min(most, 128), 1, 1)


def launch(folder: Path, number: int, cubin: Path) -> None:
    """Run one kernel."""
    from bench.gpu.driver import Device

    job = json.loads((folder / "jobs.json").read_text())[number]
    device = Device()
    function = device.function(device.load_image(cubin.read_bytes()), job["kernel"])
    parameters = []
    for kind in job["parameters"]:
        if kind == "p":
            parameters.append(struct.pack("<Q", device.memory(POINTEE)))
        elif kind in _FLOATS:
            parameters.append(_FLOATS[kind])
        else:
            parameters.append(struct.pack("<q" if "64" in kind else "<i", INTEGER))
    if job["dynamic"]:
        device.allow_shared(function, job["dynamic"])
    device.launch(function, tuple(job["block"]), parameters, shared=job["dynamic"])


def profile(folder: Path, out: Path) -> None:
    """Assemble and run all kernels under ncu; keep the cubin and the counters of those that end."""
    jobs = json.loads((folder / "jobs.json").read_text())
    with ThreadPoolExecutor(8) as pool:
        built = list(pool.map(lambda job: _assemble(folder, out, job), jobs))
    start = time.monotonic()
    for job, good in zip(jobs, built, strict=True):
        if good and time.monotonic() - start < _LONGEST:
            _profile(folder, out, job)


def _assemble(folder: Path, out: Path, job: dict[str, Any]) -> bool:
    number = job["number"]
    command = ["ptxas", f"-arch={job['target']}", "-lineinfo", str(folder / f"{number}.ptx")]
    command += ["-o", str(out / f"{number}.cubin")]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _profile(folder: Path, out: Path, job: dict[str, Any]) -> None:
    number = job["number"]
    command = ["ncu", "--csv", "--page", "source", "--print-units", "base"]
    command += ["--section", "SourceCounters", "--clock-control", "none", "--cache-control", "none"]
    command += [sys.executable, __file__, "launch", str(folder), str(number)]
    command += [str(out / f"{number}.cubin")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        printed, _ = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # a kernel that spins would hold up all others
        process.communicate()
        print(job["source"], "timeout", flush=True)
        return
    if process.returncode or '"Source"' not in printed:
        print(job["source"], printed[-200:].replace("\n", " "), flush=True)
        return
    (out / f"{number}.csv").write_text(printed, encoding="utf-8")


def collect(folder: Path, out: Path, file: Path, everything: bool) -> None:
    """Join the counters to PTX lines and write them; of kernels that are in the repository only,
    or ``everything``.
    """
    from ptxlint.inputs.cubin import Cubin
    from ptxlint.inputs.lineprogram import SASS_TO_PTX, lines

    found = []
    for job in json.loads((folder / "jobs.json").read_text()):
        number = job["number"]
        if not (out / f"{number}.csv").exists() or not (everything or "/" in job["source"]):
            continue
        table = rows((out / f"{number}.csv").read_text(encoding="utf-8"))
        cubin = Cubin((out / f"{number}.cubin").read_bytes())
        places, section = lines(cubin, SASS_TO_PTX), f".text.{job['kernel']}"
        start = int(table[0]["Address"], 16)
        accesses = []
        for row in table:
            if row.get("Address Space") not in ("Shared", "Global", "Global(Shared)"):
                continue
            at = places.at(section, int(row["Address"], 16) - start)
            if at is not None and int(row["Instructions Executed"]):
                accesses.append([at.place.line, *_counted(row)])
        if accesses:
            head = {key: job[key] for key in ("source", "kernel", "block", "number")}
            found.append({**head, "accesses": accesses})
    columns = ["line", "sass", "bits", "executed by warps", "by lanes", "wavefronts", "sectors"]
    head = {"gpu": "NVIDIA H200", "tool": "Nsight Compute", "made_by": "bench/gpu/kernels.py"}
    body = ",\n".join(json.dumps(kernel, separators=(",", ":")) for kernel in found)
    text = json.dumps({**head, "columns": columns})[:-1] + f', "kernels": [\n{body}\n]}}\n'
    file.write_text(text, encoding="utf-8")
    print(f"{len(found)} kernels, {sum(len(k['accesses']) for k in found)} accesses")


def _counted(row: dict[str, str]) -> list[Any]:
    opcode = next(w for w in row["Source"].split() if not w.startswith("@")).rstrip(",")
    names = ("Access Size", "Instructions Executed", "Predicated-On Thread Instructions Executed")
    numbers = [*names, "L1 Wavefronts Shared", "L2 Theoretical Sectors Global"]
    # A column is missing where no instruction of the kernel has it.
    return [opcode, *(int(row.get(name, "0").replace("-", "0")) for name in numbers)]


def rows(text: str) -> list[dict[str, str]]:
    """The table of SASS instructions in what ncu printed."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if '"Source"' in line)
    return list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, words in (
        ("prepare", ("folder",)),
        ("profile", ("folder", "out")),
        ("launch", ("folder", "number", "cubin")),
        ("collect", ("folder", "out", "file")),
    ):
        command = commands.add_parser(name)
        for word in words:
            command.add_argument(word, type=int if word == "number" else Path)
        if name == "collect":
            command.add_argument("--everything", action="store_true")
        if name == "prepare":
            command.add_argument("files", nargs="*", type=Path)
    flags = parser.parse_args()
    if flags.command == "prepare":
        prepare(flags.folder, flags.files)
    elif flags.command == "profile":
        profile(flags.folder, flags.out)
    elif flags.command == "collect":
        collect(flags.folder, flags.out, flags.file, flags.everything)
    else:
        launch(flags.folder, flags.number, flags.cubin)


if __name__ == "__main__":
    main()
