"""The interpreter against a GPU: small kernels, and the bytes that an H200 wrote for them."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from bench.gpu_execute import Case, cases, on_gpu, unpack
from ptxlint import parse
from ptxlint.execute import Buffer, Launch, run

RESULTS = Path(__file__).parent / "gpu" / "results.json"
RECORDED = json.loads(RESULTS.read_text(encoding="utf-8"))["outputs"]
CASES = [case for case in cases() if case.name in RECORDED]
# `.approx` is not promised to the bit; of sin and cos of large arguments hardware keeps little.
APPROXIMATE = "approximate"


def interpreted(case: Case) -> bytes:
    module = parse(case.ptx)
    kernel = next(k for k in module.kernels if k.name == "k")
    launch = Launch(
        block=(case.threads, 1, 1),
        parameters={
            "out": Buffer(case.size, bytes(case.size)),
            "data": Buffer(len(case.data), case.data),
        },
    )
    result = run(module, kernel, launch)
    assert (result.status, result.unsupported) == ("done", {})
    return result.buffers["out"][0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_as_the_gpu(case: Case) -> None:
    ours, theirs = interpreted(case), unpack(RECORDED[case.name])
    assert len(ours) == len(theirs)
    pairs = list(zip(*(struct.unpack(f"<{len(d) // 8}Q", d) for d in (ours, theirs)), strict=True))
    if case.name == APPROXIMATE:
        assert sum(close(a, b) for a, b in pairs) >= 0.95 * len(pairs)
    else:
        assert [i for i, (a, b) in enumerate(pairs) if a != b] == []


def close(ours: int, theirs: int) -> bool:
    if ours == theirs:
        return True
    a, b = (
        struct.unpack("<f", struct.pack("<I", word & 0xFFFF_FFFF))[0] for word in (ours, theirs)
    )
    return bool(abs(a - b) <= max(abs(a), abs(b)) * 2**-20 + 2**-20)


def test_the_gpu_ran_all_kinds() -> None:
    assert len(CASES) == 50


@pytest.mark.gpu
def test_again_on_this_gpu() -> None:
    try:
        _, found = on_gpu(CASES)
    except OSError as error:
        pytest.skip(f"no NVIDIA driver: {error}")
    for case in CASES:
        assert found[case.name] == unpack(RECORDED[case.name]), case.name
