"""Members of zip archives and wheels; the large ones are unpacked to a temporary file."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from .source import Damaged, Source

MAGIC, EMPTY = b"PK\x03\x04", b"PK\x05\x06"
HEAD = 64
"""How many bytes of a member are read to see what it is."""

_IN_MEMORY = 8 << 20
_LOCAL_HEADER = 30
# What code packs to; beyond that a member is taken for a bomb, unless it is small anyway.
_RATIO, _ALWAYS = 100, 64 << 20
_BROKEN = (BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError, OSError)


class Member:
    """One member: its name, its first bytes, and all of them when asked for."""

    def __init__(self, archive: ZipFile, info: ZipInfo, source: Source) -> None:
        self.name = info.filename
        self._archive = archive
        self._info = info
        self._source = source

    def head(self) -> bytes:
        """The first bytes; raises Damaged."""
        try:
            with self._archive.open(self._info) as stream:
                return stream.read(HEAD)
        except _BROKEN as error:
            raise _damaged(error) from None

    def open(self) -> Source:
        """The whole member; raises Damaged, also for one that is packed beyond belief."""
        info = self._info
        if info.compress_type == ZIP_STORED and not info.flag_bits & 1:
            return self._stored(info)
        if info.file_size > max(_ALWAYS, _RATIO * info.compress_size):
            raise Damaged(
                f"says that {info.compress_size} bytes unpack to {info.file_size}, "
                "which is not believed"
            )
        try:
            with self._archive.open(info) as stream:
                if info.file_size <= _IN_MEMORY:
                    return Source(stream.read())
                return _spooled(stream)
        except _BROKEN as error:
            raise _damaged(error) from None

    def _stored(self, info: ZipInfo) -> Source:
        """A member that is not packed, where it lies."""
        head = self._source.read(info.header_offset, _LOCAL_HEADER)
        lengths = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        return self._source.slice(info.header_offset + _LOCAL_HEADER + lengths, info.file_size)


def members(source: Source) -> Iterator[Member]:
    """The files in an archive, in its order. Raises Damaged."""
    try:
        archive = ZipFile(_Stream(source))
    except _BROKEN as error:
        raise Damaged(f"is a damaged zip archive: {_reason(error)}") from None
    for info in archive.infolist():
        if not info.is_dir():
            yield Member(archive, info, source)


def _spooled(stream: IO[bytes]) -> Source:
    """What a stream holds, in a file that has no name any more and goes with its last reader."""
    handle, path = tempfile.mkstemp(prefix="ptxlint-")
    with os.fdopen(handle, "wb") as file:
        try:
            shutil.copyfileobj(stream, file, 1 << 20)
            file.flush()
            return Source.open(path)
        finally:
            _unlink(path)


def _unlink(path: str) -> None:
    """Some systems keep a file that is open: then it stays in the folder for temporary files."""
    with suppress(OSError):
        os.unlink(path)


def _damaged(error: BaseException) -> Damaged:
    return Damaged(f"can't be unpacked: {_reason(error)}")


def _reason(error: BaseException) -> str:
    return (str(error) or type(error).__name__).lower()


class _Stream(io.RawIOBase):
    """A source as the file object that zipfile reads."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        base = (0, self._at, self._source.size)[whence]
        if base + offset < 0:
            raise OSError("before the beginning")  # as files do: zipfile counts on it
        self._at = base + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        size = max(min(len(buffer), self._source.size - self._at), 0)
        buffer[:size] = self._source.read(self._at, size)
        self._at += size
        return size
