"""Members of ar archives: static libraries."""

from __future__ import annotations

from collections.abc import Iterator

from .source import Damaged, Source

MAGIC, THIN = b"!<arch>\n", b"!<thin>\n"
_HEADER = 60


def members(source: Source) -> Iterator[tuple[str, Source]]:
    """Name and bytes of each member but the tables; raises Damaged for a broken header."""
    names = b""
    at = len(MAGIC)
    while at + _HEADER <= source.size:
        header = source.read(at, _HEADER)
        number = header[48:58].strip()
        if header[58:60] != b"`\n" or not number.isdigit():
            raise Damaged(f"is a damaged archive: no member header at byte {at}")
        if int(number) > source.size - at - _HEADER:
            raise Damaged(f"is cut off: its member at byte {at} is beyond its end")
        body = source.slice(at + _HEADER, int(number))
        at += _HEADER + body.size + (body.size & 1)
        name = header[:16].rstrip()
        if name == b"//":
            names = body.read(0, body.size)
        elif name.startswith(b"#1/") and name[3:].isdigit():
            # BSD: the name stands in front of the content.
            length = int(name[3:])
            name = body.read(0, length).rstrip(b"\0")
            if name.startswith(b"__.SYMDEF"):
                continue
            yield _text(name), body.slice(length, body.size - length)
        elif name[:1] == b"/" and name[1:].isdigit():
            yield _text(names[int(name[1:]) :].partition(b"/\n")[0]), body
        elif name not in (b"/", b"/SYM64/"):
            yield _text(name.rstrip(b"/")), body


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
