"""Headers of 64-bit little-endian ELF files: sections, symbols.

Only what fatbins and cubins need, by ``struct``: a library may hold thousands of cubins.
"""

from __future__ import annotations

from struct import Struct, error
from typing import NamedTuple

from .source import Damaged, Source

MAGIC = b"\x7fELF"
CUDA, AMD = 190, 224
"""``e_machine`` of GPU code."""

SYMTAB, NOBITS = 2, 8
CUDA_NOBITS = frozenset({0x70000007, 0x70000009, 0x7000000A})
"""Global, local and shared memory of older cubins: has a size, takes no bytes."""

_HEADER = Struct("<16sHHIQQQIHHHHHH")
_SECTION = Struct("<IIQQQQIIQQ")
_SYMBOL = Struct("<IBBHQQ")


class Header(NamedTuple):
    """The file header; ``ident`` is its first 16 bytes."""

    ident: bytes
    type: int
    machine: int
    version: int
    entry: int
    segments: int
    sections: int
    flags: int
    size: int
    segment_size: int
    segment_count: int
    section_size: int
    section_count: int
    names: int


class Section(NamedTuple):
    """A section header with its name."""

    name: str
    type: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry_size: int

    @property
    def stored(self) -> bool:
        """Whether it takes bytes of the file."""
        return self.type not in (0, NOBITS) and self.type not in CUDA_NOBITS


class Symbol(NamedTuple):
    """A symbol; ``type`` and ``binding`` are the halves of st_info, ``other`` is st_other."""

    name: str
    type: int
    binding: int
    other: int
    section: int
    value: int
    size: int


def header(source: Source) -> Header:
    """The file header; raises Damaged for one that is cut or of another form."""
    if source.size < _HEADER.size:
        raise Damaged(f"is an ELF file cut off in its header, after {source.size} bytes")
    found = Header(*_HEADER.unpack(source.read(0, _HEADER.size)))
    if found.ident[4] != 2 or found.ident[5] != 1:
        raise Damaged("is an ELF file of another form than 64-bit little-endian")
    return found


def sections(source: Source, head: Header) -> list[Section]:
    """All sections in order; none for a file without a section table. Raises Damaged."""
    if not head.sections:
        return []
    if head.section_size != _SECTION.size:
        raise Damaged(f"says that a section header has {head.section_size} bytes")
    count, names = head.section_count, head.names
    if count == 0 or names == 0xFFFF:
        # More than fit into the header: section 0 has the numbers.
        first = _SECTION.unpack(_part(source, head.sections, _SECTION.size, "section table"))
        count, names = count or first[5], first[6] if names == 0xFFFF else names
    rows = list(
        _SECTION.iter_unpack(_part(source, head.sections, count * _SECTION.size, "section table"))
    )
    text = b""
    if 0 < names < len(rows):
        text = _part(source, rows[names][4], rows[names][5], "table of section names")
    return [_section(row, text) for row in rows]


def _part(source: Source, offset: int, size: int, what: str) -> bytes:
    try:
        return source.read(offset, size)
    except Damaged:
        raise Damaged(f"is damaged or cut off: its {what} is beyond its end") from None


def _section(row: tuple[int, ...], names: bytes) -> Section:
    name, type_, flags, _, offset, size, link, info, align, entry_size = row
    return Section(_text(names, name), type_, flags, offset, size, link, info, align, entry_size)


def content(source: Source, section: Section) -> bytes:
    """A section's bytes; none where it takes none of the file. Raises Damaged."""
    if not section.stored:
        return b""
    return _part(source, section.offset, section.size, f"section {section.name}")


def symbols(source: Source, found: list[Section]) -> list[Symbol]:
    """The symbols of the symbol table, in order; none without one. Raises Damaged."""
    table = next((section for section in found if section.type == SYMTAB), None)
    if table is None:
        return []
    if not 0 < table.link < len(found):
        raise Damaged("is damaged: its symbol table has no names")
    names = content(source, found[table.link])
    try:
        rows = list(_SYMBOL.iter_unpack(content(source, table)))
    except error:
        raise Damaged("is damaged: its symbol table ends within a symbol") from None
    return [
        Symbol(_text(names, name), info & 15, info >> 4, other, index, value, size)
        for name, info, other, index, value, size in rows
    ]


def extent(source: Source) -> int:
    """Where the file ends by its headers: what lies behind is padding. Raises Damaged."""
    head = header(source)
    found = sections(source, head)
    ends = [_HEADER.size, head.sections + _SECTION.size * len(found)]
    ends += [s.offset + s.size for s in found if s.stored]
    ends.append(head.segments + head.segment_size * head.segment_count)
    return max(ends)


def _text(names: bytes, at: int) -> str:
    end = names.find(b"\0", at)
    return names[at : end if end >= 0 else len(names)].decode("utf-8", "replace")
