"""Addresses in words mean what their patterns say, for every thread."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxlint.analysis.facts import Facts
from ptxlint.analysis.launch import LaunchShape
from ptxlint.analysis.memory.lane_words import lane_words, variables
from ptxlint.analysis.memory.view import view
from ptxlint.analysis.memory.words import Naming
from ptxlint.analysis.values.pattern import Pattern
from ptxlint.analysis.values.patterns import patterns
from ptxlint.analysis.values.symbols import Symbol
from ptxlint.analysis.values.threads import ThreadSpace, thread_space
from ptxlint.engine.options import Options
from ptxlint.ptx import parse

from ..values.kernels import Kernel
from .snippets import CORPUS

BLOCKS = [(32, 1, 1), (256, 1, 1), (96, 1, 1), (16, 16, 1), (32, 4, 2), (24, 4, 1), (1, 1, 1)]


def space_of(block: tuple[int, int, int]) -> ThreadSpace:
    x, y, z = block
    shape = LaunchShape(block, "--block", x * y * z, frozenset())
    return ThreadSpace(x * y * z, True, True, shape, {})


def coordinates(space: ThreadSpace, thread: int) -> dict[str, int]:
    """What a thread has in the variables that words are written in."""
    if not space.whole:
        return {"laneid": thread}
    x, y, _ = space.shape.block or (space.size, 1, 1)
    return {"tid.x": thread % x, "tid.y": thread // x % y, "tid.z": thread // (x * y)}


def meaning(text: str, names: dict[str, int], table: int = 0) -> int:
    """A text in words as the number that it stands for."""
    known = {**names, "table(tid)": table, "table(laneid)": table}
    # The longest first: `n` is in `ntid.x`.
    pattern = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    whole = rf"(?<![\w.%])(?:{pattern})(?![\w.\[#@])"
    code = re.sub(whole, lambda match: f"({known[match[0]]})", text).replace("/", "//")
    assert re.fullmatch(r"[-+*/%&^>()\d\s]+", code), (text, code)
    return int(eval(code, {"__builtins__": {}}))


@st.composite
def vectors(draw: st.DrawFn) -> tuple[tuple[int, int, int], list[int], int]:
    """(block, values by thread, a constant): fields of bits, added or swizzled, or anything."""
    block = draw(st.sampled_from(BLOCKS))
    space = space_of(block)
    count = draw(st.integers(1, 4))
    number = st.integers(0, 9)
    fields = [
        (draw(st.sampled_from("xyz")), draw(number), draw(st.integers(1, 4)), draw(number))
        for _ in range(count)
    ]
    swizzled, sign = draw(st.booleans()), draw(st.sampled_from([1, 1, 4, -4, 24]))
    const = draw(st.sampled_from([0, 16, 96, 1000]))
    row = draw(st.sampled_from([1, 1, 3, 24]))
    values = []
    for thread in range(space.size):
        where = coordinates(space, thread // row)
        total = const if swizzled else 0
        for axis, shift, bits, up in fields:
            part = (where[f"tid.{axis}"] >> shift & ((1 << bits) - 1)) << up
            total = total ^ part if swizzled else total + sign * part
        values.append(total + (thread % row if row > 1 else 0))
    return block, [value - values[0] for value in values], const


@given(vectors())
@settings(max_examples=300, deadline=None)
def test_lanes_in_words_are_exact(
    drawn: tuple[tuple[int, int, int], list[int], int],
) -> None:
    block, values, const = drawn
    space = space_of(block)
    found = lane_words(values, const, variables(space))
    if found is None:
        return
    for thread, value in enumerate(values):
        assert meaning(found.text, coordinates(space, thread)) == value + found.const, found


@pytest.mark.parametrize(
    ("block", "formula", "words"),
    [
        ((256, 1, 1), "4*x", "4*tid.x"),
        ((256, 1, 1), "-4*x", "-4*tid.x"),
        ((256, 1, 1), "x//8*128 + x%8*16 - 0", "16*tid.x"),
        ((256, 1, 1), "x//8*144 + x%8*16", "144*(tid.x>>3) + 16*(tid.x&7)"),
        ((256, 1, 1), "(x//4%2)*64", "64*(tid.x>>2&1)"),
        ((256, 1, 1), "(x*16) ^ (x//8%8*16)", "(16*tid.x ^ 16*(tid.x>>3&7))"),
        ((256, 1, 1), "((x*4) ^ 20) - 20", "(4*tid.x ^ 20)"),
        ((96, 1, 1), "x//24*100 + x%24*4", "100*(tid.x/24) + 4*(tid.x%24)"),
        ((96, 1, 1), "x%3*4", "4*(tid.x%3)"),
        ((96, 1, 1), "x//3*8", "8*(tid.x/3)"),
        ((32, 8, 1), "132*y + 4*x", "132*tid.y + 4*tid.x"),
        ((24, 4, 1), "(24*y + x)//8*4", "12*tid.y + 4*(tid.x>>3)"),
        ((20, 4, 1), "(20*y + x)//8*4", "4*((tid.x + 20*tid.y)>>3)"),
        ((64, 1, 1), "(x*x) % 7", None),
    ],
)
def test_lanes_in_words(block: tuple[int, int, int], formula: str, words: str | None) -> None:
    space = space_of(block)
    threads = [t for t in range(space.size)]
    values = [eval(formula, {"x": t % block[0], "y": t // block[0]}) for t in threads]
    found = lane_words([v - values[0] for v in values], 512 + 20, variables(space))
    assert (None if found is None else found.text) == words


class Meant:
    """Numbers for the symbols of a kernel, and what its patterns come to with them."""

    def __init__(self, naming: Naming, space: ThreadSpace, seed: int) -> None:
        self.naming = naming
        self.space = space
        self.seed = random.Random(seed)
        self.numbers: dict[Symbol, int] = {}
        self.row: Symbol | None = None  # what the warp has in tid.x, over 32

    def names(self, thread: int) -> dict[str, int]:
        """What the names in words stand for."""
        found = {name: self.of(symbol) for name, symbol in self.naming.symbols.items()}
        found.update(coordinates(self.space, thread))
        if self.row is not None and not self.space.whole:
            found["tid.x"] = 32 * self.of(self.row) + thread
        return found

    def of(self, symbol: Symbol) -> int:
        """The number of a symbol; of one that is derived and has no name, what it comes to."""
        if symbol not in self.numbers:
            self.numbers[symbol] = self._new(symbol)
        return self.numbers[symbol]

    def _new(self, symbol: Symbol) -> int:
        named = self.naming.symbols.values()
        if symbol.kind != "derived" or any(symbol is each for each in named):
            return self.seed.randrange(1000)
        assert isinstance(symbol.origin, tuple)
        what, operands = symbol.origin[0], symbol.origin[1]
        if isinstance(operands, Symbol):
            return self.of(operands)
        numbers = [self.at(operand, 0) for operand in operands]
        name = what[0] if isinstance(what, tuple) else what
        if name == "mul":
            return numbers[0] * numbers[1]
        if name == "shr":
            return numbers[0] >> int(what[1])
        assert name in ("sum", "widen")
        return numbers[0]

    def at(self, pattern: Pattern, thread: int) -> int:
        """What a pattern comes to for a thread, not yet modulo 2^width."""
        total = pattern.const + (0 if pattern.vector is None else pattern.vector.values[thread])
        total += sum(factor * self.of(symbol) for symbol, factor in pattern.terms)
        return total + sum(self.of(s) * steps.values[thread] for s, steps in pattern.lanes)


def check(naming: Naming, space: ThreadSpace, found: Sequence[tuple[str, Pattern]]) -> None:
    """Texts against patterns, for every thread."""
    meant = Meant(naming, space, len(found))
    for text, pattern in found:
        meant.row = next((s for s, _ in pattern.terms if s.origin == "%tid.x"), meant.row)
        for thread in range(0, space.size, 1 if space.size <= 64 else 7):
            values = () if pattern.vector is None else pattern.vector.values
            table = values[thread] if values else 0
            if text.count("table(") > 1 or "*table(" in text:
                continue
            modulus = 1 << pattern.width
            said = meaning(text, meant.names(thread), table)
            assert (said - meant.at(pattern, thread)) % modulus == 0, (text, pattern, thread)


@pytest.mark.parametrize("block", [None, "64", "16,8"])
@pytest.mark.parametrize(
    "path", [p for p in CORPUS if p.parent.name == "sm_80"], ids=lambda p: p.stem
)
def test_addresses_of_the_corpus(path: Path, block: str | None) -> None:
    module = parse(path.read_text(), str(path))
    facts = Facts(module, Options.of(block=block))
    for kernel in module.kernels:
        naming = Naming(kernel, facts)
        known = facts.once(kernel, patterns)
        pairs = [
            (naming.words(pattern).text, pattern)
            for row in view(kernel, facts).rows
            if (pattern := row.access.pattern) is not None
        ]
        check(naming, known.space, dict.fromkeys(pairs).keys())  # type: ignore[arg-type]
        assert facts.once(kernel, thread_space) is known.space


def said(body: str, block: str | None = "64") -> tuple[str, dict[str, str]]:
    """The address of the last store of a kernel in words, and what its names mean."""
    kernel = Kernel(body, block)
    naming = Naming(kernel.function, kernel.facts)
    pattern = kernel.address()
    assert pattern is not None
    words = naming.words(pattern).text
    check(naming, kernel.patterns.space, [(words, pattern)])
    return words, naming.legend


def test_rows_of_a_stride() -> None:
    words, _ = said("""
  shr.u32 %r6, %r3, 3; mul.lo.s32 %r7, %r6, %r1; and.b32 %r8, %r3, 7;
  add.s32 %r9, %r7, %r8; mul.wide.s32 %rd2, %r9, 4; add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3+8], %r1;""")
    assert words == "p + 4*(tid.x&7) + 4*n*(tid.x>>3) + 8"


def test_two_dimensions_without_a_shape() -> None:
    body = """
  mov.u32 %r6, %tid.y; mad.lo.s32 %r7, %r6, 64, %r3; mul.wide.u32 %rd2, %r7, 4;
  add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;"""
    assert said(body, None)[0] == "p + 4*tid.x + 256*tid.y"
    assert said(body, "16,4")[0] == "p + 256*tid.y + 4*tid.x"
    words, _ = said(
        body.replace("%r7, %r6, 64, %r3", "%r7, %r6, 64, %r8").replace(
            "mov.u32 %r6", "mov.u32 %r9, 5; shr.u32 %r8, %r3, 2; mov.u32 %r6"
        ),
        None,
    )
    assert words == "p + 4*(laneid>>2) + 32*(tid.x>>5) + 256*tid.y"


def test_loops_and_results_are_explained() -> None:
    words, legend = said("""
  mov.u32 %r6, 0; ld.global.u32 %r10, [%rd1];
L: add.u32 %r7, %r6, %r3; add.u32 %r7, %r7, %r10; mul.wide.u32 %rd2, %r7, 4;
  add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;
  add.u32 %r6, %r6, 64; setp.lt.u32 %p1, %r6, %r1; @%p1 bra L;""")
    assert words == "p + 4*tid.x + 4*%r10@18 + 4*%r6.loop"
    assert legend == {
        "%r10@18": "what `ld.global.u32` gave %r10, the same in all lanes",
        "%r6.loop": "what all lanes share of %r6 in the loop at line 19",
    }


def test_products_are_written_out_and_the_rest_named() -> None:
    words, legend = said("""
  mul.lo.s32 %r6, %r4, %r1; shl.b32 %r7, %r6, 5; and.b32 %r8, %r2, 96; add.s32 %r9, %r7, %r8;
  mul.wide.s32 %rd2, %r9, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;""")
    assert words == "p + 4*u1 + 128*n*ctaid.x"
    assert legend == {"u1": "and(m, 96)"}


def test_a_table_of_offsets() -> None:
    kernel = Kernel("""
  mul.lo.u32 %r6, %r3, %r3; rem.u32 %r7, %r6, 7; mul.wide.u32 %rd2, %r7, 4;
  add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3+4], %r1;""")
    pattern = kernel.address()
    assert pattern is not None
    words = Naming(kernel.function, kernel.facts).words(pattern)
    assert words == ("p + table(tid) + 4", True)


def test_a_swizzle_takes_up_its_constant() -> None:
    words, _ = said("""
  shl.b32 %r6, %r3, 4; xor.b32 %r7, %r6, 32; mov.u32 %r8, tile; add.s32 %r9, %r8, %r7;
  st.shared.u32 [%r9+1024], %r1;""")
    assert words == "tile + (16*tid.x ^ 32) + 1024"


def test_lanes_and_warps_with_strides_of_their_own() -> None:
    words, _ = said(
        """
  mov.u32 %r6, %tid.y; and.b32 %r7, %r3, 31; shr.u32 %r8, %r3, 5;
  mad.lo.u32 %r9, %r8, 64, %r7; add.u32 %r9, %r9, %r6; mul.wide.u32 %rd2, %r9, 4;
  add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r1;""",
        None,
    )
    assert words == "p + 4*laneid + 256*(tid.x>>5) + 4*tid.y"
