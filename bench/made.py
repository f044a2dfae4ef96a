"""PTX made from ``bench/kernels`` with nvcc, once, into a folder of the user's among temp files."""

from __future__ import annotations

import getpass
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from .common import ROOT, tool_version

KERNELS = ROOT / "bench" / "kernels"

# The first is the big one, which is compared with ptxas and repeated.
VARIANTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "library.sm_80.ptx": ("library.cu", ()),
    "blocks.sm_80.lineinfo.ptx": ("blocks.cu", ("-lineinfo",)),
    "blocks.sm_80.debug.ptx": ("blocks.cu", ("-G",)),
}


def made(nvcc: str | None = None) -> list[Path]:
    """The PTX files, big one first; raises FileNotFoundError without nvcc."""
    compiler = shutil.which(nvcc or "nvcc")
    if compiler is None:
        raise FileNotFoundError("no nvcc on PATH to make PTX from bench/kernels: name PTX files")
    folder = _folder(compiler)
    paths = []
    for name, (source, flags) in VARIANTS.items():
        path = folder / name
        if not path.exists():
            part = path.with_suffix(".part")
            command = [compiler, "-ptx", "-arch=sm_80", *flags, "-o", str(part)]
            subprocess.run([*command, str(KERNELS / source)], check=True)
            part.rename(path)
        paths.append(path)
    return paths


def _folder(compiler: str) -> Path:
    """One for each compiler and state of the sources, for this user alone."""
    digest = hashlib.sha256(tool_version(compiler).encode())
    for source in sorted(KERNELS.glob("*.cu")):
        digest.update(source.read_bytes())
    folder = Path(tempfile.gettempdir()) / f"ptxlint-bench-{getpass.getuser()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    folder /= digest.hexdigest()[:12]
    folder.mkdir(exist_ok=True)
    return folder
