"""resources per GPU: occupancy, exact and estimated registers, conditions to fail on, baselines."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import ptxlint

from .. import ptxas
from .conftest import HEAD, ROOT, Run

SPILL = str(ROOT / "corpus" / "ptx" / "sm_80" / "spill.ptx")
KERNEL = HEAD + (
    ".visible .entry big(.param .u64 p)\n.maxntid 1024, 1, 1\n{\n.reg .b64 %rd<4>;\n"
    ".shared .align 16 .b8 tile[40000];\nld.param.u64 %rd1, [p];\nst.global.u64 [%rd1], %rd1;\n"
    "st.shared.u64 [tile], %rd1;\nret;\n}\n"
)


def kernels(run: Run, *words: str) -> list[dict[str, Any]]:
    done = run("resources", *words, "--output-format", "json", "-q")
    assert done.returncode == 0, done.stderr
    return [k for file in json.loads(done.stdout)["files"] for k in file["kernels"]]


def test_each_target_has_its_occupancy(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNEL)
    (kernel,) = kernels(run, "k.ptx", "--target", "sm_70,sm_80,sm_90")
    rows = {gpu["target"]: gpu for gpu in kernel["gpus"]}
    for target, row in rows.items():
        same = ptxlint.occupancy(target, registers=16, threads=1024, shared=40000)
        assert same is not None and same.blocks == row["blocks"] == 2
        assert row["threads_source"] == ".maxntid" and row["failure"] is None
    (one,) = kernels(run, "k.ptx", "--target", "sm_80", "--dynamic-shared", "130000")
    (gpu,) = one["gpus"]
    assert gpu["blocks"] == 0 and gpu["failure"]["code"] == 1
    assert "170,000 bytes" in gpu["failure"]["why"]
    assert "fails with 1" in run("resources", "k.ptx", "--dynamic-shared", "130000").stdout
    (old,) = kernels(run, "k.ptx", "--target", "sm_35")
    assert [gpu["blocks"] for gpu in old["gpus"]] == [None]


def test_estimates_say_that_they_are(run: Run, tmp_path: Path) -> None:
    first, _ = kernels(run, SPILL)
    estimate = first["registers_estimate"]
    assert first["registers"] is None and first["spills"] is None
    assert estimate["low"] <= estimate["middle"] <= estimate["high"] == 32  # 1024 threads, twice
    assert f"~{estimate['middle']} (" in run("resources", SPILL).stdout
    table = list(
        csv.DictReader(io.StringIO(run("resources", SPILL, "--output-format", "csv").stdout))
    )
    assert table[0]["registers_high"] == "32" and table[0]["sm_80_threads"] == "1024"


@ptxas.needed
def test_ptxas_says_it_exactly(run: Run) -> None:
    first, second = kernels(run, "--ptxas", SPILL)
    assert (first["registers"], first["registers_estimate"]) == (32, None)
    assert first["spills"]["stores"] > 500 and second["spills"]["stores"] == 0
    assert sum(each["instructions"] for each in first["spill_lines"]) > 300
    assert second["spill_lines"] == []
    shown = run("resources", "--ptxas", "-v", SPILL).stdout
    worst = first["spill_lines"][0]
    assert f"spill, at lines {worst['line']} ({worst['instructions']})" in shown
    done = run("resources", "--ptxas=/nowhere/ptxas", SPILL)
    assert done.returncode == 2 and "no ptxas at /nowhere/ptxas" in done.stderr
    failed = run("resources", "--ptxas", "--fail-if", "spill_bytes > 0", SPILL)
    assert failed.returncode == 1
    (line,) = [x for x in failed.stderr.splitlines() if "spill_bytes" in x]
    assert line.startswith(f"{SPILL}: spill: spill_bytes ") and line.endswith(" > 0")
    passed = run("resources", "--ptxas", "--fail-if", "local*: spill_bytes>0", SPILL)
    assert passed.returncode == 0


@ptxas.needed
def test_ptxas_refuses(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bad.ptx").write_text(KERNEL.replace("%rd1], %rd1", "%rd1], %nothing"))
    done = run("resources", "--ptxas", "bad.ptx")
    assert done.returncode == 2 and "bad.ptx" in done.stderr and "Traceback" not in done.stderr


def test_an_estimate_fails_where_all_of_it_does(run: Run) -> None:
    (estimate, _) = (k["registers_estimate"] for k in kernels(run, SPILL))
    for number, status in ((estimate["low"] - 1, 1), (estimate["low"], 0)):
        done = run("resources", "--fail-if", f"spill: registers>{number}", SPILL)
        assert done.returncode == status
    for number, status in ((estimate["high"], 0), (estimate["high"] + 1, 1)):
        done = run("resources", "--fail-if", f"spill: registers<{number}", SPILL)
        assert done.returncode == status


def test_usage(run: Run, tmp_path: Path) -> None:
    for words, said in (
        (["--fail-if", "registers"], "not a condition"),
        (["--fail-if", "register>3"], "did you mean"),
        (["--fail-if", "spill_bytes>0"], "is not known"),
        (["--baseline", "b.json"], "for --fail-if"),
        (["--target", "a100"], "not a target"),
    ):
        done = run("resources", SPILL, *words)
        assert done.returncode == 2 and said in done.stderr, words
    (tmp_path / "b.json").write_text("[]")
    done = run("resources", SPILL, "--fail-if", "local>3", "--baseline", "b.json")
    assert done.returncode == 2 and "no baseline" in done.stderr


def test_a_baseline_excuses_what_is_no_worse(run: Run, tmp_path: Path) -> None:
    local = ["resources", SPILL, "--fail-if", "local>3"]
    assert run(*local).returncode == 1
    assert run(*local, "--write-baseline", "b.json").returncode == 0
    known = json.loads((tmp_path / "b.json").read_text())
    assert known["kernels"] == {"local_table": {"local": 64}}
    assert run(*local, "--baseline", "b.json").returncode == 0
    known["kernels"]["local_table"]["local"] = 60
    (tmp_path / "b.json").write_text(json.dumps(known))
    assert run(*local, "--baseline", "b.json").returncode == 1
    known["kernels"] = {"gone": {"local": 64}, "local_table": {"local": 64}}
    (tmp_path / "b.json").write_text(json.dumps(known))
    done = run(*local, "--baseline", "b.json")
    assert done.returncode == 0 and "no longer needed: 1" in done.stderr


def test_the_page_is_well_formed_and_has_what_the_table_has(run: Run, tmp_path: Path) -> None:
    (tmp_path / "k<.ptx").write_text(KERNEL)
    words = ("--target", "sm_80,sm_90", "--output-format", "html", "--dynamic-shared", "130000")
    page = run("resources", "k<.ptx", *words).stdout
    opened: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag not in ("meta", "br"):
                opened.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert opened.pop() == tag

    Reader().feed(page)
    assert opened == []
    assert "k&lt;.ptx" in page and "170,000 bytes" in page and page.count("fails with 1") == 1
    assert "http" not in page
