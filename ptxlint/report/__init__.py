"""The formats that findings come out in: one module each, with ``render(reports, context)``."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from ..engine.registry import Entry
from ..model import FileReport

FORMATS = {
    "full": "full",
    "concise": "concise",
    "json": "json_object",
    "json-lines": "json_lines",
    "sarif": "sarif",
    "github": "github",
}


class Context(NamedTuple):
    """What a format may need besides the reports: the rules that ran, and whether to colour."""

    rules: tuple[Entry, ...] = ()
    color: bool = False


def render(format: str, reports: Sequence[FileReport], context: Context | None = None) -> str:
    """The reports in a format out of FORMATS; empty, or ending in a line end."""
    module = import_module(f".{FORMATS[format]}", __name__)
    text: str = module.render(reports, context or Context())
    return text
