"""From paths and bytes to texts: which files there are, what they hold, and what can't be read."""

from __future__ import annotations

from .files import Patterns, find
from .text import (
    InputError,
    NothingInside,
    decode,
    is_container,
    is_container_file,
    metadata,
    read,
    unwritable,
    write,
)

__all__ = [
    "InputError",
    "NothingInside",
    "Patterns",
    "decode",
    "find",
    "is_container",
    "is_container_file",
    "metadata",
    "read",
    "unwritable",
    "write",
]
