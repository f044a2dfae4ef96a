"""What ``ptxlint resources`` prints for people: a table for each file, with ``-v`` its accesses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..analysis.kernel_resources import KernelResources
from ..analysis.launch import LaunchShape
from ..analysis.memory.banks import LANES
from ..analysis.memory.requests import DATA, KNOWN, STRIDE
from ..analysis.memory.view import Share
from ..inputs.cubin import Kernel
from .names import shorten
from .resources_gpus import Gpu, Registers
from .resources_rows import PTX, AccessRow, Details, FileRow, KernelRow
from .summary import plural

Line = list[tuple[str, str]]  # pieces of a line, each with its style
Cells = tuple[str, ...]

_PTX_HEAD = ("registers", "spills", "shared", "dynamic", "local", "param", "barriers", "block",
             "bounds")  # fmt: skip
_CUBIN_HEAD = ("registers", "stack", "shared", "const", "param", "barriers", "bounds")
_ACCESS_HEAD = ("line", "opcode", "space", "bytes", "a warp's request", "address")
_RIGHT = frozenset({"shared", "local", "param", "registers", "stack", "line", "bytes"})
_KINDS = {PTX: "PTX", "cubin": "machine code"}
_NONE = "-"
_OPCODE = 44
_SPILLING = 12  # lines with spills that are listed


def text(rows: Sequence[FileRow], color: bool = False) -> str:
    """A heading and a table for each file; details below each kernel's row, where there are any."""
    lines: list[Line] = []
    for row in rows:
        if lines:
            lines.append([])
        lines += _file(row)
    if color:
        from .color import painted

        return "".join(painted(line) + "\n" for line in lines)
    return "".join("".join(part for part, _ in line).rstrip() + "\n" for line in lines)


def _file(row: FileRow) -> Iterator[Line]:
    target = f", {row.target}" if row.target else ""
    partial = "" if row.parsed == "full" else "; not all of it was read"
    yield [(row.name, "bold"), (f" ({_KINDS[row.kind]}{target}{partial})", "")]
    if not row.kernels:
        yield [("  no kernels", "dim")]
        return
    targets = tuple(gpu.target for gpu in row.kernels[0].gpus)
    head = (*(_PTX_HEAD if row.kind == PTX else _CUBIN_HEAD), *targets, "kernel")
    table = _aligned([head, *[_cells(kernel) for kernel in row.kernels]], head)
    yield [(f"  {table[0]}", "dim")]
    for kernel, line in zip(row.kernels, table[1:], strict=True):
        yield [(f"  {line}", "")]
        if kernel.details is not None:
            yield from _spilled(kernel.registers)
            yield from _details(kernel.details)
            if kernel is not row.kernels[-1]:
                yield []


def _aligned(rows: Sequence[Cells], head: Cells) -> list[str]:
    """The rows as lines of columns."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    return [
        "  ".join(
            cell.rjust(width) if name in _RIGHT else cell.ljust(width)
            for name, cell, width in zip(head, row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def _cells(kernel: KernelRow) -> Cells:
    ends = (*map(_gpu, kernel.gpus), shorten(kernel.demangled))
    if kernel.text is not None:
        return (*_registers(kernel.registers), *_ptx(kernel.text), *ends)
    return (*_machine(kernel.machine), *ends) if kernel.machine is not None else ends


def _registers(found: Registers | None) -> Cells:
    """``48``, or ``~46 (38-60)`` where that is estimated; bytes of spilling stores and loads."""
    if found is None:
        return (_NONE, _NONE)
    if not found.exact:
        return (f"~{found.middle} ({found.low}-{found.high})", _NONE)
    spills = found.spills
    if spills is None:
        return (str(found.middle), _NONE)
    spilled = f"{spills.stores}+{spills.loads}" if spills.stores or spills.loads else "0"
    return (str(found.middle), spilled)


def _spilled(found: Registers | None) -> Iterator[Line]:
    """The lines that spill most."""
    if found is None or not found.lines:
        return
    most = [f"{line} ({count})" for line, count in list(found.lines.items())[:_SPILLING]]
    more = f" and {len(found.lines) - _SPILLING} more" if len(found.lines) > _SPILLING else ""
    yield [(f"    {found.spilling} instructions spill, at lines {', '.join(most)}{more}", "yellow")]


def _gpu(gpu: Gpu) -> str:
    """``75 % 6x256: registers (<= 32: 100 %)``, or why a launch fails."""
    found = gpu.found
    if found is None:
        return "no limits known"
    if gpu.failure is not None:
        return f"fails with {gpu.failure.code} ({gpu.launch.threads} threads)"
    limiter = ", ".join(found.limiter)
    more = "; ".join(
        f"{step.resource} <= {step.value:,}: {100 * step.warps // found.most_warps} %"
        for step in gpu.steps
    )
    taken = "" if gpu.launch.source else "?"
    text = f"{100 * found.warps // found.most_warps} % {found.blocks}x{gpu.launch.threads}{taken}"
    return f"{text}: {limiter}" + (f" ({more})" if more else "")


def _ptx(found: KernelResources) -> Cells:
    ids = ",".join(map(str, found.barriers.ids))
    if found.barriers.open:
        ids = f"{ids},?" if ids else "?"
    bounds = [f"{name} {_triple(sizes)}" for name, sizes in found.bounds.items()]
    return (
        f"{'' if found.shared_exact else '≥'}{found.shared}",
        "yes" if found.dynamic else "no",
        str(found.local),
        str(found.parameters),
        ids or _NONE,
        _block(found.shape),
        ", ".join(bounds) or _NONE,
    )


def _machine(kernel: Kernel | None) -> Cells:
    assert kernel is not None
    bounds = {
        "reqntid": kernel.required_threads,
        "maxntid": kernel.max_threads,
        "reqnctapercluster": kernel.cluster,
    }
    banks = [f"{bank}:{size}" for bank, size in sorted(kernel.constants.items())]
    return (
        str(kernel.registers),
        "?" if kernel.stack is None else str(kernel.stack),
        str(kernel.shared),
        ",".join(banks) or _NONE,
        str(kernel.parameters_size),
        str(kernel.barriers),
        ", ".join(f"{name} {_triple(sizes)}" for name, sizes in bounds.items() if sizes) or _NONE,
    )


def _triple(sizes: Sequence[int]) -> str:
    return "x".join(map(str, sizes))


def _block(shape: LaunchShape) -> str:
    if shape.block is not None:
        return f"{_triple(shape.block)} ({shape.source})"
    return f"1-D, up to {shape.most}, assumed" if shape.linear else "x in 32s, assumed"


def _details(details: Details) -> Iterator[Line]:
    for need in details.alignment:
        aligned = f"{need.short} must be {need.bytes}-byte aligned because of line {need.line}"
        yield [(f"    {aligned}", "")]
    sourced = any(access.source for access in details.accesses)
    head = (*_ACCESS_HEAD[:-1], "source", "address") if sourced else _ACCESS_HEAD
    if details.accesses:
        rows = [head, *[_access(access, sourced) for access in details.accesses]]
        first, *rest = _aligned(rows, head)
        yield [(f"    {first}", "dim")]
        for access, line in zip(details.accesses, rest, strict=True):
            yield [(f"    {line}", _style(access))]
    for name, meaning in details.legend.items():
        yield [(f"    {name}: {meaning}", "dim")]
    for space, share in details.shares.items():
        yield [(f"    {_share(space, share)}", "bold")]
        for assumption, count in share.assumptions.items():
            yield [(f"      {count} {'rests' if count == 1 else 'rest'} on: {assumption}", "")]


def _access(access: AccessRow, sourced: bool) -> Cells:
    row = access.row
    size = row.access.size if row.request is None else row.request.size
    cells = (
        str(access.start.line),
        _cut(str(row.access.instruction.opcode)),
        row.access.space,
        _NONE if size is None else str(size),
        request_text(access),
    )
    address = "unknown" if row.words is None else row.words.text
    if not sourced:
        return (*cells, address)
    line = access.source[0] if access.source else None
    place = _NONE if line is None else f"{line.file.rpartition('/')[2]}:{line.line}"
    return (*cells, place, address)


def _cut(opcode: str) -> str:
    """Opcodes of tensor copies are a hundred characters long."""
    return opcode if len(opcode) <= _OPCODE else opcode[: _OPCODE - 1] + "…"


def request_text(access: AccessRow) -> str:
    """``wavefronts 8 (least 4)``, or why there is no such figure."""
    request = access.row.request
    if request is None:
        return f"{_NONE} ({access.why})"
    if request.wavefronts is not None:
        total, least = request.wavefronts
        found = f"wavefronts {total} (least {least})"
    elif request.sectors is not None:
        low, high, least = request.sectors[:3]
        found = f"sectors {low if low == high else f'{low}-{high}'} (least {least})"
    elif request.state in (KNOWN, STRIDE):
        return f"{_NONE} ({access.why})"
    else:
        return f"unknown: {access.why}"
    lanes = len(request.lanes)
    return found if lanes == LANES else f"{found}, {lanes} {plural(lanes, 'lane')}"


def _style(access: AccessRow) -> str:
    request = access.row.request
    if request is None:
        return ""
    if request.wavefronts is not None:
        return "yellow" if request.wavefronts.total > request.wavefronts.minimum else ""
    if request.sectors is not None:
        return "yellow" if request.sectors.low > request.sectors.minimum else ""
    return "dim"


def _share(space: str, share: Share) -> str:
    """``shared: 12 of 14 requests known (86 %), 1 needs data``."""
    total = share.total
    known = share.states.get(KNOWN, 0)
    line = (
        f"{space}: {known} of {total} {plural(total, 'request')} known ({_percent(known, total)})"
    )
    rows = share.states.get(STRIDE, 0)
    if rows:
        line += f", {known + rows} with rows of unknown stride ({_percent(known + rows, total)})"
    data = share.states.get(DATA, 0)
    unknown = total - known - rows - data
    if data:
        line += f", {data} {'needs' if data == 1 else 'need'} data"
    return line + (f", {unknown} unknown" if unknown else "")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part // whole} %"
