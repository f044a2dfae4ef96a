"""SAS701: what a binary as a whole lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxlint.engine.images import unfold
from ptxlint.engine.options import Options
from ptxlint.engine.registry import discover
from ptxlint.inputs.images import Inputs
from ptxlint.inputs.inventory import Inventory, inventories
from ptxlint.inputs.source import Source
from ptxlint.model import FileReport, Finding, Severity

from ..inputs.fatbins import ACCELERATED, CUBIN, FAMILY, KERNEL, NVVM, PTX, container, entry, host

BINARIES = Path(__file__).parents[2] / "corpus" / "binaries"
SPILL = (BINARIES / "spill.cubin").read_bytes()
(RULE,) = [rule for rule in discover() if rule.code == "SAS701"]
# The kernels of spill.cubin, as PTX names them.
SAME = b".visible .entry spill() { ret; }\n.visible .entry local_table() { ret; }\n"
NONE = KERNEL.partition(b".visible")[0]
EMPTY = host([(".text", b"x")], machine=190)

Parts = tuple[tuple[int, int, int], ...]


def inventory(data: bytes) -> Inventory:
    (found,) = inventories(Inputs(Source(data), "lib.so"))
    return found


def findings(data: bytes, **options: str) -> list[Finding]:
    return list(RULE.load().check_images(inventory(data), Options.of(**options)))


def built(*containers: Parts) -> bytes:
    """Containers of images (kind, sm, flags); the cubins have no kernels."""
    return b"".join(
        container(
            *[entry(NONE if kind == PTX else EMPTY, kind, sm, flags) for kind, sm, flags in parts]
        )
        for parts in containers
    )


def said(data: bytes, **options: str) -> list[tuple[str, str]]:
    return [(f.severity.value, f.message) for f in findings(data, **options)]


A80, A90, A100, A120 = ((CUBIN, sm, 0) for sm in (80, 90, 100, 120))
P70, P80, P90 = ((PTX, sm, 0) for sm in (70, 80, 90))


@pytest.mark.parametrize("gpu", ["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"])
def test_a_gpu_that_has_an_image(gpu: str) -> None:
    assert said(built((A80, A90, A100, A120)), target=gpu) == []
    assert said(built((A80, A90, A100, A120, P90)), target=gpu) == []


@pytest.mark.parametrize(
    ("parts", "gpu"),
    [
        ((A80, A90), "sm_75"),
        ((A80, A90), "sm_100"),
        (((CUBIN, 86, 0),), "sm_80"),
        (((CUBIN, 80, 0),), "sm_87"),
        (((CUBIN, 100, ACCELERATED),), "sm_103"),
        (((CUBIN, 100, FAMILY),), "sm_120"),
        (((PTX, 90, ACCELERATED),), "sm_100"),
        (((PTX, 90, 0),), "sm_80"),
    ],
)
def test_nothing_runs_on_a_gpu(parts: Parts, gpu: str) -> None:
    (found,) = findings(built(parts), target=gpu)
    assert found.severity is Severity.ERROR
    assert found.message == f"nothing here runs on {gpu}"
    assert found.notes[0].startswith("there is ")


@pytest.mark.parametrize(
    ("parts", "gpu"),
    [
        (((CUBIN, 100, 0),), "sm_103"),
        (((CUBIN, 100, FAMILY),), "sm_103"),
        (((CUBIN, 87, 0),), "sm_87"),
        (((CUBIN, 90, ACCELERATED),), "sm_90a"),
    ],
)
def test_what_runs_on_more_than_its_own_gpu(parts: Parts, gpu: str) -> None:
    assert said(built(parts), target=gpu) == []


def test_some_of_it_runs_on_a_gpu() -> None:
    data = built((A80, A90), (A80,))
    assert said(data, target="sm_90") == [
        ("info", "1 of 2 containers hold nothing that runs on sm_90")
    ]


def test_only_by_compiling_ptx() -> None:
    message = "sm_100 runs all of it only by compiling PTX when it is loaded"
    assert said(built((A80, P80)), target="sm_100") == [("info", message)]
    message = "sm_100 runs 1 of 2 of it only by compiling PTX when it is loaded"
    assert said(built((A80, P80), (A100,)), target="sm_100") == [("info", message)]


def test_ptx_that_the_driver_does_not_take() -> None:
    new = entry(NONE, PTX, 80, version=(9, 0))
    data = container(entry(EMPTY, CUBIN, 80), new)
    (found,) = findings(data, target="sm_100", driver="535")
    assert found.severity is Severity.ERROR
    assert found.notes == (
        "there is machine code for sm_80 and PTX for sm_80",
        "driver 535 does not take the PTX: PTX ISA 9.0",
    )
    assert said(data, driver="535")[0] == (
        "info",
        "driver 535 does not take the PTX here: PTX ISA 9.0",
    )
    assert said(data, target="sm_80", driver="535") == []
    assert said(data, target="sm_100", driver="580")[0][0] == "info"
    # Of a driver that is not in the table nothing is said.
    assert said(data, driver="999") == []


def test_code_that_is_linked_later_is_no_error() -> None:
    data = container(entry(EMPTY, CUBIN, 80), entry(b"IR", NVVM, 80))
    assert said(data, target="sm_100") == [("info", "nothing here runs on sm_100")]


def test_ptx_only() -> None:
    assert said(built((P80,), (P90,))) == [
        ("info", "PTX only: every GPU compiles it when it is loaded")
    ]
    assert said(built((P80,), (A80,))) == []


def test_one_architecture() -> None:
    message = "code for sm_90a and nothing that later GPUs could run instead"
    assert said(built((A80, (CUBIN, 90, ACCELERATED)))) == [("info", message)]
    assert said(built((A80, (CUBIN, 90, ACCELERATED), A100))) == []
    assert said(built((P80, A80, (CUBIN, 90, ACCELERATED)))) == []


def test_out_of_step() -> None:
    ptx = b".version 8.0\n.target sm_80\n.address_size 64\n" + SAME
    assert said(container(entry(SPILL, CUBIN, 80), entry(ptx))) == []
    other = ptx.replace(b"spill", b"spilt")
    (found,) = findings(container(entry(SPILL, CUBIN, 80), entry(other)))
    assert found.message == "`1.sm_80.cubin` has other kernels than `1.sm_80.ptx`"
    assert found.notes == ("only in the PTX: `spilt`", "only in the cubin: `spill`")
    assert found.severity is Severity.INFO
    # Of another architecture, or in another container: they need not be the same.
    assert said(container(entry(SPILL, CUBIN, 80), entry(other, sm=90))) == []
    assert said(container(entry(SPILL, CUBIN, 80)) + container(entry(other))) == []
    # A cubin for sm_90 that was assembled from the PTX of sm_80.
    fatbin = (BINARIES / "block_sum.fatbin").read_bytes()
    assert said(fatbin) == []
    sm_90 = next(i for i in inventory(fatbin).cubins if i.sm == 90).load()
    assert said(container(entry(sm_90, CUBIN, 90), entry(other, sm=90))) == []


def test_an_image_alone_lacks_nothing_unless_asked_about() -> None:
    assert said(SPILL) == []
    assert said(SPILL, target="sm_90") == [("error", "nothing here runs on sm_90")]
    assert said(SPILL, target="sm_86") == []


def reports(data: bytes, **options: object) -> list[FileReport]:
    items = unfold(Inputs(Source(data), "lib.so"), Options.of(**options))
    return [item for item in items if isinstance(item, FileReport)]


def test_levels_and_fingerprints() -> None:
    data = built((P80,))
    (report,) = reports(data, severity={"SAS701": "warning"}, ignore="PTX")
    (finding,) = report.findings
    assert finding.severity is Severity.WARNING
    assert len(finding.fingerprint) == 16


def test_a_cubin_that_can_not_be_read_is_a_problem() -> None:
    data = container(entry(SPILL[:9000], CUBIN, 80), entry(KERNEL))
    items = list(unfold(Inputs(Source(data), "lib.so"), Options(ignore=("PTX",))))
    (problem,) = [item for item in items if isinstance(item, OSError)]
    assert str(problem).startswith("lib.so!1.sm_80.cubin: is damaged or cut off")


def test_a_failing_rule_is_one_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RULE.load(), "check_images", lambda inventory, options: 1 / 0)
    (report,) = reports(built((P80,)))
    assert [finding.code for finding in report.findings] == ["PTX999"]
    assert "rule image-missing (SAS701) failed: ZeroDivisionError" in report.findings[0].message
