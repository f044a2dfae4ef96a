"""Kernels around a few statements, and what the linter and ptxas say of them."""

from __future__ import annotations

from pathlib import Path

from ptxlint import Finding, check_text

from ..cases.assembler import Verdict, assemble

REGISTERS = """\
    .reg .pred %p<5>;
    .reg .b16 %rs<5>;
    .reg .b32 %r<9>;
    .reg .f32 %f<9>;
    .reg .b64 %rd<9>;
"""


def kernel(statements: str, module: str = "", target: str = "sm_90", version: str = "8.0") -> str:
    """A module with one kernel, ``body``, of those statements; its last line ends the kernel."""
    return (
        f".version {version}\n.target {target}\n.address_size 64\n{module}\n"
        f".visible .entry body(.param .u64 p_out)\n{{\n{REGISTERS}{statements}\n    ret;\n}}\n"
    )


def found(text: str, code: str) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in check_text(text) if finding.code == code]


def verdict(text: str, folder: Path, *flags: str) -> Verdict:
    """What ptxas says; skips the test without it."""
    path = folder / "kernel.ptx"
    path.write_text(text, encoding="utf-8")
    return assemble(path, *flags)
