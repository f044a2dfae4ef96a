"""Reports made by hand, so that what a format shows is known to the letter."""

from __future__ import annotations

from typing import Any

import pytest

from ptxlint.model import (
    Confidence,
    FileReport,
    Finding,
    Label,
    Position,
    Severity,
    SourceLine,
    Span,
)

LINES = [
    ".version 7.0",
    ".target sm_80",
    ".visible .entry _Z4peekPj(.param .u64 p)",
    "{",
    "\t.shared .align 4 .b8 stash[256];",
    "\t.reg .b32 %r<9>;",
    "",
    "",
    "",
    "\tld.shared.v4.u32\t{%r1, %r2, %r3, %r4}, [stash+4];",
    "\tret;",
    "}",
]


def span(line: int, first: int, last: int) -> Span:
    """Columns ``first`` up to, not including, ``last`` of a line."""
    return Span(Position(line, first), Position(line, last))


def finding(**given: Any) -> Finding:
    """A misaligned access with everything that a finding can have."""
    values: dict[str, Any] = {
        "code": "PTX301",
        "name": "misaligned-access",
        "severity": Severity.ERROR,
        "confidence": Confidence.HIGH,
        "message": "`ld.shared.v4.u32` needs 16-byte alignment, `[stash+4]` has 4",
        "span": span(10, 2, 52),
        "kernel": "_Z4peekPj",
        "kernel_demangled": "peek(unsigned int*)",
        "labels": (Label(span(5, 10, 18), "declared with 4 here"),),
        "notes": ("the access faults with CUDA_ERROR_MISALIGNED_ADDRESS (716)",),
        "help": "write `.align 16`, and use an offset that is a multiple of 16",
        "assumptions": ("`p` is 256-byte aligned",),
        "source": (SourceLine("peek.cuh", 7, 3), SourceLine("peek.cu", 21, 5)),
        "fingerprint": "0123456789abcdef",
        "data": {"width": 16},
    }
    return Finding(**{**values, **given})


@pytest.fixture
def reports() -> list[FileReport]:
    """One file with an error, an info and a suppressed warning, and one with nothing."""
    info = finding(
        code="PTX804",
        name="generic-access",
        severity=Severity.INFO,
        message="generic: 100%",
        span=span(11, 2, 6),
        kernel=None,
        kernel_demangled=None,
        labels=(),
        notes=(),
        help=None,
        assumptions=(),
        source=(),
        data={},
    )
    hidden = finding(severity=Severity.WARNING, suppressed="inline", code="PTX310")
    return [
        FileReport(
            "a b/peek.ptx",
            "partial",
            [finding(), hidden, info],
            ["_Z4peekPj"],
            lines=LINES,
            unanalysed=[span(6, 1, 3)],
        ),
        FileReport("empty.ptx", "full", [], []),
    ]
