"""The whole study's figures, on a handful."""

from __future__ import annotations

import argparse
from pathlib import Path

from bench import oracle

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
STORE = """
.visible .entry {name}(.param .u64 out)
{{
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    {op} %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}}
"""


def test_a_folder_is_studied_and_told(tmp_path: Path) -> None:
    kernels = [STORE.format(name=n, op=op) for n, op in (("a", "add.s64"), ("b", "add.u64"))]
    again = STORE.format(name="c", op="add.s64")
    (tmp_path / "two.ptx").write_text(HEAD + "".join([*kernels, again]), encoding="utf-8")
    (tmp_path / "broken.ptx").write_text(HEAD + ".visible .entry k( {", encoding="utf-8")
    flags = argparse.Namespace(
        folders=[str(tmp_path)],
        generated=0,
        ours=False,
        limit_bytes=None,
        sample=None,
        seed=1,
        launches=5,
        seconds=20.0,
        minutes=1.0,
        max_steps=500,
        per_file=3,
        stop=True,
        verbose=False,
    )
    known = oracle.figures(oracle.study(flags))
    row = known["sources"]["all"]
    assert row["kernels"] == 2  # c has the opcodes of a
    assert row["launches"] == 10 and row["ended"]["done"] == 10
    assert row["supported"] == row["instructions"] == row["executed"] == 12
    assert known["contradictions"] == [] == known["crashes"]
    assert {"edges", "congruence", "patterns", "uniformity", "dead values"} <= set(known["kinds"])
    assert all(
        kind["checks"] for kind in (known["kinds"]["patterns"], known["kinds"]["congruence"])
    )
    told = oracle.text(known, 10)
    assert "| patterns " in told and "contradictions (" not in told
