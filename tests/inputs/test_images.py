"""Files that hold images: object files, libraries, archives, zip archives, stripped files."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from ptxlint.inputs import InputError, NothingInside
from ptxlint.inputs.images import Inputs, open_inputs
from ptxlint.inputs.source import Source
from ptxlint.inputs.zips import _IN_MEMORY

from .fatbins import CUBIN, KERNEL, archive, container, entry, host

ONE = container(entry(KERNEL, identifier="a.cu"))
TWO = container(entry(KERNEL, sm=90))
CUBIN_90 = host([(".text", b"12345678")], machine=190)


def members(data: bytes) -> list[str | None]:
    inside = Inputs(Source(data), "f")
    found = [image.member for image in inside]
    assert inside.problems == []
    return found


def problem(data: bytes) -> InputError:
    inside = Inputs(Source(data), "f")
    list(inside)
    (found,) = inside.problems
    return found


def zipped(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in files:
            archive.writestr(name, data)
    return stream.getvalue()


def test_a_host_file_with_both_sections() -> None:
    data = host([("__nv_relfatbin", TWO), (".text", b"x" * 99), (".nv_fatbin", ONE)])
    assert members(data) == ["1.sm_80.ptx", "2.sm_90.ptx"]


def test_a_stripped_file_is_searched() -> None:
    data = bytearray(host([(".nv_fatbin", ONE + TWO)]))
    data[0x28:0x30] = bytes(8)
    data[0x3C:0x40] = bytes(4)
    assert members(bytes(data)) == ["1.sm_80.ptx", "2.sm_90.ptx"]


def test_windows_files_are_searched() -> None:
    noise = b"MZ\x90\x00" + b"\x50\xed\x55\xba" + b"\xff" * 99
    assert members(noise + ONE + b"\0" * 3 + TWO) == ["1.sm_80.ptx", "2.sm_90.ptx"]


def test_windows_objects_in_a_library_are_searched() -> None:
    data = archive([("a.obj", b"\x64\x86" + b"\0" * 38 + ONE), ("b.obj", b"\x64\x86" + b"\0" * 20)])
    assert members(data) == ["a.obj!1.sm_80.ptx"]


def test_an_archive() -> None:
    names = ("one.o", "a_name_that_is_longer_than_fifteen.o")
    data = archive([(names[0], host([(".nv_fatbin", ONE)])), (names[1], TWO), ("t.txt", b"odd")])
    assert members(data) == [f"{names[0]}!1.sm_80.ptx", f"{names[1]}!1.sm_90.ptx"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_wheel(method: int) -> None:
    inner = zipped(("x.ptx", KERNEL))
    data = zipped(
        ("p/__init__.py", b"print('.version')"),
        ("p/lib.so", host([(".nv_fatbin", ONE)])),
        ("p/k.ptx", KERNEL),
        ("p/k.cubin", CUBIN_90),
        ("p/in.zip", inner),
        ("p/host.so", host([(".text", b"")])),
        method=method,
    )
    inside = Inputs(Source(data), "f.whl")
    found = list(inside)
    assert [image.member for image in found] == [
        "p/lib.so!1.sm_80.ptx",
        "p/k.ptx",
        "p/k.cubin",
        "p/in.zip!x.ptx",
    ]
    assert [image.file for image in found] == ["p/lib.so", "p/k.ptx", "p/k.cubin", "p/in.zip!x.ptx"]
    assert [image.load() for image in found] == [KERNEL, KERNEL, CUBIN_90, KERNEL]
    assert found[0].name == "f.whl!p/lib.so!1.sm_80.ptx"
    assert inside.problems == []


def test_a_large_member_leaves_no_file_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    large = host([(".data", os.urandom(1 << 10) * (_IN_MEMORY >> 10)), (".nv_fatbin", ONE)])
    (image,) = Inputs(Source(zipped(("lib.so", large))), "f.whl")
    assert image.load() == KERNEL
    assert list(tmp_path.iterdir()) == []


def test_a_cubin_and_a_text_are_images_themselves() -> None:
    (cubin,) = Inputs(Source(CUBIN_90), "k.cubin")
    assert (cubin.member, cubin.kind, cubin.name) == (None, "cubin", "k.cubin")
    (ptx,) = Inputs(Source(KERNEL), "k.ptx")
    assert (ptx.member, ptx.kind, ptx.target, ptx.version) == (None, "ptx", "sm_80", (8, 0))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (zipped(), "is an empty zip archive"),
        (zipped(("a.txt", b"a")), "holds no GPU code"),
        (host([(".text", b"x")]), "holds no GPU code"),
        (host([(".text", b"x")], machine=243), "holds no GPU code"),
        (b"!<arch>\n", "holds no GPU code"),
        (b"\xb1\x43\x62\x46" + b"\0" * 20, "holds no GPU code"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 20, "is a binary of unknown kind"),
    ],
)
def test_nothing_inside_is_said(data: bytes, said: str) -> None:
    found = problem(data)
    assert isinstance(found, NothingInside)
    assert found.reason == said


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\x7fELF", "is an ELF file cut off in its header, after 4 bytes"),
        (host([(".nv_fatbin", ONE)])[:-40], "is damaged or cut off: its section table"),
        (host([(".nv_fatbin", ONE)])[:200], "is damaged or cut off: its section table"),
        (b"\x7fELF\x01\x01" + b"\0" * 60, "another form than 64-bit little-endian"),
        (host([(".text", b"x")], machine=224), "is code for AMD GPUs"),
        (CUBIN_90[:-8], "is damaged or cut off: its section table"),
        (b"!<thin>\n", "is a thin archive"),
        (archive([("a.o", ONE)]).replace(b"`\n", b"``"), "is a damaged archive"),
        (archive([("a.o", ONE)])[:-30], "is cut off: its member at byte 72"),
        (zipped(("a.so", ONE))[:-30], "is a damaged zip archive: file is not a zip file"),
    ],
)
def test_damage_is_one_line(data: bytes, said: str) -> None:
    found = problem(data)
    assert not isinstance(found, NothingInside)
    assert said in found.reason
    assert "\n" not in str(found)


def test_one_damaged_member_leaves_the_others() -> None:
    data = archive([("bad.o", b"\x7fELF\x02\x01"), ("good.o", host([(".nv_fatbin", ONE)]))])
    inside = Inputs(Source(data), "f.a")
    assert [image.member for image in inside] == ["good.o!1.sm_80.ptx"]
    assert [str(p) for p in inside.problems] == [
        "f.a!bad.o: is an ELF file cut off in its header, after 6 bytes"
    ]
    broken = bytearray(zipped(("bad.so", host([(".nv_fatbin", ONE)])), ("k.ptx", KERNEL)))
    broken[60] ^= 0xFF
    inside = Inputs(Source(bytes(broken)), "f.whl")
    assert [image.member for image in inside] == ["k.ptx"]
    (found,) = inside.problems
    assert str(found).startswith("f.whl!bad.so: can't be unpacked: ")


def test_sections_that_overlap() -> None:
    data = bytearray(host([(".nv_fatbin", ONE), ("__nv_relfatbin", TWO)]))
    table = len(data) - 2 * 64 + 0x18
    data[table : table + 8] = data[table - 64 : table - 56]
    assert problem(bytes(data)).reason == (
        "is damaged: sections .nv_fatbin and __nv_relfatbin overlap"
    )


def test_a_zip_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxlint.inputs.zips._ALWAYS", 1000)
    data = zipped(("lib.so", b"\x7fELF" + b"\0" * 200_000))
    assert "which is not believed" in problem(data).reason


def test_only_headers_are_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "lib.so"
    many = container(*[entry(KERNEL + b"\0" * 100_000, sm=80 + n % 10) for n in range(50)])
    path.write_bytes(host([(".nv_fatbin", many), (".text", bytes(1 << 20))]))
    read: list[int] = []
    plain = Source.read

    def counted(source: Source, offset: int, size: int) -> bytes:
        read.append(size)
        return plain(source, offset, size)

    monkeypatch.setattr(Source, "read", counted)
    assert len(list(open_inputs(str(path)))) == 50
    assert sum(read) < 20_000


def test_a_file_is_closed_with_its_last_image(tmp_path: Path) -> None:
    path = tmp_path / "f.fatbin"
    path.write_bytes(container(entry(KERNEL), entry(CUBIN_90, CUBIN)))
    image = next(iter(open_inputs(str(path))))
    folder = Path("/proc/self/fd")
    if not folder.exists():
        pytest.skip("no /proc")

    def is_open() -> bool:
        return any(os.path.realpath(link) == str(path) for link in folder.iterdir())

    assert is_open()
    assert image.load() == KERNEL
    del image
    assert not is_open()


def test_paths_that_can_not_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or directory"):
        open_inputs(str(tmp_path / "none.so"))
    with pytest.raises(InputError, match="null"):
        open_inputs("a\0b")
