"""Fatbin containers: what nvcc puts PTX and cubins into, in object files or by itself.

NVIDIA does not document the format. It was read off files that fatbinary 12.8 to 13.5 made, in
every mode that it has, and is held against what cuobjdump takes out of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import NamedTuple

from .compression import LZ4, NONE, ZSTD, unpack
from .elf import extent
from .source import Damaged, Source

MAGIC = b"\x50\xed\x55\xba"

PTX, CUBIN, NVVM, GROUP = 1, 2, 8, 0x100
KINDS = {PTX: "ptx", CUBIN: "cubin", NVVM: "nvvm"}

DEBUG = 0x2
_LZ4, _ZSTD = 0x2000, 0x8000
_ACCELERATED, _FAMILY = 0x100000, 0x200000
_BINARY_OPTIONS = 0x1000000

_CONTAINER = Struct("<4sHHQ")
_ENTRY = Struct("<HHIIIIIHHIIIQQQ")
_BLOCK = Struct("<II")


class Entry(NamedTuple):
    """One image as its header describes it.

    ``kind`` is PTX, CUBIN, NVVM or another number. ``payload`` holds the ``stored`` bytes, padding
    included where they are not compressed; ``size`` is what they unpack to. ``version`` is that of
    the PTX ISA for PTX. ``options`` is what the assembler was told.
    """

    kind: int
    sm: int
    flags: int
    version: tuple[int, int]
    compression: str
    stored: int
    size: int
    payload: Source
    identifier: str
    options: str

    @property
    def suffix(self) -> str:
        """``a`` for one GPU only, ``f`` for a family, else empty."""
        return "a" if self.flags & _ACCELERATED else "f" if self.flags & _FAMILY else ""

    def load(self) -> bytes:
        """The image: byte for byte what cuobjdump takes out. Raises Damaged, MissingLibrary."""
        packed = self.compression != NONE and not isinstance(self.payload, _Member)
        if self.kind == CUBIN and not packed:
            return self.payload.read(0, extent(self.payload))
        data = self.payload.read(0, self.payload.size)
        if packed:
            data = unpack(data, self.size, self.compression)
        if self.kind == PTX:
            end = data.find(b"\0")
            return data if end < 0 else data[:end]
        return data


def containers(source: Source) -> Iterator[tuple[int, int]]:
    """Offset and size (header included) of the containers that lie one behind the other.

    Raises Damaged for one that claims to be longer than what holds it.
    """
    at = 0
    while at + _CONTAINER.size <= source.size:
        magic, version, header, size = _CONTAINER.unpack(source.read(at, _CONTAINER.size))
        if magic != MAGIC:
            # Alignment, or the end: the linker pads with zeros.
            at = next((place for place in source.scan(MAGIC, at) if place % 8 == 0), source.size)
            continue
        if version != 1 or header < _CONTAINER.size:
            raise Damaged(f"holds a fatbin of version {version}, which is not known")
        if header + size > source.size - at:
            raise Damaged(
                f"holds a fatbin that says it has {size} bytes where {source.size - at} are left"
            )
        yield at, header + size
        at += header + size


def scan(source: Source) -> Iterator[tuple[int, int]]:
    """As ``containers``, in a file of which nothing is known: whatever fits one is taken."""
    end = 0
    for at in source.scan(MAGIC):
        if at < end or at + _CONTAINER.size > source.size:
            continue
        _, version, header, size = _CONTAINER.unpack(source.read(at, _CONTAINER.size))
        if version == 1 and header == _CONTAINER.size and header + size <= source.size - at:
            end = at + header + size
            yield at, header + size


def entries(container: Source) -> Iterator[Entry]:
    """The images of one container, in order; raises Damaged where an entry can't be."""
    at = _CONTAINER.unpack(container.read(0, _CONTAINER.size))[2]
    while at + _ENTRY.size <= container.size:
        row = _ENTRY.unpack(container.read(at, _ENTRY.size))
        header, padded, stored = row[2], row[3], row[5]
        if header < _ENTRY.size or header + padded > container.size - at:
            raise Damaged(
                f"holds an image of {header} + {padded} bytes where {container.size - at} are left"
            )
        if stored > padded:
            raise Damaged(f"holds an image of {stored} packed bytes in {padded}")
        head = container.slice(at, header)
        compression = _compression(row[12])
        if compression == NONE:
            stored = padded
        payload = container.slice(at + header, stored)
        if row[0] == GROUP:
            yield from _group(head, row[6], _Packed(payload, row[14], compression))
        else:
            size = stored if compression == NONE else row[14]
            yield _entry(head, row, payload, compression, stored, size)
        at += header + padded


def _group(head: Source, place: int, packed: _Packed) -> Iterator[Entry]:
    """The images of a concat group: headers that stand together, payloads packed as one."""
    count, size = _BLOCK.unpack(_part(head, place, _BLOCK.size))
    rest = Source(_part(head, place + _BLOCK.size, size - _BLOCK.size))
    at = 0
    for _ in range(count):
        row = _ENTRY.unpack(_part(rest, at, _ENTRY.size))
        offset, stored = row[2], row[3]
        if offset + stored > packed.size:
            raise Damaged(f"holds an image at {offset} + {stored} of a group of {packed.size}")
        part = rest.slice(at, rest.size - at)
        method = packed.compression
        yield _entry(part, row, _Member(packed, offset, stored), NONE, stored, stored)._replace(
            compression=method
        )
        at += _length(part, row)


def _length(part: Source, row: tuple[int, ...]) -> int:
    """Bytes of a header within a group: it does not say."""
    options, place, length = row[6], row[10], row[11]
    end = _ENTRY.size
    if place:
        end = max(end, _padded(place + length))
    if options:
        begin, count = _BLOCK.unpack(_part(part, options, _BLOCK.size))
        end = max(end, _padded(begin + count))
    return end


def _part(head: Source, at: int, size: int) -> bytes:
    try:
        return head.read(at, size)
    except Damaged:
        raise Damaged("holds an image whose header leads beyond its own end") from None


def _padded(size: int) -> int:
    """With a NUL behind it, to the next multiple of eight."""
    return (size + 8) & ~7


class _Packed:
    """The payload of a group, unpacked when one of its images is asked for."""

    def __init__(self, payload: Source, size: int, compression: str) -> None:
        self.size = size
        self.compression = compression
        self._payload = payload
        self._data: bytes | None = None

    def data(self) -> bytes:
        if self._data is None:
            packed = self._payload.read(0, self._payload.size)
            self._data = unpack(packed, self.size, self.compression)
        return self._data


class _Member(Source):
    """One image's bytes in a group."""

    __slots__ = ("_packed",)

    def __init__(self, packed: _Packed, offset: int, size: int) -> None:
        super().__init__(b"", offset, size)
        self._packed = packed

    def read(self, offset: int, size: int) -> bytes:
        return Source(self._packed.data(), self._base, self.size).read(offset, size)


def _compression(flags: int) -> str:
    return ZSTD if flags & _ZSTD else LZ4 if flags & _LZ4 else NONE


def _entry(
    head: Source, row: tuple[int, ...], payload: Source, compression: str, stored: int, size: int
) -> Entry:
    kind, _, _, _, _, _, options, minor, major, sm, place, length, flags, _, _ = row
    name = _part(head, place, length) if place else b""
    text = b""
    if options and not flags & _BINARY_OPTIONS:
        begin, count = _BLOCK.unpack(_part(head, options, _BLOCK.size))
        text = _part(head, begin, count)
    return Entry(
        kind,
        sm,
        flags,
        (major, minor),
        compression,
        stored,
        size,
        payload,
        name.rstrip(b"\0").decode("utf-8", "replace"),
        text.rstrip(b"\0").decode("utf-8", "replace").strip(),
    )
