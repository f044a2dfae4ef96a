"""What resources prints, in each format, and its exit statuses."""

from __future__ import annotations

import csv
import io
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, ValidationError

from ptxlint.report.resources_rows import object_name

from ..inputs.fatbins import CUBIN, KERNEL, container, entry, host
from .conftest import HEAD, ROOT, Run

BINARIES = ROOT / "corpus" / "binaries"
CORPUS = ROOT / "corpus" / "ptx" / "sm_80"
ONE = HEAD + (
    '.file 1 "/src/f.cu"\n'
    ".extern .shared .align 16 .b8 pool[];\n"
    ".visible .entry _Z1fPfi(.param .u64 _Z1fPfi_param_0, .param .u32 _Z1fPfi_param_1)\n"
    ".reqntid 64, 1, 1\n{\n.reg .b64 %rd<9>;\n.reg .b32 %r<9>;\n"
    ".shared .align 16 .b8 _ZZ1fPfiE4tile[2048];\n"
    "ld.param.u64 %rd1, [_Z1fPfi_param_0];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
    ".loc 1 7 3\nld.global.u32 %r2, [%rd4+64];\n"
    "shl.b32 %r3, %r1, 5;\nmov.u32 %r4, _ZZ1fPfiE4tile;\nadd.s32 %r5, %r4, %r3;\n"
    "st.shared.u32 [%r5], %r2;\nbar.sync 0;\nshl.b32 %r6, %r2, 2;\nadd.s32 %r7, %r4, %r6;\n"
    "ld.shared.u32 %r8, [%r7];\nst.shared.u32 [pool], %r8;\nret;\n}\n"
)
TWO = ONE + ".visible .entry g() { ret; }\n"
TABLE = """\
a.ptx (PTX, sm_80)
registers spills shared dynamic local param barriers block bounds sm_80 kernel
~16 (16-18) - 2048 yes 0 12 0 64x1x1 (.reqntid) reqntid 64x1x1 100 % 32x64: warps, blocks \
f(float*, int)
"""
DETAILS = """\
param_0 must be 4-byte aligned because of line 18
tile must be 4-byte aligned because of line 22
pool must be 4-byte aligned because of line 27
line opcode space bytes a warp's request source address
18 ld.global.u32 global 4 sectors 4 (least 4) f.cu:7 param_0 + 4*tid.x + 64
22 st.shared.u32 shared 4 wavefronts 8 (least 1) f.cu:7 tile + 32*tid.x
26 ld.shared.u32 shared 4 unknown: an index is loaded (line 18) f.cu:7 unknown
27 st.shared.u32 shared 4 wavefronts 1 (least 1) f.cu:7 pool
shared: 2 of 3 requests known (66 %), 1 needs data
global: 1 of 1 request known (100 %)
1 rests on: kernel pointers are 256-byte aligned, as cudaMalloc returns them
"""


@pytest.fixture(autouse=True)
def texts(tmp_path: Path) -> None:
    (tmp_path / "a.ptx").write_text(ONE)
    (tmp_path / "two.ptx").write_text(TWO)


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    text = files("ptxlint.report").joinpath("resources.schema.json").read_text("utf-8")
    Draft202012Validator.check_schema(json.loads(text))
    return Draft202012Validator(json.loads(text))


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_a_row_for_each_kernel(run: Run) -> None:
    done = run("resources", "a.ptx")
    assert (done.returncode, done.stderr) == (0, "1 kernel in 1 file\n")
    assert words(done.stdout) == words(TABLE)
    both = run("resources", "two.ptx", "-q")
    assert both.stderr == ""
    assert [line.split()[-1] for line in both.stdout.splitlines()[1:]] == ["kernel", "int)", "g"]
    assert run("resources", "-", stdin=TWO).stdout == both.stdout.replace("two.ptx", "-")


def test_accesses(run: Run) -> None:
    shown = words(run("resources", "-v", "a.ptx").stdout)
    assert shown[:3] == words(TABLE)
    assert shown[3:] == words(DETAILS)


def test_the_block_is_taken_over(run: Run) -> None:
    text = ONE.replace(".reqntid 64, 1, 1\n", "")
    free = run("resources", "-", stdin=text).stdout
    assert "1-D, up to 1024, assumed" in free
    told = run("resources", "-", "--block", "32,2", stdin=text).stdout
    assert "32x2x1 (--block)" in told
    assert run("resources", "a.ptx", "--block", "x").returncode == 2


def test_selection(run: Run) -> None:
    def names(*flags: str) -> list[str]:
        value = json.loads(run("resources", "two.ptx", "--output-format", "json", *flags).stdout)
        return [kernel["name"] for kernel in value["files"][0]["kernels"]]

    assert names() == ["_Z1fPfi", "g"]
    assert names("--kernel", "f(*") == names("--kernel", "_Z*") == ["_Z1fPfi"]
    done = run("resources", "two.ptx", "--kernel", "nosuch")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ptxlint: error: no kernel matches 'nosuch'\n"


def test_trouble(run: Run, tmp_path: Path) -> None:
    done = run("resources", "missing.ptx", "a.ptx")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "ptxlint: missing.ptx: no such file or directory",
        "1 kernel in 1 file",
    ]
    (tmp_path / "bad.ptx").write_text(ONE.replace("bar.sync 0;", "bar.sync 0,, 1;"))
    done = run("resources", "bad.ptx")
    assert done.returncode == 2
    assert done.stderr.startswith("ptxlint: bad.ptx: not all of it is PTX, and its kernels may")
    assert "; not all of it was read)" in done.stdout.splitlines()[0]
    done = run("resources", "a.ptx", "-o", "no/such/folder")
    assert done.returncode == 2
    assert "no/such/folder: can't be written" in done.stderr
    assert run("resources", "a.ptx", "--frobnicate").returncode == 2


def test_nothing_to_show(run: Run) -> None:
    done = run("resources", "-", stdin=HEAD)
    assert done.returncode == 0
    assert done.stdout.endswith("  no kernels\n")


def test_output_file(run: Run, tmp_path: Path) -> None:
    done = run("resources", "a.ptx", "-o", "out.txt", "--color", "always")
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "out.txt").read_text() == run("resources", "a.ptx").stdout
    assert "\x1b[" in run("resources", "-v", "a.ptx", "--color", "always").stdout


@pytest.fixture
def library(tmp_path: Path) -> str:
    """A library of two PTX images, one of them no PTX, and a cubin."""
    cubin = (BINARIES / "spill.cubin").read_bytes()
    first = container(entry(KERNEL), entry(cubin, CUBIN, 80))
    second = container(entry(KERNEL + b"junk here;\n", sm=90))
    (tmp_path / "lib.so").write_bytes(host([(".nv_fatbin", first + second)]))
    return "lib.so"


def test_binaries(run: Run, library: str, validator: Draft202012Validator) -> None:
    done = run("resources", library, "--output-format", "json")
    assert done.returncode == 2
    assert done.stderr.startswith("ptxlint: lib.so!2.sm_90.ptx: not all of it is PTX")
    value = json.loads(done.stdout)
    validator.validate(value)
    rows = [(f["member"], f["kind"], f["target"], f["parsed"]) for f in value["files"]]
    assert rows == [
        ("1.sm_80.ptx", "ptx", "sm_80", "full"),
        ("1.sm_80.cubin", "cubin", "sm_80", "full"),
        ("2.sm_90.ptx", "ptx", "sm_80", "partial"),
    ]
    machine = value["files"][1]["kernels"][0]
    assert machine["registers"] > 0
    assert machine["stack"] > 0


def test_machine_code_as_text(run: Run) -> None:
    lines = run("resources", str(BINARIES / "block_sum.fatbin")).stdout.splitlines()
    assert lines[0].endswith("!1.sm_80.cubin (machine code, sm_80)")
    head, row = lines[1].split(), lines[2].split()
    assert (head[0], row[0], row[2], row[-1]) == ("registers", "12", "128", "block_sum")


def test_damaged_binaries(run: Run, tmp_path: Path) -> None:
    content = (BINARIES / "spill.cubin").read_bytes()
    (tmp_path / "cut.cubin").write_bytes(content[: len(content) // 2])
    done = run("resources", "cut.cubin")
    assert done.returncode == 2
    assert done.stderr.startswith("ptxlint: cut.cubin: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("flags", [(), ("-v",)])
def test_json_is_as_its_schema_says(
    run: Run, validator: Draft202012Validator, flags: tuple[str, ...]
) -> None:
    paths = ["gemm_pipeline", "layer_norm.lineinfo", "checked_call.debug", "stencil_2d", "spill"]
    names = [str(CORPUS / f"{path}.ptx") for path in paths]
    done = run("resources", *names, "a.ptx", "--output-format", "json", *flags)
    assert done.returncode == 0
    value = json.loads(done.stdout)
    validator.validate(value)
    assert len(value["files"]) == len(paths) + 1
    assert ("accesses" in value["files"][0]["kernels"][0]) == bool(flags)


def test_json_of_accesses(run: Run, validator: Draft202012Validator) -> None:
    value = json.loads(run("resources", "-v", "a.ptx", "--output-format", "json").stdout)
    kernel = value["files"][0]["kernels"][0]
    load, store, read, _ = kernel["accesses"]
    assert (load["address"], load["base"]) == ("param_0 + 4*tid.x + 64", "_Z1fPfi_param_0")
    assert load["source"] == {"file": "/src/f.cu", "line": 7, "column": 3}
    assert store["request"]["wavefronts"] == {"count": 8, "minimum": 1}
    assert (read["request"]["state"], read["address"]) == ("data", None)
    assert read["why"] == "an index is loaded (line 18)"
    assert kernel["alignment"][0]["base"] == "_Z1fPfi_param_0"
    assert [(each["bytes"], each["line"]) for each in kernel["alignment"]] == [
        (4, 18),
        (4, 22),
        (4, 27),
    ]
    assert kernel["shares"]["shared"]["states"] == {"known": 2, "data": 1}
    changes: list[dict[str, Any]] = [{"bytes": "4"}, {"more": 1}, {"request": {}}]
    for change in changes:
        broken: Any = json.loads(json.dumps(value))
        broken["files"][0]["kernels"][0]["accesses"][0].update(change)
        with pytest.raises(ValidationError):
            validator.validate(broken)


def test_every_field_is_described(validator: Draft202012Validator) -> None:
    def check(node: Any, path: str) -> None:
        if not isinstance(node, dict):
            return
        for name, field in node.get("properties", {}).items():
            assert field.get("description"), f"{path}.{name} is not described"
            check(field, f"{path}.{name}")
            check(field.get("items"), f"{path}.{name}[]")

    schema: Any = validator.schema
    check(schema, "report")
    for name, node in schema["$defs"].items():
        check(node, name)


def test_csv(run: Run, library: str) -> None:
    done = run("resources", "two.ptx", library, "--output-format", "csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["path"], row["kind"], row["name"]) for row in rows[:3]] == [
        ("two.ptx", "ptx", "_Z1fPfi"),
        ("two.ptx", "ptx", "g"),
        ("lib.so", "ptx", "k"),
    ]
    first = rows[0]
    assert (first["demangled"], first["shared"]) == ("f(float*, int)", "2048")
    assert (first["reqntid"], first["block"]) == ("64 1 1", "64 1 1")
    assert (first["block_source"], first["registers"]) == (".reqntid", "")
    machine = next(row for row in rows if row["kind"] == "cubin")
    assert int(machine["registers"]) > 0
    assert machine["constants"].startswith("0=")
    verbose = run("resources", "-v", "a.ptx", "--output-format", "csv").stdout
    row = next(csv.DictReader(io.StringIO(verbose)))
    assert (row["shared_known"], row["shared_data"], row["global_known"]) == ("2", "1", "1")


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("_ZZ1kvE4tile", "tile"),
        ("_ZZN3lib6kernelI4E5xIfEEvPT_E5stage_0", "stage"),
        ("_ZZ1kvE4tile__12_", "tile"),
        ("_ZN7cutlass4smemE", "cutlass::smem"),
        ("global_smem", "global_smem"),
    ],
)
def test_names_of_objects(name: str, short: str) -> None:
    assert object_name(name) == short
