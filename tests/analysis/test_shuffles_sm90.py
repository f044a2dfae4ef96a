"""Rules on masks and clamps against a GPU: what is said of each kernel, and what it gave there."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from bench.gpu.shuffles import NOTHING, UNTOUCHED, Case, cases, given
from ptxlint import Finding, check_text, parse
from ptxlint.execute import Buffer, Launch, run

RESULTS = Path(__file__).parent / "shuffles_sm90.json"
CASES = list(cases())
WRONG = [case for case in CASES if case.code]
RIGHT = [case for case in CASES if not case.code]
MASKS = ("PTX202", "PTX203", "PTX204", "PTX205", "PTX207")


def findings(case: Case) -> list[Finding]:
    """What the rules on masks and clamps say."""
    return [each for each in check_text(case.ptx) if each.code in MASKS]


def recorded(case: Case) -> list[int]:
    """The words that the GPU stored; skips where it was not asked or did not come back."""
    if not RESULTS.exists():
        pytest.skip("bench/gpu/shuffles.py --record was not run yet")
    rows = json.loads(RESULTS.read_text(encoding="utf-8"))["cases"]
    status, words = next((s, w) for name, s, w in rows if name == case.name)
    if status != "ok":
        assert case.code, f"{case.name}: right, and {status}"
        pytest.skip(f"on the GPU: {status}")
    return list(words)


def test_there_are_enough_of_them() -> None:
    assert len(WRONG) == len(RIGHT) >= 20
    assert len({case.ptx for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_wrong_ones_are_found_and_right_ones_are_not(case: Case) -> None:
    assert [each.code for each in findings(case)] == ([case.code] if case.code else [])


@pytest.mark.parametrize("case", WRONG, ids=lambda case: case.name)
def test_the_finding_is_at_the_operation(case: Case) -> None:
    (finding,) = findings(case)
    line = case.ptx.splitlines()[finding.span.start.line - 1]
    assert any(word in line for word in ("shfl", "vote", "match", "redux", "bar.warp"))
    if case.code != "PTX207":
        assert finding.witness is not None
        assert int(finding.witness["mask"], 16) < 1 << 32


@pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)
def test_right_ones_give_what_they_should(case: Case) -> None:
    words = recorded(case)
    size = 4 * case.threads
    data = struct.pack(f"<{case.threads}I", *map(given, range(case.threads)))
    out = struct.pack(f"<{case.threads}I", *[UNTOUCHED] * case.threads)
    launch = Launch(
        block=(case.threads, 1, 1),
        parameters={"in": Buffer(size, data), "out": Buffer(size, out)},
    )
    module = parse(case.ptx)
    result = run(module, module.kernels[0], launch)
    assert result.status == "done"
    values, unknown = result.buffers["out"]
    assert not any(unknown)
    assert words == list(struct.unpack(f"<{case.threads}I", values))


@pytest.mark.parametrize(
    "case", [c for c in WRONG if c.code in ("PTX202", "PTX204")], ids=lambda case: case.name
)
def test_the_lane_of_the_witness_gets_what_it_names(case: Case) -> None:
    (finding,) = findings(case)
    witness = finding.witness
    assert witness is not None
    words = recorded(case)
    if "gives" not in witness:
        return  # no value of another lane is read, or of no single one
    got = words[32 * witness["warp"] + witness["lane"]]
    assert got == witness["gives"]
    assert got not in (NOTHING, given(32 * witness["warp"] + witness["source_lane"]))


@pytest.mark.parametrize("case", [c for c in WRONG if c.code == "PTX202"], ids=lambda c: c.name)
def test_lanes_that_are_said_to_be_absent_are(case: Case) -> None:
    (finding,) = findings(case)
    assert finding.witness is not None
    words, executing = recorded(case), int(finding.witness["executing"], 16)
    first = 32 * finding.witness["warp"]
    for lane, word in enumerate(words[first : first + 32]):
        assert (word not in (NOTHING, UNTOUCHED)) == bool(executing >> lane & 1), lane


@pytest.mark.parametrize("case", [c for c in WRONG if c.code == "PTX207"], ids=lambda c: c.name)
def test_with_a_wrong_clamp_lanes_keep_their_own(case: Case) -> None:
    words = recorded(case)
    others = [t for t, word in enumerate(words) if word != given(t)]
    assert len(others) <= (1 if ".bfly" in case.ptx else 0)
