"""``ptxlint compat`` against ptxas: what it names assembles, one lower does not."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from ptxlint import compat
from ptxlint.analysis.compatibility import verdict
from ptxlint.cli.main import main
from ptxlint.isa.targets import Target
from ptxlint.isa.versions import releases, targets, text

from .. import ptxas

CORPUS = Path(__file__).parents[2] / "corpus" / "ptx"
FILES = sorted([*CORPUS.glob("sm_80/*.ptx"), *CORPUS.glob("sm_90a/*.ptx")])
SOME = FILES[::2]
OFFICIAL = [text(v) for v, release in releases().items() if not release.unofficial]
# sm_101 is another name of sm_110.
PLAIN = [name for name in targets() if name[-1].isdigit() and name != "sm_101"]


def changed(source: str, version: str, target: str) -> str:
    source = re.sub(r"^\.version .*$", f".version {version}", source, flags=re.M)
    return re.sub(r"^\.target \w+", f".target {target}", source, flags=re.M)


def assembles(source: str, target: str, folder: Path) -> bool:
    """By the front end alone; targets before 7.5 are compiled for that."""
    number = int(re.sub(r"\D", "", target))
    arch = target.replace("sm_", "compute_") if number >= 75 else "compute_75"
    path = folder / "k.ptx"
    path.write_text(source)
    command = [str(ptxas.find()), f"-arch={arch}", "-o", str(folder / "k.o"), str(path)]
    if re.search(r"^\.extern \.func", source, re.M):
        command.append("-c")  # of PTX 3.1 and later
    return subprocess.run(command, capture_output=True).returncode == 0


@ptxas.needed
@pytest.mark.parametrize("path", SOME, ids=lambda path: path.stem)
def test_what_it_names_assembles_and_one_lower_does_not(path: Path, tmp_path: Path) -> None:
    source = path.read_text()
    found = compat(source)
    assert found.complete and not found.unknown
    assert found.version and found.target and found.claimed_target and found.version_as_is
    for version, target in (
        (found.version, found.target),
        (found.version_as_is, found.claimed_target),
    ):
        assert assembles(changed(source, version, target), target, tmp_path)
        before = OFFICIAL[OFFICIAL.index(version) - 1]
        assert not assembles(changed(source, before, target), target, tmp_path)
    number = Target.parse(found.target)
    assert number is not None
    lower = [name for name in PLAIN if int(name[3:]) < number.number]
    if number.suffix:
        lower.append(f"sm_{number.number}")
    assert not assembles(changed(source, OFFICIAL[-1], lower[-1]), lower[-1], tmp_path)


KERNEL = """.version {version}
.target {target}
.address_size 64
.visible .entry k(.param .u64 p)
{{
    .reg .b32 %r<4>;
    {body}
    ret;
}}
"""


def kernel(body: str, version: str = "9.0", target: str = "sm_90") -> str:
    return KERNEL.format(body=body, version=version, target=target)


def test_each_number_names_the_line_that_sets_it() -> None:
    found = compat(kernel("activemask.b32 %r1;\n    redux.sync.add.u32 %r1, %r2, -1;"))
    assert (found.claimed_version, found.claimed_target) == ("9.0", "sm_90")
    assert (found.version, found.target) == ("7.0", "sm_80")
    assert found.target_reason is not None and found.target_reason.line == 8
    assert (found.version_as_is, found.driver) == ("7.8", "520.61.05")
    assert (found.lower_version, found.lower_target) == ("7.8", "sm_80")


def test_a_specific_target_that_nothing_needs() -> None:
    found = compat(kernel("mov.u32 %r1, %clusterid.x;", target="sm_90a"))
    assert found.target == "sm_90"
    assert (
        compat(kernel("setmaxnreg.inc.sync.aligned.u32 232;", target="sm_90a")).target == "sm_90a"
    )


def test_an_old_form_keeps_the_target_low() -> None:
    found = compat(kernel("shfl.idx.b32 %r1, %r2, 0, 31;", "6.3", "sm_60"))
    assert found.target == "sm_30"


def test_what_older_assemblers_refuse_counts_for_the_driver() -> None:
    body = "membar.proxy.async;"
    assert compat(kernel(body)).driver is None
    assert compat(kernel(body)).version_as_is == "8.0"


def test_unknown_opcodes_and_unread_text_are_said() -> None:
    found = compat(kernel("frobnicate.u32 %r1;"))
    assert found.unknown == ("frobnicate.u32",)
    assert found.lower_version is None
    assert not compat(kernel("add.u32 %r1 %r2;")).complete


@pytest.mark.parametrize(
    ("driver", "version", "takes"),
    [
        ("535", "8.2", True),
        ("535.54.03", "8.3", False),
        ("560", "8.5", True),
        ("560", "8.6", False),
        ("537", "8.2", True),
        ("537", "8.4", None),
        ("999", "9.1", True),
        ("999", "9.2", None),
        ("300", "8.0", None),
    ],
)
def test_whether_a_driver_takes_it(driver: str, version: str, takes: bool | None) -> None:
    assert verdict(compat(kernel("", version, "sm_80")), driver)[0] is takes


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(kernel("activemask.b32 %r1;"))
    assert main(["compat", str(path)]) == 0
    out = capsys.readouterr().out
    assert "lowest target   sm_30  `activemask.b32`, line 7" in out
    assert main(["compat", str(path), "--driver", "535", "--output-format", "json"]) == 1
    value = json.loads(capsys.readouterr().out)
    assert value["files"][0]["asked"]["takes"] is False
    assert value["files"][0]["version_as_is"] == "7.8"
    assert main(["compat", str(path), "--driver", "nonsense"]) == 2
    assert main(["compat", str(tmp_path / "none.ptx")]) == 2
