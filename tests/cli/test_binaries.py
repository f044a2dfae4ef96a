"""Binaries on the command line: check, compat, extract; what is broken; what is not loaded."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import zipfile
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from ..inputs.fatbins import CUBIN, KERNEL, ZSTD, archive, container, entry, host
from .conftest import ROOT, Run

BINARIES = ROOT / "corpus" / "binaries"
MARKED = KERNEL + b"// ptxlint: ignore\n"


@pytest.fixture
def library(tmp_path: Path) -> str:
    """A library of three PTX images, the last one with a fault and a warning."""
    cubin = (BINARIES / "spill.cubin").read_bytes()
    first = container(entry(KERNEL), entry(cubin, CUBIN, 80))
    second = container(entry(KERNEL, sm=90), entry(MARKED + b"junk here;\n", sm=80))
    (tmp_path / "lib.so").write_bytes(host([(".nv_fatbin", first + second)]))
    return "lib.so"


def test_check_names_the_image(run: Run, library: str) -> None:
    done = run("--select", "PTX100,PTX903", "--output-format", "concise", library)
    assert done.returncode == 1
    assert [line.split(" ")[:2] for line in done.stdout.splitlines()] == [
        ["lib.so!3.sm_80.ptx:8:1:", "PTX903"],
        ["lib.so!3.sm_80.ptx:9:1:", "PTX100"],
    ]
    assert done.stderr == (
        "1 error, 1 warning in 1 file (3 PTX images); 1 file not analysed in full\n"
    )
    full = run("--select", "PTX903", library).stdout
    assert " --> lib.so!3.sm_80.ptx:8:1\n" in full
    assert "8 | // ptxlint: ignore\n" in full


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_json_has_the_member(run: Run, library: str, jobs: str) -> None:
    done = run("--select", "PTX100,PTX903", "--output-format", "json", "-j", jobs, library)
    value = json.loads(done.stdout)
    schema = json.loads(files("ptxlint.report").joinpath("schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(value)
    assert [(f["path"], f["member"], f["parsed"]) for f in value["files"]] == [
        ("lib.so", "1.sm_80.ptx", "full"),
        ("lib.so", "2.sm_90.ptx", "full"),
        ("lib.so", "3.sm_80.ptx", "partial"),
        ("lib.so", None, "full"),
    ]
    assert {d["member"] for d in value["diagnostics"]} == {"3.sm_80.ptx"}
    assert value["summary"]["kernels"] == 3


def test_every_format_takes_members(run: Run, library: str) -> None:
    for form in ("sarif", "github", "json-lines"):
        done = run("--select", "PTX903", "--output-format", form, library)
        assert done.returncode == 1
        assert "3.sm_80.ptx" in done.stdout


def test_the_cache_keeps_members_apart(run: Run, library: str) -> None:
    flags = ("--select", "PTX903", "--output-format", "concise", library)
    first = run(*flags).stdout
    assert first == run(*flags).stdout == run("--no-cache", *flags).stdout


def test_a_binary_on_standard_input(run: Run, library: str, tmp_path: Path) -> None:
    content = (tmp_path / library).read_bytes()
    done = run("--select", "PTX903", "--output-format", "concise", "-", stdin=content)
    assert done.stdout.startswith("<stdin>!3.sm_80.ptx:8:1: PTX903")


def test_a_wheel_and_a_directory(run: Run, library: str, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with zipfile.ZipFile(tmp_path / "d" / "p.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.write(tmp_path / library, "p/lib.so")
        wheel.writestr("p/host.so", host([(".text", b"x")]))
    (tmp_path / "d" / "host.so").write_bytes(host([(".text", b"x")]))
    flags = ("--select", "PTX903", "--output-format", "concise")
    done = run(*flags, "d", "--include", "*.whl,*.so")
    assert done.stdout.startswith("d/p.whl!p/lib.so!3.sm_80.ptx:8:1: PTX903")
    assert done.returncode == 1
    assert "host.so" not in done.stderr
    named = run("d/host.so")
    assert (named.returncode, named.stderr) == (2, "ptxlint: d/host.so: holds no GPU code\n")


def test_a_cubin_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.cubin").write_bytes((BINARIES / "spill.cubin").read_bytes())
    done = run("--output-format", "json", "k.cubin")
    (file,) = json.loads(done.stdout)["files"]
    assert (file["path"], file["member"], file["parsed"]) == ("k.cubin", None, "full")
    assert file["kernels"] == ["local_table", "spill"]
    assert done.returncode == 0


def test_a_target_and_a_driver_need_not_take_every_image(run: Run, tmp_path: Path) -> None:
    """PTX for sm_90 in a library does not have to run on sm_80, nor its version on the driver."""
    newer = KERNEL.replace(b"sm_80", b"sm_90").replace(b"8.0", b"8.8")
    cubin = (BINARIES / "spill.cubin").read_bytes()
    both = container(entry(newer, sm=90, version=(8, 8)), entry(cubin, CUBIN, 80))
    (tmp_path / "f.fatbin").write_bytes(both)
    form = ("--output-format", "concise", "--ignore", "SAS701", "f.fatbin")
    assert run("--target", "sm_80", *form).stdout == ""
    spared = run("--driver", "535", *form)
    assert spared.returncode == 0
    assert "PTX704 info" in spared.stdout
    needed = run("--driver", "535", "--target", "sm_90", *form)
    assert needed.returncode == 1
    assert "PTX704 error" in needed.stdout
    asked = run("--driver", "535", "--severity", "PTX704=warning", *form)
    assert "PTX704 warning" in asked.stdout


def test_compat_speaks_of_each_image(run: Run, library: str) -> None:
    done = run("compat", library, "--driver", "535")
    assert "lib.so\n  machine code    sm_80\n" in done.stdout
    assert done.stdout.count("\nlib.so!") == 3
    value = json.loads(run("compat", library, "--output-format", "json").stdout)
    assert [row["member"] for row in value["files"]] == [
        None,
        "1.sm_80.ptx",
        "2.sm_90.ptx",
        "3.sm_80.ptx",
    ]
    assert value["files"][0]["machine_code"] == ["sm_80"]


def test_extract_lists(run: Run, library: str) -> None:
    done = run("extract", library)
    assert done.returncode == 0
    head, *rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert head[:4] == ["member", "kind", "target", "version"]
    assert [row[0] for row in rows] == [
        "1.sm_80.ptx",
        "1.sm_80.cubin",
        "2.sm_90.ptx",
        "3.sm_80.ptx",
    ]
    assert run("extract", library, "--list").stdout == done.stdout
    ptx = run("extract", library, "--kind", "ptx", "--arch", "sm_80", "--output-format", "json")
    (file,) = json.loads(ptx.stdout)["files"]
    assert [image["member"] for image in file["images"]] == ["1.sm_80.ptx", "3.sm_80.ptx"]
    assert file["images"][0] | {"size": 0, "stored": 0} == {
        "member": "1.sm_80.ptx",
        "kind": "ptx",
        "target": "sm_80",
        "version": "8.0",
        "size": 0,
        "stored": 0,
        "compression": "none",
        "container": 1,
        "debug": False,
        "identifier": "",
        "options": "",
    }


def test_extract_looks_into_directories(run: Run, library: str, tmp_path: Path) -> None:
    (tmp_path / "host.so").write_bytes(host([(".text", b"x")]))
    done = run("extract", ".", "--kind", "cubin")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("./lib.so\n")
    assert run("extract", "host.so").returncode == 2


def test_extract_writes(run: Run, library: str, tmp_path: Path) -> None:
    done = run("extract", library, "-o", "out")
    written = done.stdout.splitlines()
    assert [Path(name).name for name in written] == [
        "lib.so.1.sm_80.ptx",
        "lib.so.1.sm_80.cubin",
        "lib.so.2.sm_90.ptx",
        "lib.so.3.sm_80.ptx",
    ]
    assert (tmp_path / written[0]).read_bytes() == KERNEL
    assert (tmp_path / written[1]).read_bytes() == (BINARIES / "spill.cubin").read_bytes()


def test_extract_overwrites_nothing_of_its_own(run: Run, library: str, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "lib.so").write_bytes(container(entry(MARKED)))
    done = run("extract", library, "d/lib.so", "-o", "out", "--kind", "ptx")
    written = done.stdout.splitlines()
    assert len(written) == len(set(written)) == 4
    assert (tmp_path / written[0]).read_bytes() == KERNEL
    assert (tmp_path / written[3]).read_bytes() == MARKED


def test_extract_complains_of_what_it_can_not_do(run: Run, library: str, tmp_path: Path) -> None:
    assert run("extract").returncode == 2
    assert run("extract", library, "--list", "-o", "x").returncode == 2
    assert run("extract", library, "--arch", "a100").returncode == 2
    assert run("extract", library, "--extract-with", "magic").returncode == 2
    (tmp_path / "taken").write_text("")
    done = run("extract", library, "-o", "taken", "--kind", "ptx")
    assert done.returncode == 2
    assert "can't be written" in done.stderr


def broken() -> dict[str, tuple[bytes, str]]:
    """Inputs that no reader can do anything with, and what is said of each."""
    import io

    import zstandard

    cubin = (BINARIES / "spill.cubin").read_bytes()
    library = host([(".nv_fatbin", container(entry(KERNEL)))])
    overlapping = bytearray(host([(".nv_fatbin", container(entry(KERNEL)))] * 2))
    place = len(overlapping) - 2 * 64 + 0x18
    overlapping[place : place + 8] = overlapping[place - 64 : place - 56]
    lying = bytearray(container(entry(KERNEL)))
    struct.pack_into("<I", lying, 16 + 8, 0xFFFFFFF0)
    bomb = zstandard.ZstdCompressor().compress(b"\0" * (200 << 20))
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    return {
        "cut.so": (library[:-100], "is damaged or cut off: its section table is beyond its end"),
        "lies.fatbin": (bytes(lying), "holds an image of 64 + 4294967280 bytes where 144 are left"),
        "bomb.fatbin": (
            container(entry(bomb, flags=ZSTD, size=1 << 40)),
            f"says that {len(bomb)} bytes unpack to 1099511627776, which is not believed",
        ),
        "zero.fatbin": (container(entry(b"")), "is empty"),
        "magic.fatbin": (b"\x51" + container(entry(cubin, CUBIN))[1:], "a binary of unknown kind"),
        "arm.o": (host([(".text", b"x")], machine=183), "holds no GPU code"),
        "amd.hsaco": (host([(".text", b"x")], machine=224), "is code for AMD GPUs"),
        "overlap.so": (bytes(overlapping), "sections .nv_fatbin and .nv_fatbin overlap"),
        "cut.cubin": (cubin[:9000], "is damaged or cut off"),
        "image.png": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "is a binary of unknown kind"),
        "empty.zip": (empty.getvalue(), "is an empty zip archive"),
        "cut.whl": (b"PK\x03\x04" + b"\0" * 40, "is a damaged zip archive"),
        "cut.a": (archive([("a.o", library)])[:-50], "is cut off: its member at byte 72"),
    }


@pytest.mark.parametrize("name", list(broken()))
def test_broken_inputs_are_one_line(run: Run, good: str, tmp_path: Path, name: str) -> None:
    content, said = broken()[name]
    (tmp_path / name).write_bytes(content)
    done = run("--ignore", "SAS", name, good)
    assert done.returncode == 2
    line, summary = done.stderr.splitlines()
    assert line.startswith(f"ptxlint: {name}")
    assert said in line
    assert summary.startswith("nothing found in ")
    for command in ("extract", "compat"):
        again = run(command, name, *(("-o", "out") if command == "extract" else ()))
        assert again.returncode == 2
        assert again.stderr.count("\n") == 1
        assert "internal error" not in again.stderr


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
@pytest.mark.parametrize("name", ["bomb.fatbin", "lies.fatbin", "overlap.so"])
def test_broken_inputs_take_no_memory(tmp_path: Path, name: str) -> None:
    content, _ = broken()[name]
    (tmp_path / name).write_bytes(content)
    code = (
        "from ptxlint.cli.main import main\n"
        f"status = main(['check', '--no-cache', '--ignore', 'SAS', {str(tmp_path / name)!r}])\n"
        "peak = [line for line in open('/proc/self/status') if line.startswith('VmHWM')]\n"
        "print(status, peak[0].split()[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=20
    )
    status, kilobytes = map(int, done.stdout.split())
    assert status == 2
    assert kilobytes < 150_000


def test_a_text_loads_none_of_the_readers(tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_bytes(KERNEL)
    code = (
        "import sys\n"
        "from ptxlint.cli.main import main\n"
        f"main(['check', '--no-cache', {str(tmp_path / 'k.ptx')!r}])\n"
        "print([m for m in sys.modules if m in ('zipfile', 'lz4', 'zstandard', 'elftools')"
        " or m.startswith('ptxlint.inputs.')])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert (
        done.stdout
        == "['ptxlint.inputs.text', 'ptxlint.inputs.files', 'ptxlint.inputs.extractors']\n"
    )
