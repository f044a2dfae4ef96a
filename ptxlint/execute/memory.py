"""Memory: regions of bytes with their undefined bits, and the address spaces made of them."""

from __future__ import annotations

from bisect import bisect_right

# Generic addresses of the windows (PTX ISA, "Generic Addressing"): any disjoint choice will do.
SHARED_WINDOW = 0x7F00_0000_0000
LOCAL_WINDOW = 0x7E00_0000_0000
WINDOW_SIZE = 1 << 32
PARAM_BASE = 0x7D00_0000_0000
CONST_BASE = 0x7C00_0000_0000
GLOBAL_BASE = 0x7A00_0000_0000
# Between two objects, so that running over the end of one does not hit the next, even by an index
# that is far too large.
GAP = 1 << 27


class Region:
    """Bytes from ``base`` on; ``undefined`` has the undefined bits of each, None if none are."""

    __slots__ = ("base", "data", "name", "undefined")

    def __init__(self, base: int, size: int, name: str = "", data: bytes | None = None) -> None:
        self.base = base
        self.name = name
        self.data = bytearray(size)
        self.undefined: bytearray | None = None
        given = 0 if data is None else min(size, len(data))
        if data is not None:
            self.data[:given] = data[:given]
        if given < size:
            self.data[given:] = b"\xa5" * (size - given)
            self.undefined = bytearray(given) + bytearray(b"\xff" * (size - given))

    @property
    def end(self) -> int:
        """The address after the last byte."""
        return self.base + len(self.data)

    def grow(self, size: int) -> None:
        """At least ``size`` bytes; the new ones are undefined."""
        more = size - len(self.data)
        if more > 0:
            if self.undefined is None:
                self.undefined = bytearray(len(self.data))
            self.data += b"\xa5" * more
            self.undefined += b"\xff" * more

    def forget(self, offset: int, size: int) -> None:
        """Make bytes undefined."""
        if self.undefined is None:
            self.undefined = bytearray(len(self.data))
        self.undefined[offset : offset + size] = b"\xff" * size

    def read(self, offset: int, size: int) -> int:
        """``size`` bytes as a little-endian number."""
        return int.from_bytes(self.data[offset : offset + size], "little")

    def marks(self, offset: int, size: int) -> int:
        """The undefined bits of ``size`` bytes, as a little-endian number."""
        if self.undefined is None:
            return 0
        return int.from_bytes(self.undefined[offset : offset + size], "little")

    def write(self, offset: int, size: int, value: int, marks: int = 0) -> None:
        """Set ``size`` bytes and their undefined bits."""
        self.data[offset : offset + size] = value.to_bytes(size, "little")
        if marks:
            if self.undefined is None:
                self.undefined = bytearray(len(self.data))
            self.undefined[offset : offset + size] = marks.to_bytes(size, "little")
        elif self.undefined is not None:
            self.undefined[offset : offset + size] = bytes(size)

    def copy_to(self, offset: int, other: Region, target: int, size: int) -> None:
        """Copy bytes and their undefined bits into another region."""
        other.write(target, size, self.read(offset, size), self.marks(offset, size))


Place = tuple[Region, int]


class Space:
    """Regions by address; new ones are put after the last, with a gap."""

    __slots__ = ("_bases", "_next", "regions")

    def __init__(self, base: int) -> None:
        self.regions: list[Region] = []
        self._bases: list[int] = []
        self._next = base

    def add(self, size: int, align: int, name: str = "", data: bytes | None = None) -> Region:
        """A new region. Its base is an odd multiple of ``align``: no more aligned than it says."""
        base = -(-self._next // align)
        base = (base | 1) * align
        region = Region(base, size, name, data)
        self.regions.append(region)
        self._bases.append(base)
        self._next = region.end + GAP
        return region

    def find(self, address: int, size: int) -> Region | None:
        """The region that holds all ``size`` bytes at ``address``."""
        index = bisect_right(self._bases, address) - 1
        if index < 0:
            return None
        region = self.regions[index]
        return region if address + size <= region.base + len(region.data) else None
