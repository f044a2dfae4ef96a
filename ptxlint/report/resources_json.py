"""What ``ptxlint resources --output-format json`` prints; resources.schema.json describes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from .. import __version__
from ..analysis.kernel_resources import KernelResources
from ..analysis.launch import ONE_DIMENSION, WHOLE_WARPS
from ..analysis.memory.requests import Request
from ..inputs.cubin import Kernel
from ..model import SourceLine
from .resources_gpus import Gpu, Registers
from .resources_rows import AccessRow, Details, FileRow, KernelRow

SCHEMA_VERSION = 1


def text(rows: Sequence[FileRow]) -> str:
    """One versioned object."""
    value = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "ptxlint", "version": __version__},
        "files": [_file(row) for row in rows],
    }
    return json.dumps(value, indent=1) + "\n"


def _file(row: FileRow) -> dict[str, Any]:
    return {
        "path": row.path,
        "member": row.member,
        "kind": row.kind,
        "target": row.target,
        "parsed": row.parsed,
        "kernels": [kernel_value(kernel) for kernel in row.kernels],
    }


def kernel_value(kernel: KernelRow) -> dict[str, Any]:
    """One kernel, with what its kind of file says."""
    value: dict[str, Any] = {"name": kernel.name, "demangled": kernel.demangled}
    if kernel.text is not None:
        value.update(_ptx(kernel.text))
    if kernel.machine is not None:
        value.update(_machine(kernel.machine))
    elif kernel.registers is not None:
        value.update(_registers(kernel.registers))
    value["gpus"] = [_gpu(gpu) for gpu in kernel.gpus]
    if kernel.details is not None:
        value.update(_details(kernel.details))
    return value


def _ptx(found: KernelResources) -> dict[str, Any]:
    shape = found.shape
    assumed = None if shape.block else ONE_DIMENSION if shape.linear else WHOLE_WARPS
    return {
        "shared": found.shared,
        "shared_exact": found.shared_exact,
        "dynamic_shared": list(found.dynamic),
        "local": found.local,
        "parameters": found.parameters,
        "barriers": list(found.barriers.ids),
        "barriers_open": found.barriers.open,
        "bounds": {name: list(sizes) for name, sizes in found.bounds.items()},
        "block": {
            "threads": None if shape.block is None else list(shape.block),
            "source": shape.source or None,
            "most": shape.most,
            "assumed": assumed,
        },
    }


def _machine(kernel: Kernel) -> dict[str, Any]:
    bounds = {
        "reqntid": kernel.required_threads,
        "maxntid": kernel.max_threads,
        "reqnctapercluster": kernel.cluster,
    }
    return {
        "registers": kernel.registers,
        "most_registers": kernel.max_registers,
        "stack": kernel.stack,
        "spill_instructions": len(kernel.spills),
        "shared": kernel.shared,
        "constants": {str(bank): size for bank, size in sorted(kernel.constants.items())},
        "parameters": kernel.parameters_size,
        "barriers": kernel.barriers,
        "bounds": {name: list(sizes) for name, sizes in bounds.items() if sizes},
        "code": kernel.size,
    }


def _registers(found: Registers) -> dict[str, Any]:
    estimate = {"low": found.low, "middle": found.middle, "high": found.high}
    return {
        "registers": found.middle if found.exact else None,
        "registers_estimate": None if found.exact else estimate,
        "spills": None if found.spills is None else found.spills._asdict(),
        "spill_lines": None
        if found.lines is None
        else [{"line": line, "instructions": count} for line, count in found.lines.items()],
    }


def _gpu(gpu: Gpu) -> dict[str, Any]:
    found, launch = gpu.found, gpu.launch
    value: dict[str, Any] = {
        "target": gpu.target,
        "threads": launch.threads,
        "threads_source": launch.source or None,
        "dynamic_shared": launch.dynamic,
    }
    if found is None or gpu.least is None or gpu.most is None:
        return {**value, "blocks": None}
    failure = gpu.failure
    return {
        **value,
        "blocks": found.blocks,
        "blocks_range": [gpu.least.blocks, gpu.most.blocks],
        "warps": found.warps,
        "most_warps": found.most_warps,
        "occupancy": round(found.share, 4),
        "limiter": list(found.limiter),
        "allowed": found.allowed,
        "failure": None
        if failure is None
        else {"code": failure.code, "name": failure.name, "why": failure.why},
        "steps": [step._asdict() for step in gpu.steps],
    }


def _details(details: Details) -> dict[str, Any]:
    return {
        "alignment": [
            {"base": need.base, "bytes": need.bytes, "line": need.line, "why": need.why}
            for need in details.alignment
        ],
        "accesses": [_access(access) for access in details.accesses],
        "names": details.legend,
        "shares": {
            space: {"states": share.states, "assumptions": share.assumptions}
            for space, share in details.shares.items()
        },
    }


def _access(access: AccessRow) -> dict[str, Any]:
    row = access.row
    request = row.request
    chain = [_line(line) for line in access.source]
    return {
        "line": access.start.line,
        "column": access.start.column,
        "opcode": str(row.access.instruction.opcode),
        "kind": row.access.kind,
        "space": row.access.space,
        "bytes": row.access.size if request is None else request.size,
        "base": None if row.access.base is None else str(row.access.base),
        "address": None if row.words is None else row.words.text,
        "offsets": _offsets(access),
        "why": access.why or None,
        "request": None if request is None else _request(request),
        "source": chain[0] if chain else None,
        "inlined_at": chain[1:],
    }


def _offsets(access: AccessRow) -> list[list[int]] | None:
    """Where no expression describes how lanes differ: what does."""
    request, words = access.row.request, access.row.words
    if request is None or words is None or not words.table:
        return None
    return [list(pair) for pair in request.lanes]


def _request(request: Request) -> dict[str, Any]:
    fronts, sectors = request.wavefronts, request.sectors
    return {
        "state": request.state,
        "uniform": request.is_uniform,
        "lanes": len(request.lanes) if fronts is not None or sectors is not None else None,
        "wavefronts": None
        if fronts is None
        else {"count": fronts.total, "minimum": fronts.minimum},
        "sectors": None
        if sectors is None
        else {"low": sectors.low, "high": sectors.high, "minimum": sectors.minimum},
        "assumptions": list(request.assumptions),
    }


def _line(line: SourceLine) -> dict[str, Any]:
    return {"file": line.file, "line": line.line, "column": line.column}
