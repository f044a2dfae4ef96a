"""Fatbins, host ELF files and archives, written byte by byte for tests.

Written from the format's description and not with the reader's own code: what both have wrong is
caught by tests/inputs/test_tools.py, which asks NVIDIA's tools.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

PTX, CUBIN, NVVM = 1, 2, 8
LZ4, ZSTD = 0x2000, 0x8000
ACCELERATED, FAMILY = 0x100000, 0x200000

KERNEL = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"


def padded(data: bytes, to: int = 8) -> bytes:
    return data + b"\0" * (-len(data) % to)


def entry(
    data: bytes,
    kind: int = PTX,
    sm: int = 80,
    flags: int = 0,
    *,
    size: int | None = None,
    version: tuple[int, int] = (8, 0),
    identifier: str = "",
    options: str = "",
) -> bytes:
    """One image; ``data`` is as stored. ``size`` is what it unpacks to, where flags say packed."""
    head = b""
    name = options_at = 0
    if identifier:
        name = 64
        head += padded(identifier.encode() + b"\0")
    if options:
        options_at = 64 + len(head)
        text = options.encode()
        head += struct.pack("<II", options_at + 8, len(text)) + padded(text + b"\0")
    payload = padded(data)
    packed = bool(flags & (LZ4 | ZSTD))
    return (
        struct.pack(
            "<HHIIIIIHHIIIQQQ",
            kind,
            0x0101,
            64 + len(head),
            len(payload),
            0,
            len(data) if packed else 0,
            options_at,
            version[1],
            version[0],
            sm,
            name,
            len(identifier),
            flags | 0x11,
            0,
            (size or 0) if packed else 0,
        )
        + head
        + payload
    )


def container(*entries: bytes) -> bytes:
    body = b"".join(entries)
    return struct.pack("<4sHHQ", b"\x50\xed\x55\xba", 1, 16, len(body)) + body


def host(sections: Sequence[tuple[str, bytes]], machine: int = 62) -> bytes:
    """A host ELF file with these sections."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name, _ in sections) + b".shstrtab\0"
    body, rows, at = b"", [struct.pack("<IIQQQQIIQQ", *[0] * 10)], 1
    for name, data in sections:
        rows.append(struct.pack("<IIQQQQIIQQ", at, 1, 2, 0, 64 + len(body), len(data), 0, 0, 8, 0))
        at += len(name) + 1
        body += padded(data)
    rows.append(struct.pack("<IIQQQQIIQQ", at, 3, 0, 0, 64 + len(body), len(names), 0, 0, 1, 0))
    body += padded(names)
    head = struct.pack(
        "<16sHHIQQQIHHHHHH",
        b"\x7fELF\x02\x01\x01",
        3,
        machine,
        1,
        0,
        0,
        64 + len(body),
        0,
        64,
        56,
        0,
        64,
        len(rows),
        len(rows) - 1,
    )
    return head + body + b"".join(rows)


def archive(members: Sequence[tuple[str, bytes]]) -> bytes:
    """A GNU ar archive; names of more than 15 characters go into its table."""
    table = b"".join(name.encode() + b"/\n" for name, _ in members if len(name) > 15)
    parts = [b"!<arch>\n", _member(b"/", b"\0\0\0\0")]
    if table:
        parts.append(_member(b"//", table))
    for name, data in members:
        place = table.find(name.encode() + b"/\n") if len(name) > 15 else -1
        parts.append(_member(b"/%d" % place if place >= 0 else name.encode() + b"/", data))
    return b"".join(parts)


def _member(name: bytes, data: bytes) -> bytes:
    head = b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"100644", len(data))
    return head + padded(data, 2)
