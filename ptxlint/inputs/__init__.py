"""From paths and bytes to texts: which files there are, what they hold, and what can't be read."""

from __future__ import annotations

from .files import Patterns, find
from .text import InputError, decode, read

__all__ = ["InputError", "Patterns", "decode", "find", "read"]
