"""PTX403 against ptxas: the limit to the byte, what counts, and where objects lie."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from ptxlint import parse
from ptxlint.analysis import Facts
from ptxlint.analysis.shared import static_shared_bytes, static_shared_objects
from ptxlint.engine.options import Options

from .snippets import found, kernel, verdict

HALF = ".shared .align 4 .b8 {}[30000];\n"
FUNCTION = ".func helper()\n{\n" + HALF.format("b") + "    ret;\n}\n"
POINTER = "    mov.u64 %rd1, helper;\n    st.global.u64 [%rd2], %rd1;"


@pytest.mark.parametrize(
    ("target", "limit"),
    [
        ("sm_75", 49152),
        ("sm_80", 49152),
        ("sm_90", 49152),
        ("sm_90a", 232448),
        ("sm_100f", 49152),
        ("sm_100a", 232448),
        ("sm_120a", 101376),
    ],
)
def test_the_limit_holds_to_the_byte(target: str, limit: int, tmp_path: Path) -> None:
    for size in (limit, limit + 1):
        text = kernel(f"    .shared .b8 a[{size}];", target=target, version="8.8")
        assert bool(found(text, "PTX403")) is (size > limit)
        assert verdict(text, tmp_path).accepted is (size <= limit)


@pytest.mark.parametrize(
    ("module", "statements", "over"),
    [
        ("", HALF.format("a") + HALF.format("b"), True),  # used or not
        ("", "{\n" + HALF.format("a") + "}\n{\n" + HALF.format("b") + "}", True),
        (HALF.format("a") + HALF.format("b"), "", False),  # of the module, not named
        (HALF.format("a") + HALF.format("b"), "    mov.u32 %r1, a;", False),
        (HALF.format("a") + HALF.format("b"), "    mov.u32 %r1, a;\n    mov.u32 %r2, b;", True),
        (HALF.format("b"), HALF.format("a") + "    ret;\n    st.shared.u32 [b], 1;", True),
        (FUNCTION, HALF.format("a"), False),
        (FUNCTION, HALF.format("a") + "    call helper;", True),
        (FUNCTION, HALF.format("a") + "    bra E;\n    call helper;\nE:", True),
        (FUNCTION, HALF.format("a") + POINTER, True),
        (".extern .shared .align 16 .b8 b[];\n", HALF.format("a") + "    mov.u32 %r1, b;", False),
    ],
)
def test_what_counts(module: str, statements: str, over: bool, tmp_path: Path) -> None:
    text = kernel(statements, module)
    assert bool(found(text, "PTX403")) is over
    assert verdict(text, tmp_path).accepted is not over


def random_kernel(rng: random.Random, scopes: str) -> str:
    """Two to five objects about the module, a function and the kernel, named or not."""
    sizes = {".b8": 1, ".b16": 2, ".f32": 4, ".u64": 8, ".v2 .f32": 8, ".v4 .b32": 16}
    texts: dict[str, str] = {"M": "", "F": "", "K": ""}
    uses: dict[str, str] = {"F": "", "K": ""}
    for number in range(rng.randint(2, 5)):
        scope, kind = rng.choice(scopes), rng.choice(list(sizes))
        count = rng.randint(1, 17000) // sizes[kind] + 1
        align = rng.choice([1, 2, 4, 8, 16, 64, 128, 256])
        texts[scope] += f"    .shared .align {align} {kind} o{number}[{count}];\n"
        for user in uses:
            if scope == user or (scope == "M" and rng.random() < 0.5):
                uses[user] += f"    mov.u32 %r1, o{number};\n"
    function = f".func f()\n{{\n    .reg .b32 %r<2>;\n{texts['F']}{uses['F']}    ret;\n}}\n"
    call = "    call f;\n" if rng.random() < 0.7 else ""
    return kernel(texts["K"] + uses["K"] + call, texts["M"] + function)


@pytest.mark.parametrize("seed", range(16))
def test_never_more_than_ptxas_counts_and_exact_in_one_body(seed: int, tmp_path: Path) -> None:
    scopes = "K" if seed % 2 else "MFK"
    text = random_kernel(random.Random(seed), scopes)
    module = parse(text)
    entry = module.kernels[0]
    ours = static_shared_bytes(entry, static_shared_objects(entry, Facts(module, Options())))
    said = verdict(text, tmp_path, "-v")
    match = re.search(r"data \((0x\w+)|, (\d+) bytes smem", said.text)
    theirs = int(match[1] or match[2], 0) if match else 0
    assert ours <= theirs
    assert ours == theirs or scopes != "K"
    if found(text, "PTX403"):
        assert not said.accepted


def test_the_objects_are_listed_by_size() -> None:
    text = kernel(
        "    .shared .b8 small[1000];\n    .shared .b8 large[40000];\n    .shared .b8 mid[9000];"
    )
    (finding,) = found(text, "PTX403")
    assert text.split("\n")[finding.span.start.line - 1].strip().startswith(".shared .b8 large")
    assert list(finding.data["objects"]) == ["large", "mid", "small"]
    assert "848 bytes too many" in finding.notes[0]
