"""``ptxlint extract FILE…``: what GPU code is in files, and writes it out."""

from __future__ import annotations

import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence

from ..engine.options import UsageError, target
from ..inputs import InputError, NothingInside, Patterns, find, unwritable
from ..inputs.extractors import EXTRACTORS, extractor
from ..inputs.images import Image
from ..report.inventory import json_text, text
from .arguments import Join, Parser
from .main import TROUBLE, complain

_KINDS = ("ptx", "cubin")
# What is looked into in directories.
_BINARIES = (
    "*.ptx",
    "*.cubin",
    "*.fatbin",
    "*.o",
    "*.so",
    "*.so.*",
    "*.a",
    "*.whl",
    "*.zip",
    "*.dll",
    "*.exe",
    "*.pyd",
    "*.obj",
    "*.lib",
)
_UNSAFE = re.compile(r"[^\w.+-]+")


def run(words: Sequence[str]) -> int:
    """The exit status of ``extract``: 2 where anything asked for could not be read or written."""
    flags = _parser().parse(words)
    listed = flags.list or flags.output is None
    if flags.list and flags.output is not None:
        raise UsageError("--list writes nothing: leave out -o")
    archs = [target(name) for name in flags.arch]
    files, problems = find(flags.paths, Patterns(_BINARIES))
    found: list[tuple[str, list[Image], list[str]]] = []
    taken: set[str] = set()
    for path in files:
        try:
            inside = extractor(flags.extract_with)(path)
        except InputError as error:
            problems.append(error)
            continue
        images: list[Image] = []
        written: list[str] = []
        for image in inside:
            if not _wanted(image, flags, archs):
                continue
            images.append(image)
            if not listed:
                problems += _save(image, flags.output, written, taken)
        # Not every library of a directory has to hold GPU code.
        named = path in flags.paths
        problems += [p for p in inside.problems if named or not isinstance(p, NothingInside)]
        found.append((path, images, written))
    _print(found, flags, listed)
    for problem in problems:
        complain(str(problem))
    return TROUBLE if problems else 0


def _wanted(image: Image, flags: Namespace, archs: list[str]) -> bool:
    """Whether ``--kind`` and ``--arch`` take an image; ``sm_90`` takes sm_90a too."""
    if flags.kind is not None and image.kind != flags.kind:
        return False
    names = {image.target, f"sm_{image.sm}"}
    return not archs or not names.isdisjoint(arch.replace("compute_", "sm_") for arch in archs)


def _save(image: Image, folder: str, written: list[str], taken: set[str]) -> Iterator[InputError]:
    """Write one image of a kind that stands for itself; yields what went wrong."""
    if image.kind not in _KINDS:
        return
    path = os.path.join(folder, _free_name(_file_name(image), taken))
    try:
        data = image.load()
        os.makedirs(folder, exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        written.append(path)
    except InputError as error:
        yield error
    except OSError as error:
        yield unwritable(path, error)


def _file_name(image: Image) -> str:
    """``libfoo.so.3.sm_80.ptx``: a plain name, unlike any other of the same file."""
    base = os.path.basename(image.path)
    return base if image.member is None else _UNSAFE.sub("_", f"{base}.{image.member}")


def _free_name(name: str, taken: set[str]) -> str:
    """The name, or one with a number where another image has it (``lib.2.so.1.sm_80.ptx``)."""
    stem, dot, rest = name.partition(".")
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{stem}.{number}{dot}{rest}"
    taken.add(free)
    return free


def _print(found: list[tuple[str, list[Image], list[str]]], flags: Namespace, listed: bool) -> None:
    if flags.output_format == "json":
        sys.stdout.write(json_text(found))
        return
    for path, images, written in found:
        if listed and images:
            sys.stdout.write(text(path, images))
        for name in written:
            print(name)


def _parser() -> Parser:
    flags = Parser("extract", "List the PTX and cubins in files of any kind, or write them out.")
    flags.add_argument("paths", nargs="+", metavar="PATH", help="file of any kind, or a directory")
    flags.add_argument("-o", "--output", metavar="DIR", help="write the images into this folder")
    flags.add_argument("--list", action="store_true", help="list them (the default without -o)")
    flags.add_argument("--kind", choices=_KINDS, help="only these")
    flags.add_argument(
        "--arch", action=Join, default=[], metavar="SM", help="only for these targets (sm_80,sm_90)"
    )
    flags.add_argument(
        "--extract-with",
        choices=tuple(EXTRACTORS),
        default="native",
        help="who reads the files (default: native)",
    )
    flags.add_argument("--output-format", choices=("text", "json"), default="text")
    flags.add_argument("--isolated", action="store_true", help="read no configuration file")
    return flags
