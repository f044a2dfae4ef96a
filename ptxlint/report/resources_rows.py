"""What ``ptxlint resources`` shows, gathered: files, their kernels, with ``-v`` their accesses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ..analysis.facts import Facts
from ..analysis.kernel_resources import KernelResources, kernel_resources
from ..analysis.memory.requests import KNOWN, STRIDE, Request
from ..analysis.memory.requirements import alignment_requirements
from ..analysis.memory.view import Row, Share, view
from ..analysis.register_estimate import register_estimate
from ..engine.demangle import demangle
from ..engine.origin import Origins
from ..inputs.cubin import Kernel
from ..inputs.ptxas import Assembled
from ..model import Position, SourceLine
from ..ptx.ir import Function
from .resources_gpus import (
    CUBIN,
    ESTIMATE,
    PTXAS,
    Gpu,
    Registers,
    gpus,
    launch_of_machine,
    launch_of_text,
    static_shared,
)

PTX = "ptx"
# Itanium C++ ABI, "Local names": _ZZ <function> E <length> <name> [_ <number>].
_LOCAL = re.compile(r"E(\d{1,4})")
_SECOND_OF_ITS_NAME = re.compile(r"_\d|__\d+_")


class AccessRow(NamedTuple):
    """An access and where it stands; ``why`` says why it is not known, or not counted."""

    row: Row
    start: Position
    source: tuple[SourceLine, ...]
    why: str


class AlignmentRow(NamedTuple):
    """``base`` must be a multiple of ``bytes`` because of the access at ``line``; ``short`` is the
    base as addresses in words have it.
    """

    base: str
    short: str
    bytes: int
    line: int
    why: str


class Details(NamedTuple):
    """What ``-v`` adds to a kernel."""

    alignment: list[AlignmentRow]
    accesses: list[AccessRow]
    legend: dict[str, str]
    shares: dict[str, Share]


class KernelRow(NamedTuple):
    """One kernel: ``text`` of PTX, ``machine`` of a cubin; the other is None. ``gpus``: how it does
    on each target that was asked for.
    """

    name: str
    text: KernelResources | None
    machine: Kernel | None
    details: Details | None = None
    registers: Registers | None = None
    gpus: tuple[Gpu, ...] = ()

    @property
    def demangled(self) -> str:
        """The name as people write it."""
        return demangle(self.name)


@dataclass(slots=True)
class FileRow:
    """One PTX text or cubin; ``kind`` says which. ``parsed`` is ``full`` or ``partial``."""

    path: str
    member: str | None
    kind: str
    target: str | None
    parsed: str = "full"
    kernels: list[KernelRow] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Path and member."""
        return self.path if self.member is None else f"{self.path}!{self.member}"


class Asked(NamedTuple):
    """What a run asks of each kernel: ``targets`` (none: the file's own), ``dynamic`` bytes of
    shared memory, and of PTX what ptxas made of it, or None.
    """

    targets: tuple[str, ...] = ()
    dynamic: int = 0
    made: Assembled | None = None


def ptx_row(kernel: Function, facts: Facts, origins: Origins | None, asked: Asked) -> KernelRow:
    """The row of a kernel of PTX; with ``origins``, its accesses too."""
    found = kernel_resources(kernel, facts)
    details = None if origins is None else _details(kernel, facts, origins)
    registers = _registers(kernel, facts, asked.made)
    launch = launch_of_text(found, asked.dynamic)
    targets = asked.targets or ((facts.target,) if facts.target else ())
    barriers = len(found.barriers.ids)
    rows = gpus(targets, registers, launch, found.shared, barriers)
    return KernelRow(kernel.name, found, None, details, registers, tuple(rows))


def _registers(kernel: Function, facts: Facts, made: Assembled | None) -> Registers:
    exact = None if made is None else made.kernels.get(kernel.name)
    if exact is None or made is None:
        return Registers(*facts.once(kernel, register_estimate), ESTIMATE)
    number = exact.registers
    spills = made.spills.get(kernel.name)
    lines = made.spill_lines.get(kernel.name)
    return Registers(number, number, number, PTXAS, spills, len(exact.spills), lines)


def cubin_row(
    kernel: Kernel, target: str, block: tuple[int, int, int] | None, asked: Asked
) -> KernelRow:
    """The row of a kernel of a cubin for ``target``."""
    number = kernel.registers
    registers = Registers(number, number, number, CUBIN)
    launch = launch_of_machine(kernel, block, asked.dynamic)
    shared = static_shared(kernel, target)
    rows = gpus(asked.targets or (target,), registers, launch, shared, kernel.barriers)
    return KernelRow(kernel.name, None, kernel, None, registers, tuple(rows))


def _details(kernel: Function, facts: Facts, origins: Origins) -> Details:
    found = view(kernel, facts, object_name)
    rows = [
        AccessRow(
            row,
            facts.span(row.access.instruction).start,
            origins.chain(kernel, row.access.instruction),
            row.uncounted if row.request is None else _why(row.request, facts),
        )
        for row in found.rows
    ]
    return Details(_alignment(kernel, facts), rows, found.legend, found.shares)


def _alignment(kernel: Function, facts: Facts) -> list[AlignmentRow]:
    return [
        AlignmentRow(
            each.base,
            _short_base(each.base, kernel),
            each.bytes,
            facts.span(each.instruction).start.line,
            each.why,
        )
        for each in alignment_requirements(kernel, facts)
    ]


def _short_base(base: str, kernel: Function) -> str:
    """``_Z1kPf_param_0+8`` is ``param_0[8]``."""
    name, plus, offset = base.partition("+")
    short = object_name(name.removeprefix(f"{kernel.name}_"))
    return f"{short}[{offset}]" if plus else short


def _why(request: Request, facts: Facts) -> str:
    """Why a request is not known, or has no figure; empty where it has one."""
    if request.state not in (KNOWN, STRIDE):
        place = None if request.cause is None else request.cause.place
        if place is None:
            return request.why
        return f"{request.why} (line {facts.module.source.position(place).line})"
    if request.wavefronts is not None or request.sectors is not None:
        return ""
    if request.size is None:
        return "a register says how many bytes"
    if request.state == STRIDE:
        return "rows of an unknown stride"
    if request.access.instruction.opcode.mnemonic == "cp" and request.size < 16:
        return "copies below 16 bytes go through L1"
    return "no thread comes here"


def object_name(name: str) -> str:
    """A declared object as the source of its function calls it: ``_ZZ1kvE4tile`` is ``tile``."""
    if name.startswith("_ZZ"):
        for match in _LOCAL.finditer(name):
            end = match.end(1) + int(match[1])
            if end == len(name) or _SECOND_OF_ITS_NAME.fullmatch(name, end):
                return name[match.end(1) : end]
    return demangle(name)


def counted(rows: Sequence[FileRow]) -> tuple[int, int]:
    """(kernels, files)."""
    return sum(len(row.kernels) for row in rows), len({row.path for row in rows})
