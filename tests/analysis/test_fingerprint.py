"""The key of a function: what leaves it alone, and what changes it."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from ptxlint import parse
from ptxlint.analysis.difference import compare
from ptxlint.analysis.fingerprint import fingerprint
from ptxlint.analysis.normal import stable_name
from tests import ptxas

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "ptx"
FILES = sorted(CORPUS.glob("sm_*/*.ptx"))
# Words with a meaning of their own; any other word in a body may be a name.
WORD = re.compile(r"(?<![\w.$%])[%$]?[A-Za-z_$][\w$]*(?:\.[xyzw]\b)?|\.[\w.:]+|\"[^\"]*\"")

KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
.visible .const .f32 factor = 0f3F800000;
.visible .entry scale(
	.param .u64 scale_param_0,
	.param .u64 scale_param_1
)
.maxntid 128, 1, 1
.minnctapersm 2
{
	.local .align 4 .b8 depot[16];
	.shared .align 4 .b8 tile[512];
	.reg .pred %p<3>;
	.reg .b32 %r<9>;
	.reg .f32 %f<4>;
	.reg .b64 %rd<5>;

	ld.param.u64 %rd1, [scale_param_0];
	ld.param.u64 %rd2, [scale_param_1];
	mov.u32 %r1, %tid.x;
	setp.gt.s32 %p1, %r1, 100;
	@%p1 bra $done;
	mov.u32 %r2, tile;
	add.s32 %r3, %r1, 16;
	sub.s32 %r4, %r1, %r3;
	st.local.u32 [depot+4], %r4;
	ld.const.f32 %f1, [factor];
	mul.f32 %f2, %f1, 0f3F000000;
	st.global.f32 [%rd1+8], %f2;
	mov.u64 %rd3, table;
	st.shared.u32 [%r2+16], %r3;
$done:
	ret;
}
"""


def key(text: str) -> str:
    module = parse(text)
    assert module.parsed == "full"
    (function,) = [f for f in module.functions if f.body is not None]
    return fingerprint(function)


def keys(text: str) -> list[str]:
    return [fingerprint(f) for f in parse(text).functions if f.body is not None]


def renamed(text: str, seed: int) -> str:
    """Registers, labels, parameters and what is declared in bodies, under other names."""
    module = parse(text)
    names: set[str] = set()
    for function in module.functions:
        names |= {v.name for v in (*function.parameters, *function.returns)}
        for statement in function.walk():
            names |= {v.name for v in getattr(statement, "variables", ())}
            if type(statement).__name__ == "Label":
                names.add(statement.name)  # type: ignore[attr-defined]
    kept = {f.name for f in module.functions} | {v.name for v in module.variables}
    ranges = {n for n in names if re.search(rf"{re.escape(n)}<", text)}
    order = sorted(names - kept)
    Random(seed).shuffle(order)
    new = {name: f"n{i}{'_' if name in ranges else ''}" for i, name in enumerate(order)}
    new = {k: f"%{v}" if k[0] == "%" else v for k, v in new.items()}

    def replace(match: re.Match[str]) -> str:
        word = match[0]
        base = word.rstrip("0123456789")
        if word in new:
            return new[word]
        if base in ranges and base in new:
            return new[base] + word[len(base) :]
        stem, dot, rest = word.partition(".")
        return f"{new[stem]}{dot}{rest}" if stem in new else word

    return WORD.sub(replace, text)


def reworded(text: str, seed: int) -> str:
    """Comments, white space, .loc and the order and counts of .reg otherwise."""
    random = Random(seed)
    lines: list[str] = []
    registers: list[str] = []
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith((".loc ", ".loc\t", "//")):
            continue
        if bare.startswith(".reg "):
            registers.append(re.sub(r"<(\d+)>", lambda m: f"<{int(m[1]) + 7}>", line))
            continue
        random.shuffle(registers)
        lines += registers
        registers = []
        if random.random() < 0.3:
            lines.append(random.choice(("// a comment; of { mine", "", "/* } */")))
        lines.append(re.sub(r",\s*", ",   ", line) if '"' not in line else line)
    return "\n".join(lines)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_other_names_and_another_layout_keep_the_key(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    before = keys(text)
    for seed in (1, 2):
        other = renamed(text, seed)
        assert other != text
        assert parse(other).name_problems == []
        assert keys(other) == before
        assert keys(reworded(text, seed)) == before
        assert keys(reworded(other, seed)) == before


@pytest.mark.parametrize("path", sorted(CORPUS.glob("sm_*/*.lineinfo.ptx")), ids=lambda p: p.stem)
def test_line_information_keeps_the_key(path: Path) -> None:
    plain = path.with_name(path.name.replace(".lineinfo", ""))
    assert keys(path.read_text()) == keys(plain.read_text())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("mov.u32 %r1, %tid.x;", "{ .reg .b32 %q; mov.u32 %q, %tid.x; mov.u32 %r1, %q; }"),
        ("add.s32 %r3", "sub.s32 %r3"),
        ("add.s32 %r3, %r1, 16", "add.s32 %r3, %r1, 17"),
        ("add.s32 %r3", "add.u32 %r3"),
        ("sub.s32 %r4, %r1, %r3", "sub.s32 %r4, %r3, %r1"),
        ("[depot+4]", "[depot+8]"),
        ("[%rd1+8]", "[%rd2+8]"),
        ("[%rd1+8]", "[%rd1]"),
        ("@%p1 bra", "@!%p1 bra"),
        ("@%p1 bra", "bra"),
        ("%tid.x", "%tid.y"),
        ("tile[512]", "tile[1024]"),
        (".local .align 4", ".local .align 8"),
        ("[8] = {1,", "[8] = {9,"),
        ("factor = 0f3F800000", "factor = 0f3F800001"),
        ("0f3F000000", "0f3F000001"),
        (".param .u64 scale_param_1", ".param .u64 .ptr .global .align 4 scale_param_1"),
        ("128, 1, 1", "256, 1, 1"),
        (".minnctapersm 2\n", ""),
        (".visible .entry", ".weak .entry"),
        (".reg .f32 %f", ".reg .b32 %f"),
        ("\tmul.f32", "$done2:\n\t@%p1 bra $done2;\n\tmul.f32"),
        ("\tret;", "\tret;\n\tret;"),
        ("[scale_param_1]", "[scale_param_0]"),
        ("ld.const.f32 %f1, [factor]", "ld.const.f32 %f1, [other]"),
    ],
)
def test_what_changes_the_key(old: str, new: str) -> None:
    text = KERNEL.replace(".global", ".visible .const .f32 other = 0f3F800000;\n.global", 1)
    assert text.count(old) == 1
    assert key(text.replace(old, new)) != key(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%r1, 16", "%r1, 0x10"),
        ("%r1, 16", "%r1, 0b10000"),
        ("%r1, 16", "%r1, 8 * 2"),
        ("%r1, 16", "%r1, 16U"),
        ("%r1, 100", "%r1, 0x64"),
        ("0f3F000000", "0.5"),
        ("0f3F000000", "5.0e-1"),
        ("[%rd1+8]", "[%rd1+0x8]"),
        ("[scale_param_0]", "[scale_param_0+0]"),
        ("\tret;", "$unused:\n\tret;"),
        (".maxntid 128, 1, 1\n.minnctapersm 2", ".minnctapersm 2\n.maxntid 128, 1, 1"),
        ("\tsub.s32 %r4, %r1, %r3;", "{ sub.s32 %r4, %r1, %r3; }"),
        ("{1, 2, 3, 4, 5, 6, 7, 8}", "{0x1, 2, 3, 4, 5, 6, 7, 8}"),
        ("table", "rows"),
        (" scale(", " enlarge("),
        (".version 8.0", ".version 8.3"),
    ],
)
def test_what_keeps_the_key(old: str, new: str) -> None:
    assert old in KERNEL
    assert key(KERNEL.replace(old, new)) == key(KERNEL)


@ptxas.needed
@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("add.s32 %r1, %r2, -1;", "add.s32 %r1, %r2, 0xFFFFFFFF;"),
        ("setp.gt.s32 %p1, %r2, -5;", "setp.gt.s32 %p1, %r2, 4294967291;"),
        ("setp.gt.u16 %p1, %h1, -1;", "setp.gt.u16 %p1, %h1, 65535;"),
        ("st.global.u8 [%rd1], 255;", "st.global.u8 [%rd1], -1;"),
        ("add.f32 %f1, %f2, 0.1;", "add.f32 %f1, %f2, 0f3DCCCCCD;"),
        ("add.f64 %d1, %d2, 0.1;", "add.f64 %d1, %d2, 0d3FB999999999999A;"),
        ("mov.b32 %r1, 0f3F800000;", "mov.b32 %r1, 1065353216;"),
        ("mov.b64 %rd2, 0dBFF0000000000000;", "mov.b64 %rd2, -4616189618054758400;"),
        ("and.b64 %rd2, %rd1, -1;", "and.b64 %rd2, %rd1, 0xFFFFFFFFFFFFFFFF;"),
        ("shl.b16 %h1, %h1, 65535;", "shl.b16 %h1, %h1, -1;"),
    ],
)
def test_constants_of_one_key_assemble_to_one_code(one: str, two: str) -> None:
    frame = (
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 q)\n{\n"
        ".reg .b32 %r<3>; .reg .b16 %h<2>; .reg .b64 %rd<4>; .reg .f32 %f<3>; .reg .f64 %d<3>;\n"
        ".reg .pred %p<2>; ld.param.u64 %rd1, [q]; ld.global.u32 %r2, [%rd1];\n"
        "ld.global.u16 %h1, [%rd1+4]; ld.global.f32 %f2, [%rd1+8]; ld.global.f64 %d2, [%rd1+16];\n"
        "mov.u32 %r1, 0; mov.f32 %f1, 0f00000000; mov.f64 %d1, 0d0000000000000000;\n"
        "mov.u64 %rd2, 0; setp.eq.u32 %p1, %r2, 7;\nHERE\n"
        "st.global.u32 [%rd1+24], %r1; st.global.f32 [%rd1+28], %f1;\n"
        "st.global.f64 [%rd1+32], %d1; st.global.u64 [%rd1+40], %rd2;\n"
        "@%p1 st.global.u16 [%rd1+48], %h1; st.global.u16 [%rd1+50], %h1; ret;\n}\n"
    )
    texts = [frame.replace("HERE", line) for line in (one, two)]
    assert key(texts[0]) == key(texts[1])
    first, second = (ptxas.assemble(text, "sm_80") for text in texts)
    assert first.accepted, first.output
    assert second.accepted, second.output
    assert first.code == second.code


def test_constants_that_are_not_the_same() -> None:
    wide = KERNEL.replace("\tret;", "\tmul.wide.u32 %rd4, %r1, -1;\n\tret;")
    assert key(wide) != key(wide.replace("%r1, -1", "%r1, 4294967295"))
    assert key(wide) == key(wide.replace("%r1, -1", "%r1, 0xFFFFFFFFFFFFFFFF"))


def test_the_name_of_a_source_file_is_no_part_of_a_name() -> None:
    mangled = [
        f"_ZN{len(name)}{name}5otherEPi"
        for name in (
            "_GLOBAL__N__751d8aa3_4_a_cu_44e94ac4",
            "_GLOBAL__N__67a8254d_7_long_cu_44e94ac4",
        )
    ]
    assert set(map(stable_name, mangled)) == {"_ZN_GLOBAL__N_5otherEPi"}
    assert stable_name("_ZN99_GLOBAL__N__751d8aa3_4_a_cu") == "_ZN99_GLOBAL__N__751d8aa3_4_a_cu"
    assert stable_name("plain") == "plain"


def test_changes_are_named() -> None:
    other = KERNEL.replace("tile[512]", "tile[1024]").replace("128, 1, 1", "64, 1, 1")
    other = other.replace("add.s32", "xor.b32").replace(".target sm_80", ".target sm_90")
    found = compare(parse(KERNEL), parse(other), lines=100)
    assert [tuple(c) for c in found.changes] == [(".target", "sm_80", "sm_90")]
    (kernel,) = found.functions
    assert (kernel.status, kernel.mix) == ("changed", {"add.s32": -1, "xor.b32": 1})
    assert [tuple(c) for c in kernel.changes] == [
        ("shared bytes", 512, 1024),
        (".maxntid", "128, 1, 1", "64, 1, 1"),
        ("objects", ".shared .align 4 .b8[512]", ".shared .align 4 .b8[1024]"),
    ]
    changed = [line for line in kernel.diff if line[0] in "+-"]
    assert changed == [
        "-.maxntid 128, 1, 1",
        "+.maxntid 64, 1, 1",
        "-shared0: .shared .align 4 .b8[512]",
        "+shared0: .shared .align 4 .b8[1024]",
        "-add.s32 %b32_2, %b32_0, 16",
        "+xor.b32 %b32_2, %b32_0, 16",
    ]


def test_an_insertion_renumbers_nothing_else() -> None:
    other = KERNEL.replace("\tmov.u32 %r1", "\tmov.u32 %r8, %laneid;\n\tmov.u32 %r1")
    (kernel,) = compare(parse(KERNEL), parse(other), lines=100).functions
    changed = [line for line in kernel.diff if line[0] in "+-"]
    assert len(changed) == 1
    assert re.fullmatch(r"\+mov\.u32 %b32_\d+, %laneid", changed[0])


def test_swapped_operands_are_in_the_diff() -> None:
    other = KERNEL.replace("sub.s32 %r4, %r1, %r3", "sub.s32 %r4, %r3, %r1")
    (kernel,) = compare(parse(KERNEL), parse(other), lines=100).functions
    assert (kernel.mix, kernel.changes) == ({}, ())
    assert [line for line in kernel.diff if line[0] in "+-"] == [
        "-sub.s32 %b32_3, %b32_0, %b32_2",
        "+sub.s32 %b32_3, %b32_2, %b32_0",
    ]


def test_functions_are_paired_by_name_then_by_key() -> None:
    def text(*names: str) -> str:
        bodies = [f".visible .entry {name}() {{ trap; ret; }}" for name in names]
        return ".version 8.0\n.target sm_80\n.address_size 64\n" + "\n".join(bodies) + "\n"

    def statuses(one: str, two: str) -> list[tuple[str, str, str | None]]:
        found = compare(parse(one), parse(two)).functions
        return [(f.name, f.status, f.new_name) for f in found]

    assert statuses(text("a", "b"), text("b", "c")) == [("a", "renamed", "c"), ("b", "equal", None)]
    assert statuses(text("a", "b"), text("b")) == [("a", "removed", None), ("b", "equal", None)]
    assert statuses(text("a"), text("b", "c")) == [
        ("a", "removed", None),
        ("b", "added", None),
        ("c", "added", None),
    ]
    nested = "_ZN36_GLOBAL__N__751d8aa3_4_a_cu_44e94ac45otherEPi"
    moved = "_ZN36_GLOBAL__N__11111111_4_b_cu_222222225otherEPi"
    assert statuses(text(nested), text(moved)) == [(nested, "equal", moved)]
