"""Binaries: the PTX in them as texts to lint, and the rules that look at a file as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple

from ..inputs import InputError
from ..inputs.extractors import Opened
from ..inputs.images import CUBIN, Image
from ..inputs.inventory import Inventory, inventories, loaded, runs_on
from ..isa.targets import Target
from ..model import FileReport, Finding, Position, Severity, Span
from .options import Options
from .registry import Entry
from .runner import failure, releveled
from .selection import selected

_START = Span(Position(1, 1), Position(1, 1))
_DRIVER_RULE = "PTX704"


class Text(NamedTuple):
    """The PTX of one image, and the options to lint it with."""

    member: str | None
    content: bytes
    options: Options


def unfold(inside: Opened, options: Options) -> Iterator[Text | FileReport | InputError]:
    """The PTX images of a file, what could not be read, and a report on each file as a whole.

    One image is in memory at a time, as far as the caller lets go of it.
    """
    texts = any(not rule.about_images for rule in selected(options))
    for inventory in inventories(inside):
        for image in inventory.ptx if texts else ():
            content = loaded(image)
            if isinstance(content, InputError):
                yield content
            else:
                yield Text(image.member, content, _options(image, inventory, options))
        yield _whole(inventory, options)
        yield from inventory.problems
    yield from inside.problems


def _options(image: Image, inventory: Inventory, options: Options) -> Options:
    """The options for one image of several: a GPU and driver don't have to take each of them.

    PTX that is not for the GPU asked about is checked against its own target; PTX that the driver
    does not take is an error only where nothing spares the driver from compiling it.
    """
    gpu = Target.parse(options.target) if options.target else None
    if gpu is not None and len(inventory.images) > 1 and not runs_on(image, gpu):
        options = replace(options, target=None)
    spared = any(gpu is None or runs_on(cubin, gpu) for cubin in inventory.cubins)
    if options.driver is not None and spared:
        # Levels that were asked for come later and win.
        info = ((_DRIVER_RULE, Severity.INFO), *options.severity)
        options = replace(options, severity=info)
    return options


def _whole(inventory: Inventory, options: Options) -> FileReport:
    """The report on a file as a whole: what the rules about images find."""
    findings: list[Finding] = []
    for rule in selected(options):
        if rule.about_images:
            findings += _check(rule, inventory, options)
    names: frozenset[str] | None = frozenset()
    if [image.kind for image in inventory.images] == [CUBIN]:
        names = inventory.entries(inventory.images[0])
    return FileReport(
        inventory.path,
        "full" if names is not None else "failed",
        releveled([_fingerprinted(finding) for finding in findings], options),
        sorted(names or ()),
        member=inventory.member,
    )


def _check(rule: Entry, inventory: Inventory, options: Options) -> list[Finding]:
    try:
        check = getattr(rule.load(), "check_images", None)
        return list(check(inventory, options)) if check is not None else []
    except Exception as error:
        return failure(f"rule {rule.name} ({rule.code}) failed", error, _START, options)


def _fingerprinted(finding: Finding) -> Finding:
    text = "\0".join((finding.code, finding.message))
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return replace(finding, fingerprint=digest[:16])
