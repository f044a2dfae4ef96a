"""PTX310: what it says of conflicts, and that the layouts it proposes do what it says."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ptxlint import Finding, Severity, check_text, parse
from ptxlint.execute import Buffer, Launch, run

from ..cases.expectations import FOLDER
from .snippets import found, verdict

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def column(pitch: int, access: str, block: str = ".reqntid 64, 1, 1", more: str = "") -> str:
    """A kernel in which each thread uses its own row of ``pitch`` bytes of ``rows``."""
    return f"""{HEAD}
.visible .entry k(.param .u64 out)
{block}
{{
    .shared .align 16 .b8 rows[{64 * pitch}];
    .reg .b32 %r<9>;
    .reg .b64 %rd<3>;
    .reg .f32 %f<5>;
    .reg .pred %p;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, rows;
    mad.lo.u32 %r3, %r1, {pitch}, %r2;
    {more}
    {access}
    ret;
}}
"""


@pytest.mark.parametrize(
    ("pitch", "access", "total", "minimum"),
    [
        (128, "st.shared.f32 [%r3], 0f00000000;", 32, 1),
        (132, "st.shared.f32 [%r3], 0f00000000;", 1, 1),
        (64, "st.shared.f32 [%r3], 0f00000000;", 16, 1),
        (32, "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r3];", 8, 4),
        (16, "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r3];", 4, 4),
        (128, "atom.shared.add.u32 %r4, [%r3], 1;", 32, 1),
        (0, "atom.shared.add.u32 %r4, [%r3], 1;", 32, 32),
        (0, "ld.shared.f32 %f1, [%r3];", 1, 1),
        (128, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r3];", 8, 1),
    ],
)
def test_wavefronts_of_a_column(pitch: int, access: str, total: int, minimum: int) -> None:
    findings = found(column(pitch, access), "PTX310")
    if total < 2 * minimum:
        assert findings == []
        return
    (finding,) = findings
    assert (finding.data["wavefronts"], finding.data["minimum"]) == (total, minimum)


def test_lanes_that_take_no_part_do_not_meet() -> None:
    guard = "and.b32 %r5, %r1, 7; setp.eq.u32 %p, %r5, 0;"
    (finding,) = found(column(128, "@%p st.shared.f32 [%r3], 0f00000000;", more=guard), "PTX310")
    assert finding.data["wavefronts"] == 4
    assert finding.data["lanes"] == [0, 8, 16, 24]


def test_what_is_assumed_is_said() -> None:
    (finding,) = found(column(128, "st.shared.f32 [%r3], 0f00000000;", block=""), "PTX310")
    assert "the block is one-dimensional" in finding.assumptions


@pytest.mark.parametrize("name", ["column-of-a-tile", "rows-of-a-matrix"])
def test_the_fix_keeps_the_results_and_takes_the_minimum(name: str, tmp_path: Path) -> None:
    text = (FOLDER / f"{name}.bad.ptx").read_text(encoding="utf-8")
    (finding,) = found(text, "PTX310")
    assert finding.severity is Severity.WARNING
    assert finding.fix is not None and not finding.fix.safe
    mended = applied(text, finding)
    assert check_text(mended) == []
    assert verdict(mended, tmp_path).accepted
    assert results(mended) == results(text)


def test_a_layout_is_offered_only_where_all_accesses_of_the_object_are_known() -> None:
    access = "st.shared.f32 [%r3], 0f00000000; ld.shared.u32 %r5, [rows];"
    (finding,) = found(column(128, access), "PTX310")
    assert finding.data["layout"] == {"pitch": 128, "pad": 4}
    access += "add.u32 %r6, %r2, %r5; ld.shared.u32 %r7, [%r6];"
    (finding,) = found(column(128, access), "PTX310")
    assert "layout" not in finding.data and finding.fix is None
    assert finding.severity is Severity.INFO


def applied(text: str, finding: Finding) -> str:
    """The text with the finding's fix."""
    assert finding.fix is not None
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    for edit in sorted(finding.fix.edits, key=lambda e: e.span.start, reverse=True):
        start = starts[edit.span.start.line - 1] + edit.span.start.column - 1
        end = starts[edit.span.end.line - 1] + edit.span.end.column - 1
        text = text[:start] + edit.text + text[end:]
    return text


def results(text: str) -> tuple[bytes, bytes]:
    """What the kernel writes to ``out``."""
    module = parse(text)
    kernel = module.kernels[0]
    block = next(d.arguments for d in kernel.directives if d.name == "reqntid")
    data = random.Random(1).randbytes(8192)
    parameters = {"in": Buffer(8192, data), "out": Buffer(8192, bytes(8192))}
    x, y, z = (int(str(a)) for a in block)
    result = run(module, kernel, Launch((x, y, z), parameters=parameters))
    assert result.status == "done" and not result.opaque and not result.unsupported
    return result.buffers["out"]
