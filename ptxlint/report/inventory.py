"""What ``ptxlint extract --list`` prints: a table for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ..inputs.images import Image

_HEAD = ("member", "kind", "target", "version", "bytes", "stored", "packed", "options")
_RIGHT = {"version", "bytes", "stored"}


def text(path: str, images: Sequence[Image]) -> str:
    """The images of one file, a line each, under the file's name."""
    rows = [_HEAD, *(_row(image) for image in images)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(_HEAD))]
    lines = [path]
    for row in rows:
        cells = [
            cell.rjust(width) if name in _RIGHT else cell.ljust(width)
            for name, cell, width in zip(_HEAD, row, widths, strict=True)
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return "\n".join(lines) + "\n"


def _row(image: Image) -> tuple[str, ...]:
    version = "{}.{}".format(*image.version) if image.kind == "ptx" and image.version[0] else "-"
    return (
        image.member or "(the file)",
        image.kind,
        image.target if image.sm else "-",
        version,
        str(image.size),
        str(image.stored),
        image.compression,
        image.options or "-",
    )


def json_text(files: Sequence[tuple[str, Sequence[Image], Sequence[str]]]) -> str:
    """One versioned object: for each file its images and the paths that they were written to."""
    value = {
        "schema_version": 1,
        "files": [
            {
                "path": path,
                "images": [_value(image) for image in images],
                "written": list(written),
            }
            for path, images, written in files
        ],
    }
    return json.dumps(value, indent=1) + "\n"


def _value(image: Image) -> dict[str, object]:
    ptx = image.kind == "ptx" and image.version[0]
    return {
        "member": image.member,
        "kind": image.kind,
        "target": image.target if image.sm else None,
        "version": "{}.{}".format(*image.version) if ptx else None,
        "size": image.size,
        "stored": image.stored,
        "compression": image.compression,
        "container": image.container,
        "debug": image.debug,
        "identifier": image.identifier,
        "options": image.options,
    }
