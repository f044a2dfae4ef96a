"""Where images come from: our own reader, or another behind the same interface."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from .images import Image
    from .text import InputError

EXTRACTORS = {"native": ("images", "open_inputs")}
"""What ``--extract-with`` takes: the module of this package, and the Extractor in it."""


class Opened(Protocol):
    """The images of one file; ``problems`` is complete when the iteration has ended."""

    @property
    def path(self) -> str:
        """The file, as it was named."""

    @property
    def problems(self) -> list[InputError]:
        """What could not be read."""

    def __iter__(self) -> Iterator[Image]:
        """The images, in the file's order."""


class Extractor(Protocol):
    """Opens a file for the images in it; raises InputError."""

    def __call__(self, path: str) -> Opened:
        """The images of the file at ``path``."""


def extractor(name: str) -> Extractor:
    """The extractor of that name; raises KeyError."""
    module, function = EXTRACTORS[name]
    found: Extractor = getattr(import_module(f".{module}", __package__), function)
    return found
