# SPDX-License-Identifier: Apache-2.0
"""Remake the PTX and binaries of the corpus, and its manifest, from the CUDA sources beside this.

The sources are copied to one fixed folder and compiled there: nvcc puts the working folder into
debug sections and a hash of it into some names, so a fixed one makes the output repeatable.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).resolve().parent
STAGE = Path("/tmp/ptxlint-corpus")

HOPPER_MARK = "Target: sm_90a"
"""What the comment of a kernel that needs sm_90a says; all others are built for sm_80."""

EXTRA_FLAGS: dict[str, tuple[str, ...]] = {"jump_table": ("--jump-table-density=10",)}

LINEINFO = frozenset(
    {
        "checked_call",
        "half_math",
        "layer_norm",
        "mma_tile",
        "softmax_online",
        "transpose_padded",
        "wgmma_tile",
    }
)
"""Kernels that are also built with -lineinfo, as NAME.lineinfo.ptx."""

DEBUG = frozenset({"block_sum", "checked_call"})
"""Kernels that are also built with -G, as NAME.debug.ptx."""

FAULTS: dict[str, str] = {
    "duplicate_register": r"\.reg \.b32 tmp;",
    "misaligned_vector": r"ld\.shared\.v4\.f32 .*\+4\]",
    "missing_wait": r"ld\.shared",
    "scale_rows": r"\[lookup_table\+8\]",
    "shuffle_in_branch": r"shfl\.sync",
}
"""What to look for in the PTX of each faulty source, so that the manifest can name the lines."""

ENTRY = re.compile(r"^(?:\.visible |\.weak )?\.entry ([\w$]+)", re.MULTILINE)
FILE_LINE = re.compile(r'^(\s*\.file\s+\d+\s+)"([^"]*)"', re.MULTILINE)
NVVM = re.compile(r"Based on (NVVM [\d.]+)")


@dataclass(frozen=True)
class Binary:
    """A cubin or fatbin to make, with ptxas and fatbinary, from one PTX file of the corpus.

    ``targets`` has one cubin each; a fatbin keeps the PTX beside them. ``flags`` are those of ptxas
    for a cubin and of fatbinary for a fatbin.
    """

    output: str
    source: str
    targets: tuple[str, ...]
    flags: tuple[str, ...] = ()


BINARIES = (
    Binary("binaries/block_sum.fatbin", "ptx/sm_80/block_sum.ptx", ("sm_80", "sm_90")),
    Binary(
        "binaries/block_sum.lz4.fatbin",
        "ptx/sm_80/block_sum.ptx",
        ("sm_80", "sm_90"),
        ("-compress-all", "-compress-mode=speed"),
    ),
    Binary("binaries/block_sum.sm_100.cubin", "ptx/sm_80/block_sum.ptx", ("sm_100",)),
    Binary(
        "binaries/checked_call.lineinfo.cubin",
        "ptx/sm_80/checked_call.lineinfo.ptx",
        ("sm_80",),
        ("-lineinfo",),
    ),
    Binary(
        "binaries/half_math.lineinfo.cubin",
        "ptx/sm_80/half_math.lineinfo.ptx",
        ("sm_90",),
        ("-lineinfo",),
    ),
    Binary("binaries/spill.cubin", "ptx/sm_80/spill.ptx", ("sm_80",)),
)


class MakeError(Exception):
    """Something that stops the corpus from being made."""


@dataclass(frozen=True)
class Job:
    """One PTX file to make: both paths are relative to the corpus folder."""

    source: str
    output: str
    target: str
    flags: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The source's name without folder and suffix."""
        return Path(self.source).stem


def list_jobs() -> list[Job]:
    """Every PTX file of the corpus, in order of its path."""
    jobs = []
    for path in CORPUS.glob("kernels/*.cu"):
        name = path.stem
        hopper = HOPPER_MARK in path.read_text(encoding="utf-8")
        target = "sm_90a" if hopper else "sm_80"
        extra = EXTRA_FLAGS.get(name, ())
        variants = [("", extra)]
        if name in LINEINFO:
            variants.append((".lineinfo", (*extra, "-lineinfo")))
        if name in DEBUG:
            variants.append((".debug", (*extra, "-G")))
        for suffix, flags in variants:
            output = f"ptx/{target}/{name}{suffix}.ptx"
            jobs.append(Job(f"kernels/{path.name}", output, target, flags))
    jobs += [
        Job(f"faulty/{path.name}", f"ptx/faulty/{path.stem}.ptx", "sm_80")
        for path in CORPUS.glob("faulty/*.cu")
    ]
    return sorted(jobs, key=lambda job: job.output)


@contextmanager
def stage() -> Iterator[Path]:
    """A copy of the sources in the fixed folder, gone afterwards."""
    try:
        STAGE.mkdir(mode=0o700)
    except FileExistsError:
        raise MakeError(f"{STAGE} exists: another run is using it, or left it behind") from None
    try:
        for folder in ("kernels", "faulty"):
            shutil.copytree(CORPUS / folder, STAGE / folder)
        yield STAGE
    finally:
        shutil.rmtree(STAGE, ignore_errors=True)


def run(command: list[str], folder: Path | None = None) -> str:
    """What the command prints; MakeError where it fails."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except OSError as error:
        raise MakeError(f"{command[0]}: {error}") from None
    if done.returncode != 0:
        raise MakeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.strip()}")
    return done.stdout


def neutral_paths(ptx: str) -> str:
    """The PTX with .file paths of sources and toolkit headers made relative."""

    def relative(match: re.Match[str]) -> str:
        path = match[2]
        if path.startswith(f"{STAGE}/"):
            path = path.rpartition("/")[2]
        elif "/include/" in path:
            path = "cuda/include/" + path.partition("/include/")[2]
        if path.startswith("/"):
            raise MakeError(f"cannot make {path} relative")
        return f'{match[1]}"{path}"'

    return FILE_LINE.sub(relative, ptx)


def compile_job(nvcc: str, job: Job, staged: Path) -> str:
    """The PTX text of one job."""
    folder, source = (staged / job.source).parent, Path(job.source).name
    output = folder / "out.ptx"
    run([nvcc, f"-arch={job.target}", "-ptx", *job.flags, source, "-o", output.name], folder)
    return neutral_paths(output.read_text(encoding="utf-8"))


def assemble(nvcc: str, binary: Binary, ptx: str, staged: Path) -> bytes:
    """The bytes of one binary, made of the text of its PTX."""
    tools = Path(shutil.which(nvcc) or nvcc).resolve().parent
    (staged / "in.ptx").write_text(ptx, encoding="utf-8", newline="\n")
    images = []
    for target in binary.targets:
        cubin = f"{target}.cubin"
        is_cubin = binary.output.endswith(".cubin")
        flags = binary.flags if is_cubin else ()
        run([str(tools / "ptxas"), f"-arch={target}", *flags, "in.ptx", "-o", cubin], staged)
        if is_cubin:
            return (staged / cubin).read_bytes()
        images.append(f"--image3=kind=elf,sm={target[3:]},file={cubin}")
    images.append("--image3=kind=ptx,sm=80,file=in.ptx")
    name = f"-ident={Path(binary.source).stem}.cu"
    command = [str(tools / "fatbinary"), "-create", "out.fatbin", name, *binary.flags, *images]
    run(command, staged)
    return (staged / "out.fatbin").read_bytes()


def describe_binary(binary: Binary, data: bytes) -> dict[str, Any]:
    """The manifest's entry for one binary."""
    return {
        "source": binary.source,
        "targets": list(binary.targets),
        "flags": list(binary.flags),
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def describe(job: Job, ptx: str) -> dict[str, Any]:
    """The manifest's entry for one PTX file."""
    data = ptx.encode()
    entry: dict[str, Any] = {
        "source": job.source,
        "target": job.target,
        "flags": list(job.flags),
        "kernels": ENTRY.findall(ptx),
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    if job.source.startswith("faulty/"):
        pattern = re.compile(FAULTS[job.name])
        lines = enumerate(ptx.splitlines(), start=1)
        entry["fault_lines"] = [number for number, line in lines if pattern.search(line)]
    return entry


def compiler(nvcc: str) -> dict[str, str]:
    """What nvcc says of itself."""
    lines = run([nvcc, "--version"]).splitlines()
    release = next((line for line in lines if "release" in line), "")
    return {"nvcc": release, "build": lines[-1] if lines else ""}


def make(nvcc: str, jobs: list[Job], into: Path, manifest: dict[str, Any]) -> None:
    """Write the PTX of the jobs and the manifest, which is brought up to date, under a folder."""
    manifest["compiler"] = compiler(nvcc)
    files = manifest.setdefault("files", {})
    with stage() as staged:
        for job in jobs:
            ptx = compile_job(nvcc, job, staged)
            if found := NVVM.search(ptx):
                manifest["compiler"]["nvvm"] = found[1]
            path = into / job.output
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(ptx, encoding="utf-8", newline="\n")
            files[job.output] = describe(job, ptx)
        binaries = manifest.setdefault("binaries", {})
        for binary in binaries_of(jobs):
            text = (into / binary.source).read_text(encoding="utf-8")
            data = assemble(nvcc, binary, text, staged)
            path = into / binary.output
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            binaries[binary.output] = describe_binary(binary, data)
    manifest["files"] = dict(sorted(files.items()))
    manifest["binaries"] = dict(sorted(manifest["binaries"].items()))
    text = json.dumps(manifest, indent=2) + "\n"
    (into / "manifest.json").write_text(text, encoding="utf-8", newline="\n")


def binaries_of(jobs: list[Job]) -> list[Binary]:
    """The binaries that are made of the PTX of these jobs."""
    made = {job.output for job in jobs}
    return [binary for binary in BINARIES if binary.source in made]


def differences(jobs: list[Job], made: Path) -> Iterator[str]:
    """One line for each file that is not as it would be made now."""
    outputs = [job.output for job in jobs] + [binary.output for binary in binaries_of(jobs)]
    for name in [*outputs, "manifest.json"]:
        if not (CORPUS / name).is_file():
            yield f"missing: {name}"
        elif (CORPUS / name).read_bytes() != (made / name).read_bytes():
            yield f"differs: {name}"


def strays(jobs: list[Job]) -> list[str]:
    """PTX files and binaries that nothing here makes."""
    known = {job.output for job in jobs} | {binary.output for binary in BINARIES}
    paths = [*CORPUS.glob("ptx/*/*.ptx"), *CORPUS.glob("binaries/*")]
    found = (path.relative_to(CORPUS).as_posix() for path in paths)
    return sorted(name for name in found if name not in known)


def main(arguments: list[str] | None = None) -> int:
    """Remake the corpus or check it; the exit status."""
    parser = argparse.ArgumentParser(description="Remake the corpus's PTX files and manifest.")
    parser.add_argument("--check", action="store_true", help="compare only, exit 1 if different")
    parser.add_argument("--only", metavar="NAME", help="one source, by its name without suffix")
    parser.add_argument("--nvcc", default="nvcc", help="the compiler to run")
    options = parser.parse_args(arguments)

    every = list_jobs()
    jobs = [job for job in every if options.only in (None, job.name)]
    manifest: dict[str, Any] = {}
    if not jobs:
        parser.error(f"no source is named {options.only}")
    if options.only and (CORPUS / "manifest.json").is_file():
        manifest = json.loads((CORPUS / "manifest.json").read_text(encoding="utf-8"))
    try:
        if not options.check:
            make(options.nvcc, jobs, CORPUS, manifest)
            for name in strays(every):
                (CORPUS / name).unlink()
            return 0
        with tempfile.TemporaryDirectory() as folder:
            make(options.nvcc, jobs, Path(folder), manifest)
            found = list(differences(jobs, Path(folder)))
    except MakeError as error:
        print(f"make.py: {error}", file=sys.stderr)
        return 2
    found += [f"stray: {name}" for name in strays(every)]
    print(
        "\n".join(found)
        if found
        else f"{len(jobs)} PTX files and what is made of them are as committed"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
