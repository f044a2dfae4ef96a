"""What ``ptxlint resources --output-format csv`` prints: a row for each kernel."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from .resources_json import kernel_value
from .resources_rows import FileRow, KernelRow

_FILE = ("path", "member", "kind", "target")
_KERNEL = (
    "name",
    "demangled",
    "registers",
    "registers_low",
    "registers_high",
    "spill_stores",
    "spill_loads",
    "stack",
    "spill_instructions",
    "shared",
    "shared_exact",
    "dynamic_shared",
    "local",
    "constants",
    "parameters",
    "barriers",
)
_BOUNDS = ("reqntid", "maxntid", "minnctapersm", "maxnreg", "reqnctapercluster")
_BLOCK = ("block", "block_source")
_GPU = ("threads", "blocks", "occupancy", "limiter", "failure")
_SPACES = ("shared", "global")
_STATES = ("known", "stride", "data", "unknown")


def text(rows: Sequence[FileRow]) -> str:
    """A header and a row for each kernel; what a kind of file does not say is left empty.

    With the details of ``-v``, the number of requests of each state by space.
    """
    verbose = any(kernel.details is not None for row in rows for kernel in row.kernels)
    counts = [f"{space}_{state}" for space in _SPACES for state in _STATES] if verbose else []
    targets = list(dict.fromkeys(g.target for r in rows for k in r.kernels for g in k.gpus))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = [f"{target}_{name}" for target in targets for name in _GPU]
    writer.writerow([*_FILE, *_KERNEL, *_BOUNDS, *_BLOCK, *heads, *counts])
    for row in rows:
        for kernel in row.kernels:
            place = [row.path, row.member, row.kind, row.target]
            cells = [*_values(kernel), *_gpus(kernel, targets)]
            writer.writerow([*place, *cells, *(_counts(kernel) if verbose else ())])
    return out.getvalue()


def _values(kernel: KernelRow) -> list[object]:
    value = kernel_value(kernel)
    estimate, spills = value.get("registers_estimate") or {}, value.get("spills") or {}
    value.update(registers_low=estimate.get("low"), registers_high=estimate.get("high"))
    value.update(spill_stores=spills.get("stores"), spill_loads=spills.get("loads"))
    bounds, block = value["bounds"], value.get("block") or {}
    return [
        *[_cell(value.get(name)) for name in _KERNEL],
        *[_cell(bounds.get(name)) for name in _BOUNDS],
        _cell(block.get("threads")),
        block.get("source"),
    ]


def _gpus(kernel: KernelRow, targets: list[str]) -> list[object]:
    found = {gpu.target: gpu for gpu in kernel.gpus}
    cells: list[object] = []
    for target in targets:
        gpu = found.get(target)
        if gpu is None or gpu.found is None:
            cells += [None] * len(_GPU)
            continue
        known = gpu.found
        failure = None if gpu.failure is None else gpu.failure.code
        limiter = " ".join(name.replace(" ", "_") for name in known.limiter)
        cells += [gpu.launch.threads, known.blocks, round(known.share, 4), limiter, failure]
    return cells


def _counts(kernel: KernelRow) -> list[int]:
    shares = kernel.details.shares if kernel.details is not None else {}
    return [
        shares[space].states.get(state, 0) if space in shares else 0
        for space in _SPACES
        for state in _STATES
    ]


def _cell(value: object) -> object:
    """Lists as ``128 1 1``, sizes by bank as ``0=352 2=8``, yes and no as ``true``, ``false``."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return " ".join(f"{name}={item}" for name, item in value.items())
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return value
