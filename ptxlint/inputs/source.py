"""Bytes read only where they are asked for: of a file, or of a buffer in memory.

A library of half a gigabyte is listed by reading some hundred headers out of it.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator

_CHUNK = 1 << 20


class Damaged(Exception):
    """What an input says of itself can't be so; the text says what, in one line."""


class Source:
    """A range of bytes: ``size`` of them. Offsets count from its own beginning."""

    __slots__ = ("_base", "_buffer", "_file", "size")

    def __init__(
        self, buffer: bytes, base: int = 0, size: int | None = None, file: _File | None = None
    ) -> None:
        self._buffer = buffer
        self._file = file
        self._base = base
        self.size = len(buffer) if size is None else size

    @classmethod
    def open(cls, path: str) -> Source:
        """A file's bytes; raises OSError, and ValueError for a NUL in the path."""
        return cls.of(os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0)))

    @classmethod
    def of(cls, descriptor: int) -> Source:
        """The bytes behind a descriptor, which is closed with the last source that reads it."""
        file = _File(descriptor)
        return cls(b"", 0, os.lseek(descriptor, 0, os.SEEK_END), file)

    def read(self, offset: int, size: int) -> bytes:
        """Exactly these bytes; raises Damaged where they lie outside."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise Damaged(f"ends at byte {self.size}, before the {size} bytes at {offset}")
        at = self._base + offset
        if self._file is None:
            return self._buffer[at : at + size]
        data = self._file.read(at, size)
        if len(data) != size:
            raise Damaged("became shorter while it was read")
        return data

    def slice(self, offset: int, size: int) -> Source:
        """A part as a source of its own; raises Damaged where it lies outside."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise Damaged(f"ends at byte {self.size}, before the {size} bytes at {offset}")
        return Source(self._buffer, self._base + offset, size, self._file)

    def scan(self, pattern: bytes, offset: int = 0) -> Iterator[int]:
        """Every place of a pattern from ``offset`` on, read in pieces of a megabyte."""
        tail = len(pattern) - 1
        while offset + tail < self.size:
            data = self.read(offset, min(_CHUNK + tail, self.size - offset))
            at = data.find(pattern)
            while at >= 0:
                yield offset + at
                at = data.find(pattern, at + 1)
            offset += _CHUNK


class _File:
    """A descriptor that is closed when nothing refers to it any more."""

    __slots__ = ("__weakref__", "_descriptor")

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        weakref.finalize(self, os.close, descriptor)

    def read(self, offset: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            data = os.pread(self._descriptor, size, offset)
        else:
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            data = os.read(self._descriptor, size)
        if len(data) == size or not data:
            return data
        # One call reads at most 2 GiB.
        return data + self.read(offset + len(data), size - len(data))
