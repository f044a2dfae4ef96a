"""LZ4 blocks and zstandard frames, unpacked to a size that is known and believed only so far."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .source import Damaged

NONE, LZ4, ZSTD = "none", "lz4", "zstd"

LARGEST = 1 << 30
"""No image is unpacked to more bytes than this; the largest seen in public is 134 MB."""

# An LZ4 block can't grow further; code grows at most some fifty-fold under zstandard.
_LZ4_RATIO = 256
_ZSTD_RATIO = 1000
_ALWAYS = 16 << 20


class MissingLibrary(Exception):
    """The text says in one line which extra brings what is needed."""


def unpack(data: bytes, size: int, method: str) -> bytes:
    """``data`` unpacked: exactly ``size`` bytes.

    Raises Damaged where it holds anything else, or where ``size`` is beyond belief: memory is not
    taken for what can't be there. Raises MissingLibrary without lz4 or zstandard.
    """
    ratio = _LZ4_RATIO if method == LZ4 else _ZSTD_RATIO
    if size > LARGEST or size > max(_ALWAYS, ratio * len(data)):
        raise Damaged(f"says that {len(data)} bytes unpack to {size}, which is not believed")
    if size == 0:
        return b""
    return _lz4(data, size) if method == LZ4 else _zstd(data, size)


def _lz4(data: bytes, size: int) -> bytes:
    library = _library("lz4.block", "LZ4", "lz4")
    try:
        result: bytes = library.decompress(data, uncompressed_size=size)
    except (ValueError, RuntimeError, OverflowError, library.LZ4BlockError):
        raise Damaged(f"is no LZ4 block of {size} bytes") from None
    return _exactly(result, size)


def _zstd(data: bytes, size: int) -> bytes:
    """A frame may say its size too, and memory would be taken for that."""
    library = _library("zstandard", "zstandard", "zstandard")
    try:
        told = library.frame_content_size(data)
        if told not in (-1, size):
            raise Damaged(f"unpacks to {told} bytes, not the {size} that it says")
        result: bytes = library.ZstdDecompressor().decompress(data, max_output_size=size)
    except (library.ZstdError, ValueError, MemoryError):
        raise Damaged(f"is no zstandard frame of {size} bytes") from None
    return _exactly(result, size)


def _exactly(result: bytes, size: int) -> bytes:
    if len(result) != size:
        raise Damaged(f"unpacks to {len(result)} bytes, not the {size} that it says")
    return result


def _library(module: str, what: str, name: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise MissingLibrary(
            f'is compressed with {what}: pip install "ptxlint[binary]" brings {name}'
        ) from None
