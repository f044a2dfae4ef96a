"""Template parsing against plain Lark over the whole text: the same IR."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxlint.ptx import parse
from ptxlint.ptx.grammar import STARTS, lark
from ptxlint.ptx.lexical import blank_comments
from ptxlint.ptx.printer import print_module
from ptxlint.ptx.reference import parse_reference
from ptxlint.ptx.shapes import shipped_shapes
from ptxlint.ptx.ship import form_by_lark, text_of
from ptxlint.ptx.tables import build, grammar_hash
from ptxlint.resources import grammar_text
from tests.ptx.structure import structure

CORPUS = sorted((Path(__file__).parents[2] / "corpus" / "ptx").rglob("*.ptx"))
SMALL = [path for path in CORPUS if path.stat().st_size < 20_000]


def agree(text: str) -> None:
    assert structure(parse(text)) == structure(parse_reference(text))


@pytest.mark.parametrize("path", SMALL, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_corpus(path: Path) -> None:
    agree(path.read_text())


@pytest.mark.slow
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_whole_corpus(path: Path) -> None:
    agree(path.read_text())


def test_tables_are_of_the_grammar() -> None:
    tables = json.loads(grammar_text("ptx.tables.json"))
    digest = hashlib.sha256(grammar_text("ptx.lark").encode()).hexdigest()
    assert tables["grammar"] == digest == grammar_hash(), "run make tables"


def test_tables_parse_as_the_grammar_does() -> None:
    fresh = build()
    for path in SMALL[:6]:
        text = path.read_text()
        assert fresh.parse(text, start="module") == lark().parse(text, start="module")
    assert {t.name for t in fresh.terminals} == {t.name for t in lark().terminals}
    assert list(fresh.options.start) == list(STARTS)


@pytest.mark.parametrize("rule", sorted(shipped_shapes()))
def test_shipped_shapes_are_what_lark_says(rule: str) -> None:
    wrong = [
        text_of(rule, key)
        for key, form in shipped_shapes()[rule].items()
        if form_by_lark(rule, key) != form
    ]
    assert wrong == []


# --- generated text ------------------------------------------------------------------------------

BLANK = st.sampled_from(["", " ", "\t", " \n ", " /* ; { */ ", " // }\n"])
GAP = st.sampled_from([" ", "\t", "\n\t", " /*,*/ ", " //;\n"])
REGISTER = st.sampled_from(["%r1", "%r2", "%rd3", "%f4", "$x", "v.y", "%tid.x", "%laneid"])
NUMBER = st.sampled_from(
    ["0", "7", "0x1F", "017", "0b101", "42U", "0xFFFFFFFFFFFFFFFF", "-8", "0f3F800000", "1.5"]
)
EXPRESSION = st.sampled_from(
    ["(1+2)*3", "~0xF0&0xff|1^2", "1<<4", "-5/2", "7 % 3", "3>2?7:9", "(.u64)-1", "WARP_SZ*2", "!0"]
)
OPCODE = st.sampled_from(
    ["add.s32", "ld.global.v2.b32", "shfl.sync.bfly.b32", "a.b::c.d", "add .s32", "mov"]
)


@st.composite
def spaced(draw: st.DrawFn, *parts: str) -> str:
    """The parts with blanks or comments in between."""
    return "".join(draw(BLANK) + part for part in parts) + draw(BLANK)


@st.composite
def operand(draw: st.DrawFn) -> str:
    kind = draw(st.integers(0, 10))
    a, b, n = draw(REGISTER), draw(REGISTER), draw(NUMBER)
    whole = draw(st.sampled_from(["4", "-8", "0x10", "1+2", "(3<<2)"]))
    forms = {
        0: [a],
        1: [n],
        2: [draw(EXPRESSION)],
        3: ["[", a, "]"],
        4: ["[", "%rd1", "+", whole, "]"],
        5: ["{", a, ",", "_", ",", b, "}"],
        6: ["%p1", "|", "_"],
        7: ["!", "%p2"],
        8: ["sym", "+", whole],
        9: ["[", "%rd1", ",", "{", a, ",", b, "}", "]"],
        10: ["sym", "[", "2", "]"],
    }
    return draw(spaced(*forms[kind]))


@st.composite
def statement(draw: st.DrawFn, depth: int = 2) -> str:
    kind = draw(st.integers(0, 9 if depth else 7))
    if kind <= 4:
        guard = draw(st.sampled_from(["", "@%p1 ", "@!%p2\n", "@ ! %p1\t"]))
        operands = ",".join(draw(st.lists(operand(), min_size=1, max_size=4)))
        return f"{guard}{draw(OPCODE)}{draw(GAP)}{operands};"
    if kind == 5:
        return draw(st.sampled_from(["L1", "$L", "%lab", "add"])) + draw(BLANK) + ":"
    if kind == 6:
        declaration = st.sampled_from(
            [
                ".reg .b32 t<4>, q;",
                ".reg .v4 .f32 v;",
                ".shared .align 16 .b8 s[2][3];",
                ".param .align 8 .b8 p[16];",
                '.pragma "a;b", "c{";',
                "T: .branchtargets L1, L2;",
                "P: .callprototype (.param .b32 _) _ (.reg .b64 x);",
            ]
        )
        return draw(declaration)
    if kind == 7:
        loc = [".loc 1 2 3\n", ".loc 1 4 7, function_name $L+5, inlined_at 1 3 5\n"]
        return draw(st.sampled_from(loc))
    inner = draw(st.lists(statement(depth - 1), max_size=4))
    return "{" + " ".join(inner) + "}"


@st.composite
def module(draw: st.DrawFn) -> str:
    body = "\n".join(draw(st.lists(statement(), max_size=8)))
    head = draw(st.sampled_from(["()", "", " (.param .u64 p, .param .align 8 .b8 q[4])"]))
    directive = draw(st.sampled_from(["", ".maxntid 32, 1, 1", '.pragma "x";\n.maxnreg 0x20']))
    items = st.sampled_from(
        [
            "",
            ".global .align 4 .b8 sym[8] = {1, -2, 0x7f};\n",
            ".extern .func (.param .b32 r) f (.param .b64 a)\n.noreturn;\n",
            '.file 1 "a;{.cu", 12\n.section .debug_str { A: .b8 1, 2 .b32 A+4 }\n',
            ".global .u64 t[2] = {generic(sym)+8, 0xff(sym)};\n",
        ]
    )
    first, last = draw(items), draw(items)
    return (
        f".version 8.0\n.target sm_80\n.address_size 64\n{first}"
        f".visible .entry k{head} {directive}\n{{\n{body}\n}}\n{last}"
    )


@settings(max_examples=150, deadline=None)
@given(module())
def test_generated(text: str) -> None:
    agree(text)


@settings(max_examples=60, deadline=None)
@given(module())
def test_printing_keeps_the_meaning(text: str) -> None:
    first = print_module(parse(text))
    assert print_module(parse(first)) == first


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet='a/*"\n# 1;', max_size=40))
def test_blanking_keeps_every_place(text: str) -> None:
    blanked, _ = blank_comments(text)
    assert len(blanked) == len(text)
    assert [i for i, c in enumerate(text) if c == "\n"] == [
        i for i, c in enumerate(blanked) if c == "\n"
    ]
