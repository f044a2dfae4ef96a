"""Cubins: machine code for one GPU architecture, and what its headers tell of each kernel.

Two layouts are in use: that of CUDA up to 12 (ABI 7), and that of CUDA 13 and of sm_100 on
(ABI 8). The figures of a kernel are those of ``cuobjdump -res-usage``.
"""

from __future__ import annotations

import re
from functools import cached_property
from struct import Struct
from typing import NamedTuple

from . import elf, nvinfo
from .source import Damaged, Source

_NEW_LAYOUT = 0x41
_ENTRY = 0x10
"""Bit of a function symbol's st_other: a kernel (STO_CUDA_ENTRY)."""
_FUNCTION = 2
_ACCELERATED_OLD, _ACCELERATED_128 = 0x800, 0x8
_UNKNOWN_STACK = 0xFFFFFFFF
_ARCH = re.compile(r"-arch[ =]sm_\d+([af])\b")
_VIEWS = (".nv.merc.", ".nv.capmerc.")
_NOTE = Struct("<III")
_CUINFO = Struct("<HHI")
_KPARAM = Struct("<IHHI")
_CONSTANT = re.compile(r"\.nv\.constant(\d+)(?:\.(.+))?", re.DOTALL)


class Parameter(NamedTuple):
    """A kernel parameter: its number, offset from the first one, and size in bytes."""

    ordinal: int
    offset: int
    size: int


class Kernel(NamedTuple):
    """A kernel of a cubin, as its headers have it; sizes are bytes.

    ``stack`` is what a thread needs with all calls, None where recursion makes it unknown;
    ``frame`` is the kernel's own. ``shared`` is static and includes 1024 reserved bytes from sm_90
    on. ``constants`` holds the size of each constant bank it has. ``barriers`` counts named
    barriers. ``parameters_at`` is where the parameters begin in constant bank 0. ``spills`` are
    the code offsets of stores and loads that spill or refill registers: none where a ptxas before
    12.8 made the cubin, which does not mark them. ``max_threads``, ``required_threads`` and
    ``cluster`` are (x, y, z) of .maxntid, .reqntid and .reqnctapercluster. ``exits`` are the code
    offsets of EXIT. ``max_registers`` is the limit that ptxas kept to.
    """

    name: str
    symbol: int
    section: int
    offset: int
    size: int
    registers: int
    stack: int | None
    frame: int
    shared: int
    constants: dict[int, int]
    barriers: int
    parameters: tuple[Parameter, ...]
    parameters_at: int
    parameters_size: int
    max_threads: tuple[int, int, int] | None
    required_threads: tuple[int, int, int] | None
    max_registers: int | None
    cluster: tuple[int, int, int] | None
    exits: tuple[int, ...]
    spills: tuple[int, ...]


class Cubin:
    """One cubin; raises Damaged for a file that is none, is cut, or contradicts itself."""

    def __init__(self, data: bytes | Source) -> None:
        self.source = Source(data) if isinstance(data, bytes) else data
        self.header = elf.header(self.source)
        if self.header.machine != elf.CUDA:
            raise Damaged(f"is an ELF file of machine {self.header.machine}, not a cubin")
        self.sections = elf.sections(self.source, self.header)
        if self.header.segments + self.header.segment_size * self.header.segment_count > (
            self.source.size
        ):
            raise Damaged("is cut off: its segment table is beyond its end")
        _check(self.sections, self.source.size)
        self.by_name = {section.name: section for section in self.sections}

    @property
    def new_layout(self) -> bool:
        """Whether it is of the layout of CUDA 13 and of sm_100 on (ABI 8)."""
        return self.header.ident[7] == _NEW_LAYOUT

    @property
    def sm(self) -> int:
        """The architecture's number: 80, 90, 100."""
        return self.header.flags >> (8 if self.new_layout else 0) & 0xFF

    @cached_property
    def suffix(self) -> str:
        """``a`` for code of one architecture only, ``f`` of a family, else empty."""
        if not self.new_layout:
            return "a" if self.header.flags & _ACCELERATED_OLD else ""
        compat = {r.attribute: r.value for r in nvinfo.records(self.content(".nv.compat"))}
        if compat.get(nvinfo.ACCELERATOR_TARGET) == 1 or (
            ".nv.compat" not in self.by_name and self.header.flags & _ACCELERATED_128
        ):
            return "a"
        found = _ARCH.search(self.command)
        return found[1] if found else ""

    @cached_property
    def virtual_sm(self) -> int | None:
        """The architecture of the PTX that it was assembled from; None where it does not say."""
        if not self.new_layout:
            return self.header.flags >> 16 & 0xFF or None
        note = self.content(".note.nv.cuinfo") or self.content(".note.nv.cuver")  # CUDA 12.8
        description = _description(note)
        return _CUINFO.unpack_from(description)[1] if len(description) >= 8 else None

    @cached_property
    def command(self) -> str:
        """The command line of ptxas, where it is kept (CUDA 13)."""
        description = _description(self.content(".note.nv.tkinfo"))
        if len(description) < 24:
            return ""
        at = 24 + int.from_bytes(description[20:24], "little")
        return description[at:].partition(b"\0")[0].decode("utf-8", "replace")

    @cached_property
    def symbols(self) -> list[elf.Symbol]:
        """The symbol table, in order."""
        return elf.symbols(self.source, self.sections)

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels in the order of the symbol table."""
        info = nvinfo.by_symbol(self.content(".nv.info"))
        constants = _constants(self.sections)
        return tuple(
            self._kernel(index, symbol, info, constants.get(symbol.name, {}))
            for index, symbol in self._entries()
        )

    def entry_names(self) -> list[str]:
        """The names of the kernels, without reading anything else of them."""
        return [symbol.name for _, symbol in self._entries()]

    def content(self, name: str) -> bytes:
        """A section's bytes by its name; empty without such a section."""
        section = self.by_name.get(name)
        return elf.content(self.source, section) if section is not None else b""

    def code(self, kernel: Kernel) -> bytes:
        """A kernel's instructions, 16 bytes each, with the functions that lie behind it."""
        return elf.content(self.source, self.sections[kernel.section])

    def global_size(self) -> int:
        """Bytes of the module's own .global variables."""
        named = (self.by_name.get(name) for name in (".nv.global", ".nv.global.init"))
        return sum(section.size for section in named if section is not None)

    def constant_sizes(self) -> dict[int, int]:
        """Bytes of each constant bank that all kernels share."""
        return _constants(self.sections).get("", {})

    def _entries(self) -> list[tuple[int, elf.Symbol]]:
        return [
            (index, symbol)
            for index, symbol in enumerate(self.symbols)
            if symbol.type == _FUNCTION
            and symbol.other & _ENTRY
            and 0 < symbol.section < len(self.sections)
        ]

    def _kernel(
        self,
        index: int,
        symbol: elf.Symbol,
        info: dict[int, dict[int, int]],
        constants: dict[int, int],
    ) -> Kernel:
        def of_symbol(attribute: int) -> int:
            return info.get(attribute, {}).get(index, 0)

        name = symbol.name
        own: dict[int, nvinfo.Record] = {}
        parameters: list[Parameter] = []
        spills: list[int] = []
        for record in nvinfo.records(self.content(f".nv.info.{name}")):
            if record.attribute in (nvinfo.KPARAM_INFO, nvinfo.KPARAM_INFO_V2):
                parameters.append(_parameter(record))
            elif record.attribute == nvinfo.ANNOTATIONS:
                spills += _spills(record.words())
            else:
                own[record.attribute] = record
        shared = self.by_name.get(f".nv.shared.{name}")
        stack = of_symbol(nvinfo.MIN_STACK_SIZE)
        place = _words(own, nvinfo.PARAM_CBANK)
        cap = _number(own, nvinfo.MAXREG_COUNT)
        barriers = _number(own, nvinfo.NUM_BARRIERS)
        if not self.new_layout:
            barriers = self.sections[symbol.section].flags >> 20 & 0x7F
        return Kernel(
            name,
            index,
            symbol.section,
            symbol.value,
            symbol.size,
            of_symbol(nvinfo.REGCOUNT),
            None if stack == _UNKNOWN_STACK else stack,
            of_symbol(nvinfo.FRAME_SIZE),
            shared.size if shared else 0,
            constants,
            barriers or 0,
            tuple(sorted(parameters)),
            place[1] & 0xFFFF if len(place) > 1 else 0,
            place[1] >> 16 if len(place) > 1 else 0,
            _triple(own, nvinfo.MAX_THREADS),
            _triple(own, nvinfo.REQNTID),
            cap,
            _triple(own, nvinfo.CTA_PER_CLUSTER),
            _words(own, nvinfo.EXIT_INSTR_OFFSETS),
            tuple(spills),
        )


def target(source: Source) -> tuple[int, str]:
    """Architecture and suffix of a cubin; raises Damaged."""
    cubin = Cubin(source)
    return cubin.sm, cubin.suffix


def _check(sections: list[elf.Section], size: int) -> None:
    """Raise Damaged where a section is beyond the end, or two share bytes.

    Those of Mercury (sm_100 on) are views of others.
    """
    stored = sorted((s for s in sections if s.stored and s.size), key=lambda s: s.offset)
    end, before = 0, ""
    for section in stored:
        if section.offset + section.size > size:
            raise Damaged(f"is cut off: section {section.name} is beyond its end")
        if section.name.startswith(_VIEWS):
            continue
        if section.offset < end:
            raise Damaged(f"is damaged: sections {before} and {section.name} overlap")
        end, before = section.offset + section.size, section.name


def _constants(sections: list[elf.Section]) -> dict[str, dict[int, int]]:
    """Kernel name (empty: shared by all) → bank → bytes."""
    found: dict[str, dict[int, int]] = {}
    for section in sections:
        match = _CONSTANT.fullmatch(section.name)
        if match:
            found.setdefault(match[2] or "", {})[int(match[1])] = section.size
    return found


def _description(note: bytes) -> bytes:
    """The description of an ELF note."""
    if len(note) < _NOTE.size:
        return b""
    name, size, _ = _NOTE.unpack_from(note)
    begin = _NOTE.size + (name + 3 & ~3)
    return note[begin : begin + size]


def _parameter(record: nvinfo.Record) -> Parameter:
    if not isinstance(record.value, bytes) or len(record.value) < _KPARAM.size:
        raise Damaged("is damaged: a parameter is described too shortly")
    _, ordinal, offset, word = _KPARAM.unpack_from(record.value)
    # The second form is for kernels with more than 4 KiB of parameters.
    size = word if record.attribute == nvinfo.KPARAM_INFO_V2 else word >> 18
    return Parameter(ordinal, offset, size)


def _spills(words: tuple[int, ...]) -> list[int]:
    """Offsets out of pairs (type, offset)."""
    pairs = zip(words[::2], words[1::2], strict=False)
    return [offset for kind, offset in pairs if kind == nvinfo.SPILL_REFILL]


def _words(own: dict[int, nvinfo.Record], attribute: int) -> tuple[int, ...]:
    record = own.get(attribute)
    return record.words() if record is not None else ()


def _number(own: dict[int, nvinfo.Record], attribute: int) -> int | None:
    words = _words(own, attribute)
    return words[0] if words else None


def _triple(own: dict[int, nvinfo.Record], attribute: int) -> tuple[int, int, int] | None:
    words = _words(own, attribute)
    return (words[0], words[1], words[2]) if len(words) == 3 else None
