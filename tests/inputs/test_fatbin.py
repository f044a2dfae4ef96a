"""Fatbin containers: every form of entry, and what can be wrong with one."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable

import pytest

from ptxlint.inputs import InputError
from ptxlint.inputs.compression import LARGEST
from ptxlint.inputs.images import Image, Inputs
from ptxlint.inputs.inventory import loaded
from ptxlint.inputs.source import Source

from .fatbins import (
    ACCELERATED,
    CUBIN,
    FAMILY,
    KERNEL,
    LZ4,
    NVVM,
    PTX,
    ZSTD,
    container,
    entry,
    host,
)


def images(data: bytes) -> list[Image]:
    inside = Inputs(Source(data), "f")
    found = list(inside)
    assert inside.problems == []
    return found


def reason(data: bytes) -> str:
    """The one thing wrong with an input, or with loading what is in it."""
    inside = Inputs(Source(data), "f")
    found = [loaded(image) for image in inside]
    (problem,) = [*inside.problems, *(each for each in found if isinstance(each, InputError))]
    assert "\n" not in str(problem)
    return str(problem)


def packed(data: bytes, method: int) -> bytes:
    if method == LZ4:
        import lz4.block

        return bytes(lz4.block.compress(data, store_size=False))
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


def test_what_headers_say() -> None:
    data = container(
        entry(KERNEL, PTX, 90, ACCELERATED, version=(8, 4), identifier="a.cu", options="-O2"),
        entry(b"IR", NVVM, 100, FAMILY | 2),
        entry(b"?", 0x40, 120),
    )
    ptx, nvvm, other = images(data)
    assert (ptx.member, ptx.kind, ptx.target, ptx.version) == (
        "1.sm_90a.ptx",
        "ptx",
        "sm_90a",
        (8, 4),
    )
    assert (ptx.identifier, ptx.options, ptx.debug) == ("a.cu", "-O2", False)
    assert (nvvm.member, nvvm.target, nvvm.debug) == ("1.sm_100f.nvvm", "sm_100f", True)
    assert (other.member, other.kind) == ("1.sm_120.64", "64")


@pytest.mark.parametrize("method", [LZ4, ZSTD])
def test_packed_images(method: int) -> None:
    data = packed(KERNEL, method)
    (image,) = images(container(entry(data, flags=method, size=len(KERNEL))))
    assert image.load() == KERNEL
    assert (image.compression, image.stored, image.size) == (
        "lz4" if method == LZ4 else "zstd",
        len(data),
        len(KERNEL),
    )


def test_ptx_ends_at_its_first_nul() -> None:
    (image,) = images(container(entry(KERNEL + b"\0junk")))
    assert image.load() == KERNEL


def test_a_cubin_loses_its_padding() -> None:
    cubin = host([(".text", b"12345678")], machine=190)
    (image,) = images(container(entry(cubin + b"\0\0\0", CUBIN)))
    assert image.load() == cubin


@pytest.mark.parametrize("method", [LZ4, ZSTD])
def test_a_group_is_packed_as_one(method: int) -> None:
    cubins = [host([(".text", bytes([n]) * 8)], machine=190) for n in (1, 2)]
    blob = b"".join(cubins)
    heads = b""
    for number, cubin in enumerate(cubins):
        head = bytearray(entry(b"", CUBIN, 80 + number, identifier="a.cu", options="-O2"))
        struct.pack_into("<II", head, 4, number * len(cubins[0]), len(cubin))
        heads += head
    block = struct.pack("<II", 2, 8 + len(heads)) + heads
    payload = packed(blob, method)
    head = bytearray(entry(payload, 0x100, 0, method, size=len(blob)))
    struct.pack_into("<I", head, 4, 64 + len(block))
    struct.pack_into("<I", head, 0x14, 64)
    group = bytes(head[:64]) + block + bytes(head[64:])
    first, second = images(container(group, entry(KERNEL)))[:2]
    assert [first.load(), second.load()] == cubins
    assert [first.member, second.member] == ["1.sm_80.cubin", "2.sm_81.cubin"]
    assert (second.identifier, second.options) == ("a.cu", "-O2")


def test_containers_lie_behind_one_another() -> None:
    one, two = container(entry(KERNEL)), container(entry(KERNEL, sm=90), entry(KERNEL, sm=90))
    found = images(one + b"\0" * 24 + two)
    assert [image.container for image in found] == [1, 2, 2]
    assert [image.member for image in found] == ["1.sm_80.ptx", "2.sm_90.ptx", "3.sm_90.ptx"]


def _patched(form: str, at: int, value: int) -> Callable[[bytes], bytes]:
    def patch(data: bytes) -> bytes:
        changed = bytearray(data)
        struct.pack_into(form, changed, at, value)
        return bytes(changed)

    return patch


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (_patched("<H", 4, 9), "holds a fatbin of version 9"),
        (_patched("<Q", 8, 1 << 60), "holds a fatbin that says it has 1152921504606846976 bytes"),
        (_patched("<I", 16 + 4, 0), "holds an image of 0 +"),
        (_patched("<I", 16 + 4, 63), "holds an image of 63 +"),
        (_patched("<I", 16 + 8, 0xFFFFFFF8), "holds an image of 80 + 4294967288 bytes"),
        (_patched("<I", 16 + 0x10, 4000), "holds an image of 4000 packed bytes"),
        (_patched("<I", 16 + 0x14, 0xFFFF), "whose header leads beyond its own end"),
        (_patched("<I", 16 + 0x20, 0xFFFF), "whose header leads beyond its own end"),
        (_patched("<Q", 16 + 0x38, 1), "unpacks to 74 bytes, not the 1 that it says"),
        (_patched("<Q", 16 + 0x38, 100_000), "unpacks to 74 bytes, not the 100000"),
        (_patched("<Q", 16 + 0x38, LARGEST + 1), "which is not believed"),
        (_patched("<Q", 16 + 0x38, 1 << 62), "which is not believed"),
        (_patched("<Q", 16 + 0x38, 0), "is empty"),
        (lambda data: data[:16], "holds a fatbin that says it has"),
        (lambda data: data[:12], "holds no GPU code"),
    ],
)
def test_lies_are_one_line(patch: Callable[[bytes], bytes], said: str) -> None:
    data = container(entry(packed(KERNEL, ZSTD), flags=ZSTD, size=len(KERNEL), options="-O1"))
    assert said in reason(patch(data))


def test_every_byte_may_be_wrong() -> None:
    """Any damage is found, or harmless: nothing else is raised, and it ends."""
    data = container(
        entry(packed(KERNEL, ZSTD), flags=ZSTD, size=len(KERNEL), identifier="a", options="-O1"),
        entry(packed(KERNEL, LZ4), flags=LZ4, size=len(KERNEL)),
        entry(host([(".text", b"12345678")], machine=190), CUBIN),
    )
    for file in (data, host([(".nv_fatbin", data)])):
        for at in range(len(file)):
            for flip in (0x01, 0x80, 0xFF):
                broken = bytearray(file)
                broken[at] ^= flip
                inside = Inputs(Source(bytes(broken)), "f")
                found = [loaded(image) for image in inside]
                said = [*inside.problems, *(x for x in found if isinstance(x, InputError))]
                assert all("\n" not in str(problem) for problem in said)


def test_a_length_of_zero_is_no_image() -> None:
    assert reason(container(entry(b""))) == "f!1.sm_80.ptx: is empty"


@pytest.mark.parametrize("method", [LZ4, ZSTD])
def test_noise_is_no_packed_image(method: int) -> None:
    assert "bytes" in reason(container(entry(b"\xff\x00\x17noise" * 9, flags=method, size=500)))


def test_a_bomb_takes_no_memory() -> None:
    import tracemalloc

    bomb = packed(b"\0" * (300 << 20), ZSTD)
    data = container(entry(bomb, flags=ZSTD, size=64 << 20))
    tracemalloc.start()
    try:
        assert "which is not believed" in reason(data)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("method", "module"), [(LZ4, "lz4.block"), (ZSTD, "zstandard")])
def test_without_the_libraries_the_extra_is_named(
    method: int, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = container(entry(packed(KERNEL, method), flags=method, size=len(KERNEL)))
    monkeypatch.setitem(sys.modules, module, None)
    assert 'pip install "ptxlint[binary]"' in reason(data)
