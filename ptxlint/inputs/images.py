"""GPU code out of whatever holds it: cubins, fatbins, object files, libraries, archives, wheels.

Headers only: an image's bytes are read, and unpacked, when they are asked for.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from . import archive, elf, fatbin
from .compression import NONE, MissingLibrary
from .source import Damaged, Source
from .text import InputError, NothingInside, binary, is_container, reason

PTX, CUBIN, NVVM = "ptx", "cubin", "nvvm"

_WRAPPER = b"\xb1\x43\x62\x46"
_WINDOWS = (b"MZ\x90\x00", b"\x64\x86")
_ZIPS = (b"PK\x03\x04", b"PK\x05\x06")
_SECTIONS = (".nv_fatbin", "__nv_relfatbin")
_DEPTH = 4
_HEAD = 4096
_TARGET = re.compile(rb"^\s*\.target\s+sm_(\d+)([af]?)", re.MULTILINE)
_VERSION = re.compile(rb"^\s*\.version\s+(\d+)\.(\d+)", re.MULTILINE)


@dataclass(slots=True, eq=False)
class Image:
    """One piece of GPU code in a file.

    ``member`` names it within the file (``3.sm_80.ptx``, ``lib/libfoo.so!3.sm_80.ptx``; numbers
    count each kind from 1, as cuobjdump's do), None where the file is the image. ``kind`` is
    ``ptx``, ``cubin``, ``nvvm``, or a number that is not known. ``sm`` is 0 where a PTX file does
    not say. ``version`` is the PTX ISA's for PTX. ``stored`` and ``size`` are bytes as stored and
    unpacked, padding included. ``file`` is the member of a zip archive that it is in, None outside
    of them. Images of one ``container`` (from 1) were made from one source file or link.
    ``options`` is what the assembler was told, as the container has it.
    """

    path: str
    member: str | None
    kind: str
    sm: int
    suffix: str
    version: tuple[int, int]
    compression: str
    stored: int
    size: int
    file: str | None
    container: int
    flags: int
    identifier: str
    options: str
    _read: Callable[[], bytes]

    @property
    def target(self) -> str:
        """``sm_90a``."""
        return f"sm_{self.sm}{self.suffix}"

    @property
    def name(self) -> str:
        """Path and member: ``libfoo.so!3.sm_80.ptx``."""
        return self.path if self.member is None else f"{self.path}!{self.member}"

    @property
    def debug(self) -> bool:
        """Whether the container says that it was built for debugging."""
        return bool(self.flags & fatbin.DEBUG)

    def load(self) -> bytes:
        """The image's bytes, the same that cuobjdump extracts; raises InputError."""
        try:
            data = self._read()
        except (Damaged, MissingLibrary) as error:
            raise InputError(self.name, str(error)) from None
        if not data:
            raise InputError(self.name, "is empty")
        return data


class Inputs:
    """The images of one file, found as they are iterated over.

    ``problems`` holds what could not be read, once the iteration has passed it: the rest goes on.
    A file without any GPU code is one, NothingInside.
    """

    def __init__(self, source: Source, path: str) -> None:
        self.path = path
        self.problems: list[InputError] = []
        self._source = source
        self._containers = 0
        self._member: str | None = None

    def __iter__(self) -> Iterator[Image]:
        self.problems.clear()
        self._containers, self._member = 0, None
        found = False
        for image in self._guarded(self._source, "", 0):
            found = True
            yield image
        if not found and not self.problems:
            self.problems.append(NothingInside(self.path, self._nothing()))

    def _nothing(self) -> str:
        if self._source.size == 0:
            return "is empty"
        head = self._source.read(0, min(_HEAD, self._source.size))
        if head.startswith(_ZIPS[1]):
            return "is an empty zip archive"
        if is_container(head):
            return "holds no GPU code"
        return f"is {binary(head) or 'no GPU code'}"

    def _guarded(self, source: Source, at: str, depth: int) -> Iterator[Image]:
        """The images of a file within the file; ``at`` names it, empty for the file itself."""
        try:
            yield from self._file(source, at, depth)
        except Damaged as error:
            name = f"{self.path}!{at}" if at else self.path
            self.problems.append(InputError(name, str(error)))

    def _file(self, source: Source, at: str, depth: int) -> Iterator[Image]:
        head = source.read(0, min(16, source.size))
        if head.startswith(elf.MAGIC):
            yield from self._elf(source, at)
        elif head.startswith(fatbin.MAGIC):
            yield from self._fatbins(source, fatbin.containers(source), at)
        elif head.startswith((_WRAPPER, *_WINDOWS)):
            yield from self._fatbins(source, fatbin.scan(source), at)
        elif head.startswith(archive.THIN):
            raise Damaged("is a thin archive: name the object files that it lists")
        elif head.startswith(archive.MAGIC) and depth < _DEPTH:
            for name, body in archive.members(source):
                yield from self._guarded(body, _join(at, name), depth + 1)
        elif head.startswith(_ZIPS) and depth < _DEPTH:
            yield from self._zip(source, at, depth)
        elif at.endswith(".ptx") or not at:
            yield from self._text(source, at)

    def _elf(self, source: Source, at: str) -> Iterator[Image]:
        head = elf.header(source)
        if head.machine == elf.CUDA:
            yield self._cubin(source, at)
            return
        if head.machine == elf.AMD:
            raise Damaged("is code for AMD GPUs")
        sections = elf.sections(source, head)
        wanted = [s for name in _SECTIONS for s in sections if s.name == name and s.stored]
        _apart(wanted)
        counts: Counter[str] = Counter()
        for section in wanted:
            try:
                part = source.slice(section.offset, section.size)
            except Damaged:
                raise Damaged(f"is cut off: section {section.name} is beyond its end") from None
            yield from self._fatbins(part, fatbin.containers(part), at, counts)
        if not sections:
            yield from self._fatbins(source, fatbin.scan(source), at)

    def _fatbins(
        self,
        source: Source,
        places: Iterator[tuple[int, int]],
        at: str,
        counts: Counter[str] | None = None,
    ) -> Iterator[Image]:
        counts = Counter() if counts is None else counts
        for offset, size in places:
            self._containers += 1
            for entry in fatbin.entries(source.slice(offset, size)):
                kind = fatbin.KINDS.get(entry.kind, str(entry.kind))
                counts[kind] += 1
                target = f"sm_{entry.sm}{entry.suffix}"
                yield Image(
                    self.path,
                    _join(at, f"{counts[kind]}.{target}.{kind}"),
                    kind,
                    entry.sm,
                    entry.suffix,
                    entry.version,
                    entry.compression,
                    entry.stored,
                    entry.size,
                    self._member,
                    self._containers,
                    entry.flags,
                    entry.identifier,
                    entry.options,
                    entry.load,
                )

    def _cubin(self, source: Source, at: str) -> Image:
        from .cubin import target

        self._containers += 1
        sm, suffix = target(source)
        whole = partial(source.read, 0, source.size)
        return self._plain(at, CUBIN, sm, suffix, (0, 0), source.size, whole)

    def _text(self, source: Source, at: str) -> Iterator[Image]:
        head = source.read(0, min(_HEAD, source.size))
        if not head or binary(head) is not None:
            return
        self._containers += 1
        target, version = _TARGET.search(head), _VERSION.search(head)
        yield self._plain(
            at,
            PTX,
            int(target[1]) if target else 0,
            target[2].decode() if target else "",
            (int(version[1]), int(version[2])) if version else (0, 0),
            source.size,
            partial(source.read, 0, source.size),
        )

    def _plain(
        self,
        at: str,
        kind: str,
        sm: int,
        suffix: str,
        version: tuple[int, int],
        size: int,
        read: Callable[[], bytes],
    ) -> Image:
        """An image that is a file of its own, or a member of an archive."""
        member = at or None
        number = self._containers
        return Image(
            self.path,
            member,
            kind,
            sm,
            suffix,
            version,
            NONE,
            size,
            size,
            self._member,
            number,
            0,
            "",
            "",
            read,
        )

    def _zip(self, source: Source, at: str, depth: int) -> Iterator[Image]:
        from . import zips

        for member in zips.members(source):
            name = _join(at, member.name)
            try:
                head = member.head()
                if not is_container(head) and not member.name.endswith(".ptx"):
                    continue
                body = member.open()
            except Damaged as error:
                self.problems.append(InputError(f"{self.path}!{name}", str(error)))
                continue
            self._member = name
            yield from self._guarded(body, name, depth + 1)


def open_inputs(path: str) -> Inputs:
    """The images of a file of any kind that is known; raises InputError for one that can't be read.

    The file is closed when neither this nor an image of it is referred to any more.
    """
    try:
        return Inputs(Source.open(path), path)
    except OSError as error:
        raise InputError(path, reason(error)) from None
    except ValueError as error:  # a NUL in the path
        raise InputError(path, str(error)) from None


def _join(at: str, name: str) -> str:
    return f"{at}!{name}" if at else name


def _apart(sections: list[elf.Section]) -> None:
    """Raise Damaged where two sections share bytes: one image would be read as two."""
    ordered = sorted(sections, key=lambda section: section.offset)
    for one, two in pairwise(ordered):
        if one.offset + one.size > two.offset:
            raise Damaged(f"is damaged: sections {one.name} and {two.name} overlap")
