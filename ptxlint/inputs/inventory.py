"""What GPU code a file holds, as a whole: which GPUs it is for, and whether it fits together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from ..isa.targets import FAMILIES, Target
from .cubin import Cubin
from .extractors import Opened
from .images import CUBIN, PTX, Image
from .source import Damaged
from .text import InputError

_ENTRY = re.compile(rb"^[ \t]*(?:\.(?:visible|weak|extern)\s+)*\.entry\s+([\w$]+)", re.MULTILINE)
# Machine code for these is not said to run on others of their generation, nor theirs on these.
_ALONE = frozenset({53, 62, 72, 87, 101, 110})


class Inventory:
    """The images of one file; ``member`` names it where it lies in an archive itself.

    ``problems`` are images whose names were asked for and could not be read.
    """

    def __init__(self, path: str, member: str | None, images: Sequence[Image]) -> None:
        self.path = path
        self.member = member
        self.images = images
        self.problems: list[InputError] = []
        self._entries: dict[int, frozenset[str] | None] = {}

    @property
    def ptx(self) -> list[Image]:
        """The images that are PTX."""
        return [image for image in self.images if image.kind == PTX]

    @property
    def cubins(self) -> list[Image]:
        """The images that are machine code."""
        return [image for image in self.images if image.kind == CUBIN]

    def containers(self) -> list[list[Image]]:
        """The PTX and cubins by the container that they lie in, where it holds any."""
        code = [image for image in self.images if image.kind in (PTX, CUBIN)]
        return [list(group) for _, group in groupby(code, key=lambda image: image.container)]

    def entries(self, image: Image) -> frozenset[str] | None:
        """The names of an image's kernels; None where it can't be read."""
        key = id(image)
        if key not in self._entries:
            try:
                self._entries[key] = _names(image)
            except InputError as error:
                self.problems.append(error)
                self._entries[key] = None
        return self._entries[key]


def inventories(inside: Opened) -> Iterator[Inventory]:
    """One inventory for each file within a file, in order; ar archives count as one file."""
    for member, images in groupby(inside, key=lambda image: image.file):
        yield Inventory(inside.path, member, list(images))


def loaded(image: Image) -> bytes | InputError:
    """An image's bytes, or why they can't be had."""
    try:
        return image.load()
    except InputError as error:
        return error


def target(image: Image) -> Target:
    """What an image is for."""
    return Target(image.sm, image.suffix)


def runs_on(image: Image, gpu: Target) -> bool:
    """Whether a GPU can run an image: a cubin as it is, PTX once the driver has compiled it.

    Cubins run on GPUs of their generation from their own number on; those of ``a`` targets on
    that GPU alone, those of ``f`` targets in their family. Machine code for the GPUs of Tegra
    systems is taken to run on its own only.
    """
    own = target(image)
    if image.kind == PTX:
        return own.runs_on(gpu)
    if image.kind != CUBIN:
        return False
    if own.number == gpu.number:
        return True
    if own.suffix == "a" or own.number > gpu.number or {own.number, gpu.number} & _ALONE:
        return False
    if own.suffix == "f":
        return any({own.number, gpu.number} <= family for family in FAMILIES)
    return own.number // 10 == gpu.number // 10


def virtual(image: Image) -> int | None:
    """The number of the PTX target that a cubin was assembled from; raises InputError."""
    return _cubin(image).virtual_sm


def _names(image: Image) -> frozenset[str]:
    if image.kind == CUBIN:
        return frozenset(_cubin(image).entry_names())
    return frozenset(name.decode() for name in _ENTRY.findall(image.load()))


def _cubin(image: Image) -> Cubin:
    try:
        return Cubin(image.load())
    except Damaged as error:
        raise InputError(image.name, str(error)) from None
