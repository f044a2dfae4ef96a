"""What the headers of cubins tell, against what ptxas said when it made them."""

from __future__ import annotations

import re
import struct
import subprocess
from pathlib import Path

import pytest

from ptxlint.inputs import nvinfo
from ptxlint.inputs.cubin import Cubin, Kernel, Parameter
from ptxlint.inputs.source import Damaged

from ..ptxas import find, needed

CORPUS = Path(__file__).parents[2] / "corpus"
BINARIES = CORPUS / "binaries"
KERNELS = ("block_sum", "spill", "checked_call", "gemm_pipeline", "constant_lookup", "virtual_call")
TARGETS = ("sm_80", "sm_89", "sm_90", "sm_100", "sm_120")

_KERNEL = re.compile(
    r"Compiling entry function '([^']+)'.*?(\d+) bytes stack frame.*?Used (\d+) registers"
    r"(?:, used (\d+) barriers)?([^\n]*)",
    re.S,
)

LAUNCH = """
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u8 b, .param .align 4 .b8 c[12])
.maxntid 128, 2, 1
.minnctapersm 2
.explicitcluster
.reqnctapercluster 2, 1, 1
{
    .shared .align 4 .b8 s[100];
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [a];
    ld.shared.u32 %r1, [s];
    bar.sync 3;
    st.global.u32 [%rd1], %r1;
    ret;
}
.visible .entry r() .reqntid 64, 1, 1 { ret; }
"""


def assemble(text: str, target: str, folder: Path, *flags: str) -> tuple[Cubin, str]:
    ptxas = find()
    assert ptxas is not None
    source, out = folder / "x.ptx", folder / "x.cubin"
    source.write_text(text)
    command = [ptxas, f"-arch={target}", "-v", *flags, str(source), "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Cubin(out.read_bytes()), done.stdout + done.stderr


@needed
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KERNELS)
def test_resources_are_those_that_ptxas_prints(name: str, target: str, tmp_path: Path) -> None:
    text = (CORPUS / "ptx" / "sm_80" / f"{name}.ptx").read_text()
    cubin, said = assemble(text, target, tmp_path)
    assert (cubin.sm, cubin.suffix, cubin.virtual_sm) == (int(target[3:]), "", 80)
    kernels = {kernel.name: kernel for kernel in cubin.kernels}
    found = _KERNEL.findall(said)
    assert {row[0] for row in found} == set(kernels) == set(cubin.entry_names())
    for kernel, frame, registers, barriers, rest in found:
        ours = kernels[kernel]
        shared = re.search(r"(\d+) bytes smem", rest)
        reserved = 1024 if cubin.sm >= 90 and ours.shared else 0
        assert ours.registers == int(registers)
        assert ours.barriers == int(barriers or 0)
        assert ours.shared - reserved == (int(shared[1]) if shared else 0)
        if name != "virtual_call":  # ptxas prints no frame of functions with indirect calls
            assert ours.frame == int(frame)


def test_spills_are_where_ptxas_marked_them() -> None:
    cubin = Cubin((BINARIES / "spill.cubin").read_bytes())
    plain, spilling = sorted(cubin.kernels, key=lambda kernel: len(kernel.spills))
    assert plain.spills == ()
    code = cubin.code(spilling)
    opcodes = {struct.unpack_from("<H", code, at)[0] & 0xFFF for at in spilling.spills}
    assert opcodes == {0x387, 0x983}  # STL and LDL
    assert spilling.name == "spill"
    assert spilling.frame > 0


@needed
@pytest.mark.parametrize("target", ["sm_90", "sm_100"])
def test_what_a_launch_has_to_keep_to(target: str, tmp_path: Path) -> None:
    cubin, _ = assemble(LAUNCH, target, tmp_path)
    k, r = sorted(cubin.kernels, key=lambda kernel: kernel.name)
    assert k.max_threads == (128, 2, 1)
    assert k.cluster == (2, 1, 1)
    assert k.barriers == 4
    assert k.shared == 100 + 1024
    assert k.parameters == (Parameter(0, 0, 8), Parameter(1, 8, 1), Parameter(2, 12, 12))
    assert k.parameters_size == 24
    assert k.parameters_at == (0x210 if target == "sm_90" else 0x380)
    assert k.constants == {0: k.parameters_at + k.parameters_size}
    assert r.required_threads == (64, 1, 1)
    assert r.parameters == ()
    assert k.exits and all(at % 16 == 0 and at < k.size for at in k.exits)


@needed
def test_parameters_beyond_four_kilobytes(tmp_path: Path) -> None:
    text = (
        ".version 8.5\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .b8 a[5000], .param .u16 b) { ret; }\n"
    )
    cubin, _ = assemble(text, "sm_90", tmp_path)
    assert cubin.kernels[0].parameters == (Parameter(0, 0, 5000), Parameter(1, 5000, 2))


@needed
@pytest.mark.parametrize(
    ("target", "sm", "suffix"), [("sm_90a", 90, "a"), ("sm_100a", 100, "a"), ("sm_100f", 100, "f")]
)
def test_suffixes(target: str, sm: int, suffix: str, tmp_path: Path) -> None:
    text = ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }\n"
    cubin, _ = assemble(text.replace("sm_90", target), target, tmp_path)
    assert (cubin.sm, cubin.suffix) == (sm, suffix)
    assert f"-arch {target}" in cubin.command


def test_the_older_layout() -> None:
    """The header of CUDA 12: other places for architecture, source architecture and barriers."""
    data = bytearray((BINARIES / "block_sum.fatbin").read_bytes())
    start = data.index(b"\x7fELF")
    cubin = Cubin(bytes(data[start : start + 4256]))
    kernel = cubin.kernels[0]
    old = bytearray(data[start : start + 4256])
    old[7:9] = b"\x33\x07"
    struct.pack_into("<I", old, 0x30, 80 | 0x500 | 75 << 16)
    table = cubin.header.sections + 64 * kernel.section
    flags = cubin.sections[kernel.section].flags
    struct.pack_into("<Q", old, table + 8, flags | 5 << 20)
    changed = Cubin(bytes(old))
    assert (changed.sm, changed.suffix, changed.virtual_sm) == (80, "", 75)
    assert changed.kernels[0] == kernel._replace(barriers=5)
    struct.pack_into("<I", old, 0x30, 90 | 0xD00)
    assert (Cubin(bytes(old)).sm, Cubin(bytes(old)).suffix) == (90, "a")


def test_views_of_newer_cubins_may_share_bytes() -> None:
    cubin = Cubin((BINARIES / "block_sum.sm_100.cubin").read_bytes())
    assert any(section.name.startswith(".nv.merc.") for section in cubin.sections)
    assert cubin.sm == 100
    assert all(isinstance(kernel, Kernel) and kernel.registers for kernel in cubin.kernels)


@pytest.mark.parametrize("cut", [10, 63, 64, 1000, 4000, 7000])
def test_a_cut_cubin(cut: int) -> None:
    data = (BINARIES / "block_sum.sm_100.cubin").read_bytes()
    with pytest.raises(Damaged):
        Cubin(data[:cut])


def test_every_byte_may_be_wrong() -> None:
    """Any damage of the headers is found, or harmless: nothing else is raised, and it ends."""
    data = (BINARIES / "half_math.lineinfo.cubin").read_bytes()
    whole = Cubin(data)
    headers = range(whole.header.sections, len(data), 7)
    info = whole.by_name[".nv.info"]
    kernel = next(s for s in whole.sections if s.name.startswith(".nv.info."))
    places = [*range(0, 64), *headers, *range(info.offset, info.offset + info.size)]
    places += range(kernel.offset, kernel.offset + kernel.size)
    for at in places:
        broken = bytearray(data)
        broken[at] ^= 0xA5
        try:
            cubin = Cubin(bytes(broken))
            assert cubin.suffix in ("", "a", "f")
            assert cubin.kernels is not None
        except Damaged as error:
            assert "\n" not in str(error)


def test_sections_that_share_bytes_are_damage() -> None:
    data = bytearray((BINARIES / "spill.cubin").read_bytes())
    cubin = Cubin(bytes(data))
    text = next(i for i, s in enumerate(cubin.sections) if s.name == ".text.spill")
    place = cubin.header.sections + 64 * text + 0x18
    struct.pack_into("<Q", data, place, cubin.sections[text].offset - 128)
    with pytest.raises(Damaged, match=r"sections .* and .* overlap"):
        Cubin(bytes(data))


def test_a_host_file_is_no_cubin() -> None:
    from .fatbins import host

    with pytest.raises(Damaged, match="of machine 62, not a cubin"):
        Cubin(host([(".text", b"x")]))


def test_records_of_all_forms() -> None:
    data = (
        b"\x01\x41\0\0"
        + b"\x02\x4c\x05\xff"
        + b"\x03\x1b\xff\x01"
        + b"\x04\x55\x08\0"
        + b"\1\0\0\0\x20\0\0\0"
    )
    found = list(nvinfo.records(data))
    assert [record.attribute for record in found] == [0x41, 0x4C, 0x1B, 0x55]
    assert [record.words() for record in found] == [(0,), (5,), (511,), (1, 0x20)]
    with pytest.raises(Damaged, match="longer than its section"):
        list(nvinfo.records(data[:-4]))
    with pytest.raises(Damaged, match="unknown form 9"):
        list(nvinfo.records(b"\x09\0\0\0"))
