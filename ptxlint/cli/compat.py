"""``ptxlint compat FILE…``: the lowest PTX version, target and driver that files need."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from ..analysis.compatibility import verdict
from ..engine.api import compat
from ..engine.options import driver as checked
from ..inputs import InputError, Patterns, decode, find, is_container, is_container_file, read
from ..inputs.images import Image, Inputs, open_inputs
from ..inputs.inventory import inventories, target
from ..inputs.source import Source
from ..report.compatibility import Row, json_text, text
from .arguments import Parser
from .main import FOUND, TROUBLE, complain


def run(words: Sequence[str]) -> int:
    """The exit status of ``compat``: 1 where ``--driver`` does not take a file as it is."""
    flags = _parser().parse(words)
    driver = checked(flags.driver) if flags.driver is not None else None
    files, problems = find(flags.paths, Patterns())
    rows: list[Row] = []
    for name in files:
        for found in _compat(name):
            if isinstance(found, InputError):
                problems.append(found)
            else:
                rows.append(found)
    form = json_text if flags.output_format == "json" else text
    sys.stdout.write(form(rows, driver))
    for problem in problems:
        complain(str(problem))
    if problems:
        return TROUBLE
    refused = driver is not None and any(
        row.found is not None and verdict(row.found, driver)[0] is False for row in rows
    )
    return FOUND if refused else 0


def _compat(name: str) -> Iterator[Row | InputError]:
    """What a file needs, each PTX image of a binary by itself, or why it can't be read."""
    try:
        if is_container_file(name):
            yield from _binary(open_inputs(name))
            return
        content = sys.stdin.buffer.read() if name == "-" else read(name)
        if is_container(content):
            yield from _binary(Inputs(Source(content), name))
        else:
            yield Row(name, None, compat(decode(content, name)))
    except InputError as error:
        yield error


def _binary(inside: Inputs) -> Iterator[Row | InputError]:
    name = inside.path
    for inventory in inventories(inside):
        if inventory.cubins:
            targets = sorted({target(image) for image in inventory.cubins})
            yield Row(name, inventory.member, None, tuple(map(str, targets)))
        for image in inventory.ptx:
            yield _image(image)
    yield from inside.problems


def _image(image: Image) -> Row | InputError:
    try:
        return Row(image.path, image.member, compat(decode(image.load(), image.name)))
    except InputError as error:
        return error


def _parser() -> Parser:
    flags = Parser("compat", "Say which PTX version, target and driver files need, and why.")
    flags.add_argument("paths", nargs="+", metavar="PATH", help="file, directory, or - for stdin")
    flags.add_argument(
        "--driver", metavar="BRANCH", help="does this Linux driver take them (535, 535.54.03)"
    )
    flags.add_argument("--output-format", choices=("text", "json"), default="text")
    flags.add_argument("--isolated", action="store_true", help="read no configuration file")
    return flags
