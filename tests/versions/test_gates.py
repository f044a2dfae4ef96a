"""Versions and targets as data: the parts agree with each other, and with ptxas."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from bench.gates import table
from ptxlint import check_text
from ptxlint.isa.gates import features, lack, opcode_gates, register_gates, register_needles
from ptxlint.isa.targets import Target
from ptxlint.isa.versions import branch, highest_for, latest, releases, targets, ungated

from .. import ptxas

DATA = Path(__file__).parents[2] / "ptxlint" / "isa" / "data"


def test_the_ready_table_is_what_the_instructions_say() -> None:
    written = (DATA / "gates.json").read_text()
    opcodes = [o for row in json.loads(written)["rows"] for o in row["opcodes"].split()]
    assert len(opcodes) > 2000
    assert table(opcodes) == written, "run python -m bench.gates"


def test_every_register_has_a_needle_with_its_gate() -> None:
    for name, (gate,) in register_gates().items():
        assert any(
            needle in name and gate in gates for needle, gates in register_needles().items()
        ), name


def test_every_feature_and_target_is_of_a_release() -> None:
    assert {feature.gate.since for feature in features()} <= set(releases())
    assert set(targets().values()) <= set(releases())
    assert latest() == (9, 5)


def test_drivers() -> None:
    assert [branch(d) for d in ("535", "R535", "535.54.03", "53", "535.x", "")] == [
        *[535] * 3,
        *[None] * 3,
    ]
    assert highest_for(535) == ((8, 2), True)
    assert highest_for(540) == ((8, 2), False)
    assert highest_for(1000) == ((9, 1), False)
    assert highest_for(200) == (None, False)


def test_what_older_assemblers_refuse() -> None:
    assert ungated("membar", ("proxy", "async")) == (9, 4)
    assert ungated("ld", ("global", "v8", "b16")) == (8, 8)
    assert ungated("ld", ("global", "v8", "b32")) is None


@pytest.mark.parametrize(
    ("opcode", "version", "target", "lacks"),
    [
        ("activemask.b32", (6, 1), "sm_70", "(6, 2)"),
        ("activemask.b32", (6, 2), "sm_70", None),
        ("cvt.rn.f16x2.e4m3x2", (7, 8), "sm_89", "(8, 1)"),
        ("cvt.rn.f16x2.e4m3x2", (7, 8), "sm_90", None),
        ("ld.global.nc.f32", (3, 1), "sm_35", None),
        ("setmaxnreg.inc.sync.aligned.u32", (8, 0), "sm_90", "target"),
        ("setmaxnreg.inc.sync.aligned.u32", (8, 0), "sm_90a", None),
        ("frobnicate.u32", (1, 0), "sm_10", None),
    ],
)
def test_what_is_lacking(
    opcode: str, version: tuple[int, int], target: str, lacks: str | None
) -> None:
    mnemonic, *modifiers = opcode.split(".")
    why = lack(opcode_gates(mnemonic, tuple(modifiers)), version, Target.parse(target))
    assert (why and str(why.version or "target")) == lacks


@pytest.mark.parametrize(
    ("target", "gpu", "runs"),
    [
        ("sm_80", "sm_90", True),
        ("sm_90", "sm_80", False),
        ("sm_90a", "sm_90", True),
        ("sm_90a", "sm_100", False),
        ("sm_100f", "sm_103a", True),
        ("sm_100f", "sm_120", False),
        ("sm_103f", "sm_100", False),
    ],
)
def test_where_a_target_runs(target: str, gpu: str, runs: bool) -> None:
    first, second = Target.parse(target), Target.parse(gpu)
    assert first is not None and second is not None
    assert first.runs_on(second) is runs


def kernel(body: str, version: str, target: str, after: str = "") -> str:
    head = f".version {version}\n.target {target}\n.address_size 64\n"
    registers = (
        ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<9>; .reg .f32 %f<9>; .reg .pred %p;"
    )
    return f"{head}.visible .entry k(.param .u64 p)\n{{\n{registers}\n{body}\nret;\n}}\n{after}"


def test_target_asks_a_second_question() -> None:
    text = kernel("redux.sync.add.u32 %r1, %r2, -1;", "8.0", "sm_80")
    assert check_text(text, select="PTX703", target="sm_90") == []
    found = check_text(text, select="PTX703", target="sm_75")
    assert [(f.span.start.line, f.severity.value) for f in found] == [(2, "error"), (7, "error")]
    special = kernel("", "8.0", "sm_90a")
    assert check_text(special, select="PTX703", target="sm_90") == []
    (finding,) = check_text(special, select="PTX703", target="sm_100")
    assert "`.target sm_90a` does not run on sm_100" in finding.message


def test_what_the_tables_do_not_know_is_a_warning() -> None:
    (finding,) = check_text(kernel("", "9.9", "sm_80"), select="PTX7")
    assert (finding.code, finding.severity.value) == ("PTX701", "warning")
    (finding,) = check_text(kernel("wgmma.fence.sync.aligned;", "9.0", "sm_130"), select="PTX7")
    assert (finding.code, finding.severity.value) == ("PTX703", "warning")


@pytest.mark.parametrize(
    ("driver", "version", "severity"),
    [
        (None, "9.5", None),
        ("535", "8.2", None),
        ("535", "8.3", "error"),
        ("540", "8.2", None),
        ("540", "8.3", "info"),
        ("999", "9.1", None),
        ("999", "9.2", "info"),
    ],
)
def test_a_driver_that_is_not_known_is_no_error(
    driver: str | None, version: str, severity: str | None
) -> None:
    found = check_text(kernel("", version, "sm_80"), select="PTX704", driver=driver)
    assert [f.severity.value for f in found] == ([severity] if severity else [])
    with pytest.raises(ValueError, match="not a driver"):
        check_text(kernel("", version, "sm_80"), driver="new")


SECTION = ".section .debug_x\n{\n.b32 A-B\nA:\nB:\n.b64 A+4\n}\n"
DIFFERENTIAL = [
    ("activemask.b32 %r1;", ""),
    ("mov.u32 %r1, %clusterid.x;", ""),
    ("mov.u64 %rd1, %current_graph_exec;", ""),
    ("mov.u32 %r1, %laneid; mov.u64 %rd1, %clock64; mov.u64 %rd1, %globaltimer;", ""),
    ("cvt.rn.bf16.f16 %h1, %h2;", ""),
    ("ld.global.v8.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, [%rd1];", ""),
    ("redux.sync.min.f32 %f1, %f2, -1;", ""),
    ("setmaxnreg.inc.sync.aligned.u32 40;", ""),
    ("shfl.idx.b32 %r1, %r2, 0, 31;", ""),
    ("fence.acq_rel.gpu;", ""),
    ("{ .reg .b128 %q; }", ""),
    ("elect.sync _|%p, -1;", ""),
    ("", SECTION),
    ("", ".weak .global .b32 g;"),
    ("", ".global .attribute(.managed) .b32 m;"),
    ("", ".func f() .noreturn\n{\nexit;\n}\n"),
    ("", ".func f()\n{\nret;\n}\n.visible .func g();\n.alias g, f;"),
    ("", ".visible .entry e(.param .align 8 .b8 q[4360])\n{\nret;\n}"),
    ("", ".visible .entry e() .reqnctapercluster 2\n{\nret;\n}"),
    ("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}|%p, [%rd1, {%f5,%f6}];", ""),
]
PLACES = [
    ("6.0", "sm_60"),
    ("6.4", "sm_70"),
    ("7.1", "sm_75"),
    ("8.0", "sm_80"),
    ("8.0", "sm_90a"),
    ("8.6", "sm_100a"),
    ("8.7", "sm_120"),
    ("9.5", "sm_89"),
]


@ptxas.needed
@pytest.mark.parametrize(("version", "target"), PLACES)
def test_the_verdict_is_that_of_ptxas(version: str, target: str, tmp_path: Path) -> None:
    arch = target if int("".join(filter(str.isdigit, target))) >= 75 else "sm_75"
    for body, after in DIFFERENTIAL:
        text = kernel(body, version, target, after)
        path = tmp_path / "k.ptx"
        path.write_text(text)
        command = [str(ptxas.find()), f"-arch={arch.replace('sm', 'compute')}", str(path)]
        run = subprocess.run([*command, "-o", str(tmp_path / "k.o")], capture_output=True)
        found = check_text(text, select="PTX702,PTX703,PTX206")
        errors = [f.message for f in found if f.severity.value == "error"]
        assert bool(errors) is (run.returncode != 0), (body, after, errors, run.stderr)
