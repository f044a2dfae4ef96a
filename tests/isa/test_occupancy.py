"""Occupancy against the driver's answers and the toolkit's cuda_occupancy.h."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sysconfig
from itertools import product
from pathlib import Path

import pytest

from bench.gpu import launches
from ptxlint.inputs import tools
from ptxlint.inputs.cubin import Kernel
from ptxlint.inputs.ptxas import assembled
from ptxlint.isa.limits import capabilities, limits
from ptxlint.isa.occupancy import Bounds, launch_failure, occupancy, steps
from ptxlint.report.resources_gpus import static_shared

from .. import ptxas

HERE = Path(__file__).parent
CORPUS = HERE.parents[1] / "corpus" / "ptx" / "sm_80"
LAUNCHES = json.loads((HERE / "launches_sm90.json").read_text())
MEASURED = json.loads((HERE / "occupancy_sm90.json").read_text())["points"]
REGISTERS = (16, 24, 32, 33, 40, 48, 64, 65, 72, 80, 96, 120, 128, 168, 200, 248, 255)
THREADS = (1, 32, 33, 64, 96, 128, 160, 192, 256, 288, 384, 512, 544, 640, 768, 896, 1000, 1024)
SHARED = (0, 1, 1000, 4096, 16384, 20000, 33000, 49152, 65536, 99000, 101376, 166912, 232448)


def test_the_driver_says_the_same() -> None:
    assert len(MEASURED) == 378
    for registers, threads, shared, blocks in MEASURED:
        found = occupancy("sm_90", registers=registers, threads=threads, shared=shared, barriers=1)
        assert found is not None and found.blocks == blocks, (registers, threads, shared)


def header() -> Path | None:
    """The folder of the newest cuda_occupancy.h here."""
    places = [
        Path(sysconfig.get_paths()["purelib"]) / "nvidia" / "cu13" / "include",
        *(Path(os.environ[name]) / "include" for name in ("CUDA_HOME",) if name in os.environ),
        Path("/usr/local/cuda/include"),
    ]
    return next((place for place in places if (place / "cuda_occupancy.h").exists()), None)


def test_the_toolkits_header_says_the_same(tmp_path: Path) -> None:
    compiler, folder = shutil.which("g++"), header()
    if compiler is None or folder is None:
        pytest.skip("needs g++ and cuda_occupancy.h")
    program = tmp_path / "occupancy"
    source = HERE / "occupancy.cpp"
    subprocess.run([compiler, "-O1", "-w", f"-I{folder}", str(source), "-o", program], check=True)
    points, lines = [], []
    for target in capabilities():
        known = limits(target)
        assert known is not None and known.shared_optin is not None
        major, minor = target.split(".")
        device = (
            f"{major} {minor} {known.threads_per_block} {known.warps_per_sm * 32}"
            f" {known.registers_per_block} {known.registers_per_sm} {known.shared_per_sm}"
            f" {known.shared_optin} {known.shared_reserved}"
        )
        for registers, threads, shared in product(REGISTERS, THREADS, SHARED):
            for barriers in (1, 4) if known.barriers_per_sm else (0,):
                points.append((target, registers, threads, shared, barriers))
                lines.append(f"{device} {registers} {threads} {shared} {barriers}")
    run = subprocess.run([program], input="\n".join(lines), capture_output=True, text=True)
    answers = [int(line) for line in run.stdout.split()]
    assert len(answers) == len(points) > 80_000
    for (target, registers, threads, shared, barriers), blocks in zip(points, answers, strict=True):
        found = occupancy(
            target, registers=registers, threads=threads, shared=shared, barriers=barriers
        )
        assert found is not None
        assert found.blocks == blocks, (target, registers, threads, shared, barriers)


def test_a_gpu_took_and_refused_the_same_launches() -> None:
    count = 0
    for row in LAUNCHES["kernels"]:
        bounds = _bounds(row["name"])
        for block, dynamic, code in row["launches"]:
            failure = launch_failure(
                "sm_90",
                registers=row["registers"],
                block=tuple(block),
                shared=row["shared"] + dynamic,
                bounds=bounds,
            )
            assert (0 if failure is None else failure.code) == code, (row["name"], block, dynamic)
            count += 1
    assert count > 5_000


def _bounds(name: str) -> Bounds:
    """What the directives of a kernel of bench/gpu/launches.py say."""
    number = name.partition("bounds")[2]
    if not number:
        return Bounds()
    words = launches.BOUNDS[int(number)].replace(",", " ").split()
    x, y, z = map(int, words[1:4])
    return Bounds(x * y * z) if words[0] == ".maxntid" else Bounds(None, (x, y, z))


@ptxas.needed
def test_the_driver_and_the_cubin_say_the_same_of_a_kernel() -> None:
    """Of each kernel of the corpus, assembled for sm_90: registers and bytes."""
    tool = tools.ptxas()
    assert tool is not None
    texts: dict[str, dict[str, Kernel]] = {}
    compared = 0
    for row in LAUNCHES["cubins"]:
        path = CORPUS / row["file"].replace(".cubin", ".ptx")
        if path.name not in texts:
            texts[path.name] = assembled(path.read_text(), path.name, "sm_90", tool).kernels
        kernel = texts[path.name][row["kernel"]]
        shared = static_shared(kernel, "sm_90")
        if Path(tool).resolve().parts[-4:-1] == ("nvidia", "cu13", "bin"):
            assert kernel.registers == row["registers"], row
        assert (shared, kernel.frame <= row["local"]) == (row["shared"], True), row
        compared += 1
    assert compared > 50


def test_steps_are_the_next_ones() -> None:
    for registers, threads, shared in product(REGISTERS, (64, 128, 256, 512), SHARED[:8]):
        now = occupancy("sm_80", registers=registers, threads=threads, shared=shared)
        assert now is not None
        for step in steps("sm_80", registers=registers, threads=threads, shared=shared):
            at = {"registers": registers, "shared memory": shared}
            at[step.resource] = step.value
            more = occupancy(
                "sm_80", registers=at["registers"], threads=threads, shared=at["shared memory"]
            )
            assert more is not None and more.warps == step.warps > now.warps
            at[step.resource] += 8 if step.resource == "registers" else 128
            last = occupancy(
                "sm_80", registers=at["registers"], threads=threads, shared=at["shared memory"]
            )
            assert last is not None and last.warps == now.warps


def test_why_a_launch_fails() -> None:
    found = occupancy("sm_80", registers=200, threads=1024)
    assert found is not None and found.failure is not None and found.blocks == 0
    assert (found.failure.code, found.limiter) == (701, ("registers",))
    assert "204,800" in found.failure.why
    for more in ({"threads": 1025}, {"shared": 166_913}):
        failed = occupancy("sm_80", **{"registers": 32, "threads": 128, **more})
        assert failed is not None and failed.failure is not None
        assert failed.failure.name == "CUDA_ERROR_INVALID_VALUE"
    assert occupancy("sm_80", registers=32, threads=128, shared=166_912).failure is None  # type: ignore[union-attr]
    assert occupancy("sm_35", registers=32, threads=128) is None
    with pytest.raises(ValueError, match="at least 1"):
        occupancy("sm_80", registers=32, threads=0)
