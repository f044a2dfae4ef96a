"""Kernels of a few lines, and the files of the corpus."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ptxlint.analysis.facts import Facts
from ptxlint.analysis.memory.access import Access
from ptxlint.analysis.memory.accesses import accesses
from ptxlint.engine.options import Options
from ptxlint.ptx import parse
from ptxlint.ptx.ir import Function

ROOT = Path(__file__).resolve().parents[3]
CORPUS = sorted((ROOT / "corpus").rglob("*.ptx"))
HEAD = """.version 8.8
.target sm_100a
.address_size 64
.global .align 16 .b8 table[256];
.global .align 16 .b8 other[256];
.const .align 4 .b8 limits[64];
.extern .shared .align 16 .b8 dynamic[];
.extern .shared .align 16 .b8 second[];
"""
REGISTERS = """.reg .pred %p<9>;
.reg .b16 %h<9>;
.reg .b32 %r<40>;
.reg .f32 %f<9>;
.reg .b64 %rd<40>;
.shared .align 16 .b8 tile[1024];
.shared .align 8 .b64 bar;
.local .align 16 .b8 stack[64];
"""


def parsed(text: str) -> tuple[list[Function], Facts]:
    """The functions of a whole text, which must be PTX."""
    module = parse(text, "x.ptx")
    assert module.parsed == "full", [p.message for p in module.syntax_problems]
    assert not module.name_problems, [p.name for p in module.name_problems]
    return [f for f in module.functions if f.body is not None], Facts(module, Options())


def kernel(body: str, before: str = "") -> tuple[Function, Facts]:
    """A kernel with parameters a, b (pointers), s (32 bytes) and n."""
    functions, facts = parsed(
        f"{HEAD}{before}.visible .entry k(.param .u64 a, .param .u64 b,"
        f" .param .align 8 .b8 s[32], .param .u32 n)\n{{\n{REGISTERS}{body}\nret;\n}}\n"
    )
    return functions[-1], facts


def found(body: str, before: str = "") -> list[Access]:
    """The accesses of such a kernel."""
    function, facts = kernel(body, before)
    return facts.once(function, accesses)


@cache
def corpus(path: Path) -> tuple[list[Function], Facts]:
    """The functions of a file of the corpus, with the facts that all tests share."""
    module = parse(path.read_text(encoding="utf-8"), path.name)
    functions = [f for f in module.functions if f.body is not None]
    return functions, Facts(module, Options())
