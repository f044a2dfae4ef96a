"""Our readers against NVIDIA's: the same bytes, the same resources, in every mode there is."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from hashlib import sha256
from pathlib import Path

import pytest

from ptxlint.inputs.cubin import Cubin
from ptxlint.inputs.images import open_inputs

from .. import ptxas, tools
from .fatbins import ACCELERATED, CUBIN, KERNEL, archive, container, entry, host

CORPUS = Path(__file__).parents[2] / "corpus"
TARGETS = ("80", "90a", "100f", "120")
MODES = {
    "default": (),
    "size": ("-compress-mode=size",),
    "speed": ("-compress-mode=speed",),
    "speed-all": ("-compress-mode=speed", "-compress-all"),
    "balance": ("-compress-mode=balance",),
    "none": ("-compress-mode=none",),
    "no-compress": ("-compress=false",),
    "debug": ("-g",),
    "named": ("-ident=block_sum.cu", "-cmdline=-O2 -lineinfo"),
    "relocatable": ("-c",),
    "group": ("-concat", "-compress-all"),
    "group-size": ("-concat", "-compress-mode=size", "-ident=a.cu", "-cmdline=-O1"),
    "group-speed": ("-concat", "-compress-all", "-compress-mode=speed"),
}

Sums = Counter[tuple[str, str]]


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The images of two kernels for four targets, as fatbinary's arguments."""
    tool = ptxas.find()
    assert tool is not None
    folder = tmp_path_factory.mktemp("parts")
    arguments = []
    for name in ("block_sum", "checked_call"):
        text = (CORPUS / "ptx" / "sm_80" / f"{name}.ptx").read_text()
        text = re.sub(r"\.version \S+", ".version 8.8", text)
        for target in TARGETS:
            source, out = folder / f"{name}.{target}.ptx", folder / f"{name}.{target}.cubin"
            source.write_text(text.replace("sm_80", f"sm_{target}"))
            subprocess.run([tool, f"-arch=sm_{target}", source, "-o", out], check=True)
            arguments.append(f"--image3=kind=elf,sm={target},file={out}")
        arguments.append(f"--image3=kind=ptx,sm=80,file={folder / name}.80.ptx")
    return arguments


@pytest.fixture(scope="module", params=MODES, ids=list(MODES))
def fatbin(
    request: pytest.FixtureRequest, parts: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    out = tmp_path_factory.mktemp("fatbin") / f"{request.param}.fatbin"
    tool = tools.find("fatbinary")
    assert tool is not None
    subprocess.run([tool, "-create", str(out), *MODES[request.param], *parts], check=True)
    return out


def ours(path: Path) -> Sums:
    inside = open_inputs(str(path))
    found = Counter(
        (image.kind, sha256(image.load()).hexdigest())
        for image in inside
        if image.kind in ("ptx", "cubin")
    )
    assert inside.problems == []
    return found


def theirs(path: Path, folder: Path) -> Sums:
    tool = tools.find("cuobjdump")
    assert tool is not None
    command = [tool, "-all", "-xelf", "all", "-xptx", "all", str(path)]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return Counter(
        (file.suffix[1:], sha256(file.read_bytes()).hexdigest()) for file in folder.iterdir()
    )


@ptxas.needed
@tools.needed("fatbinary", "cuobjdump")
def test_fatbinary_and_cuobjdump_agree_with_us(fatbin: Path, tmp_path: Path) -> None:
    found = ours(fatbin)
    assert sum(found.values()) == 2 * (len(TARGETS) + 1)
    expected = theirs(fatbin, tmp_path)
    # cuobjdump gives two images the same file name where they have an identifier.
    assert set(expected) <= set(found)
    if sum(expected.values()) == sum(found.values()):
        assert expected == found
    else:
        assert fatbin.stem in ("named", "group-size")


@ptxas.needed
@tools.needed("fatbinary")
def test_what_fatbinary_was_told_is_read(parts: list[str], tmp_path: Path) -> None:
    out = tmp_path / "x.fatbin"
    tool = tools.find("fatbinary")
    assert tool is not None
    subprocess.run([tool, "-create", str(out), *MODES["named"], *parts], check=True)
    images = list(open_inputs(str(out)))
    assert {image.target for image in images} == {f"sm_{target}" for target in TARGETS}
    ptx = [image for image in images if image.kind == "ptx"]
    assert [image.version for image in ptx] == [(8, 8), (8, 8)]
    assert {image.options for image in ptx} == {"-O2 -lineinfo"}
    assert {image.identifier for image in images} == {"block_sum.cu"}
    assert not any(image.debug for image in images)


@tools.needed("cuobjdump")
def test_cuobjdump_reads_what_our_tests_write(tmp_path: Path) -> None:
    cubin = (CORPUS / "binaries" / "spill.cubin").read_bytes()
    fatbin = container(
        entry(cubin, CUBIN, 80),
        entry(KERNEL, sm=90, flags=ACCELERATED, identifier="a.cu", options="-O2"),
    )
    library = host([(".nv_fatbin", fatbin)])
    for name, data in (("f.fatbin", fatbin), ("f.so", library)):
        path, out = tmp_path / name, tmp_path / f"{name}.out"
        path.write_bytes(data)
        out.mkdir()
        assert ours(path) == theirs(path, out)
    path, out = tmp_path / "f.a", tmp_path / "f.a.out"
    path.write_bytes(archive([("one.o", library), ("a_long_name_of_a_member.o", library)]))
    out.mkdir()
    assert set(ours(path)) == set(theirs(path, out))


@ptxas.needed
@tools.needed("cuobjdump")
@pytest.mark.parametrize("target", ["sm_80", "sm_89", "sm_90", "sm_100", "sm_120"])
@pytest.mark.parametrize("name", ["block_sum", "spill", "constant_lookup", "virtual_call"])
def test_resources_are_those_of_cuobjdump(name: str, target: str, tmp_path: Path) -> None:
    source, out = CORPUS / "ptx" / "sm_80" / f"{name}.ptx", tmp_path / "x.cubin"
    assembler, tool = ptxas.find(), tools.find("cuobjdump")
    assert assembler is not None and tool is not None
    subprocess.run([assembler, f"-arch={target}", source, "-o", out], check=True)
    command = [tool, "-res-usage", str(out)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    cubin = Cubin(out.read_bytes())
    rows = dict(re.findall(r"Function (\S+):\n\s+(.*)", said))
    assert cubin.kernels
    for kernel in cubin.kernels:
        constants = [f"CONSTANT[{bank}]:{size}" for bank, size in kernel.constants.items()]
        stack = "UNKNOWN" if kernel.stack is None else kernel.stack
        words = [f"REG:{kernel.registers}", f"STACK:{stack}", f"SHARED:{kernel.shared}"]
        expected = {*words, *constants, "LOCAL:0", "TEXTURE:0", "SURFACE:0", "SAMPLER:0"}
        assert set(rows[kernel.name].split()) == expected
    common = re.search(r"Common:\n\s+(.*)", said)
    assert common is not None
    banks = [f"CONSTANT[{bank}]:{size}" for bank, size in cubin.constant_sizes().items()]
    assert set(common[1].split()) == {f"GLOBAL:{cubin.global_size()}", *banks}
