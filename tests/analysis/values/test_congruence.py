"""Residues: of instructions on random numbers, against the interpreter; of addresses, by hand."""

from __future__ import annotations

import random

import pytest

from ptxlint.analysis.facts import Facts
from ptxlint.analysis.flow.ssa import values
from ptxlint.analysis.values.congruence import Congruent, congruence, congruence_if
from ptxlint.analysis.values.congruence_numbers import EXACT, Numbers, State, mask
from ptxlint.analysis.values.congruence_transfer import transfer_of, types_of
from ptxlint.engine.options import Options
from ptxlint.ptx import parse
from ptxlint.ptx.ir import Address

HEAD = """.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry k(.param .u64 p, .param .u64 .ptr .global .align 16 q, .param .u32 n)%s
{
  .reg .b16 %%h<8>;
  .reg .b32 %%r<16>;
  .reg .b64 %%rd<16>;
  .reg .pred %%p<4>;
  .shared .align 32 .b8 tile[4096];
  ld.param.u32 %%r15, [n];
  mov.u32 %%r14, %%tid.x;
  ld.param.u64 %%rd15, [p];
  cvta.to.global.u64 %%rd14, %%rd15;
%s
  ret;
}
"""


def address(
    body: str,
    directives: str = "",
    block: str | None = None,
    if_: dict[str, int] | None = None,
) -> Congruent:
    """What is known of the last address; ``%r14`` is tid.x, ``%r15`` n, ``%rd14`` the pointer p."""
    module = parse(HEAD % (directives, body))
    assert module.parsed == "full" and not module.name_problems
    function = module.functions[0]
    facts = Facts(module, Options.of(block=block))
    known = congruence(function, facts) if if_ is None else congruence_if(function, facts, if_)
    places = [
        (i, operand)
        for i, instruction in enumerate(function.instructions)
        for operand in instruction.operands
        if isinstance(operand, Address)
    ]
    return known.address(*places[-1])


OPCODES = {
    "add.u32": 2, "sub.s32": 2, "neg.s32": 1, "mul.lo.u32": 2, "mul.wide.u32": 2,
    "mul.wide.s32": 2, "mul.hi.u32": 2, "mul.wide.u16": 2, "mad.lo.s32": 3, "mad.wide.s32": 3,
    "shl.b32": 2, "shr.u32": 2, "shr.s32": 2, "and.b32": 2, "or.b32": 2, "xor.b32": 2,
    "not.b32": 1, "lop3.b32": 4, "div.u32": 2, "rem.u32": 2, "rem.s32": 2, "div.s32": 2,
    "min.s32": 2, "max.u32": 2, "cvt.u64.u32": 1, "cvt.s64.s32": 1, "cvt.u32.u64": 1,
    "cvt.s32.s8": 1, "bfe.u32": 3, "bfe.s32": 3, "bfi.b32": 4, "shf.l.wrap.b32": 3,
    "shf.r.clamp.b32": 3, "prmt.b32": 3,
}  # fmt: skip
CONSTANTS = {"lop3.b32": 1, "bfe.u32": 2, "bfe.s32": 2, "bfi.b32": 2, "shf.l.wrap.b32": 1}
CONSTANTS |= {"shf.r.clamp.b32": 1, "prmt.b32": 1, "shl.b32": 1, "shr.u32": 1, "shr.s32": 1}
SMALL = (0, 1, 2, 3, 4, 8, 15, 16, 24, 31)
LANES = 4


def concrete(opcode: str, a: list[int]) -> int:
    """The result, by the PTX ISA, of registers that hold ``a``."""
    name, *rest = opcode.split(".")
    type_ = rest[-1]
    width = {"16": 16, "64": 64}.get(type_[-2:], 8 if type_[-1] == "8" else 32)

    def number(value: int, bits: int = width) -> int:
        value &= mask(bits)
        return value - (1 << bits) if type_[0] == "s" and value >> (bits - 1) else value

    x, y = number(a[0]), number(a[1]) if len(a) > 1 else 0
    if name in ("mul", "mad"):
        product = x * y >> (width if "hi" in rest else 0)
        return product + (a[2] if name == "mad" else 0)
    if name in ("div", "rem"):
        quotient = abs(x) // abs(y) * (-1 if (x < 0) != (y < 0) else 1)
        return quotient if name == "div" else x - quotient * y
    if name == "lop3":
        bits = [a[3] >> (4 * (a[0] >> i & 1) + 2 * (a[1] >> i & 1) + (a[2] >> i & 1)) & 1
                for i in range(32)]  # fmt: skip
        return sum(bit << i for i, bit in enumerate(bits))
    if name == "bfe":
        field = (a[0] & mask(32)) >> a[1] & mask(a[2])
        return field - (1 << a[2]) if type_[0] == "s" and field >> (a[2] - 1) else field
    if name == "bfi":
        field = mask(a[3]) << a[2]
        return (a[0] << a[2] & field) | (a[1] & ~field)
    if name == "shf":
        count = a[2] & 31 if "wrap" in rest else min(a[2], 32)
        both = (a[0] & mask(32)) | (a[1] & mask(32)) << 32
        return both >> (32 - count if rest[0] == "l" else count)
    if name == "prmt":
        both = (a[0] & mask(32)) | (a[1] & mask(32)) << 32
        result = 0
        for place in range(4):
            nibble = a[2] >> 4 * place & 15
            byte = both >> 8 * (nibble & 7) & 0xFF
            result |= (0xFF * (byte >> 7) if nibble & 8 else byte) << 8 * place
        return result
    return {
        "add": x + y, "sub": x - y, "neg": -x, "shl": x << min(a[-1], 64), "shr": x >> a[-1],
        "and": x & y, "or": x | y, "xor": x ^ y, "not": ~x, "min": min(x, y), "max": max(x, y),
        "cvt": x,
    }[name]  # fmt: skip


def some_state(draw: random.Random, numbers: Numbers, width: int) -> State:
    """A residue modulo anything, the same in all threads or not."""
    k = draw.choice((0, 1, 3, 5, 8, width // 2, width - 1, width, width))
    values = [draw.choice((0, 1, 4, 32, -1, -32, draw.getrandbits(width))) for _ in range(LANES)]
    if draw.random() < 0.5:
        values = values[:1] * LANES
    return (k, numbers.residue(tuple([value & mask(k) for value in values])), 0)


@pytest.mark.parametrize("opcode", OPCODES)
def test_every_number_of_the_residue_gives_one_of_the_result(opcode: str) -> None:
    name, *modifiers = opcode.split(".")
    transfer = transfer_of(name, tuple(modifiers))
    assert transfer is not None
    width = types_of(tuple(modifiers)).width
    source = 32 if opcode == "cvt.s32.s8" else width
    draw = random.Random(opcode)
    said = 0
    for _ in range(400):
        numbers = Numbers(LANES)
        states = [some_state(draw, numbers, source) for _ in range(OPCODES[opcode])]
        for i in range(CONSTANTS.get(opcode, 0)):
            value = draw.choice(SMALL) if name not in ("lop3", "prmt") else draw.getrandbits(16)
            states[-1 - i] = (EXACT, max(value, 1) if name == "bfe" else value, 0)
        if name in ("div", "rem"):
            states[1] = (EXACT, 1 << draw.randrange(8), 0)
        if name in ("bfe", "bfi") and sum(s[1] for s in states[-2:]) > 32:  # type: ignore[misc]
            continue
        k, residue, _ = transfer(numbers, tuple(modifiers), tuple(states))
        wide = 2 * width if "wide" in modifiers else width
        if name == "cvt":
            wide = int(modifiers[0][1:])
        k = min(k, wide)
        said += k > 0
        for lane in range(LANES):
            for _ in range(3):
                given = [
                    numbers.values(r)[lane] if bits == EXACT
                    else numbers.values(r)[lane] | draw.getrandbits(64) << bits & mask(source)
                    for bits, r, _ in states
                ]  # fmt: skip
                wanted = concrete(opcode, given) & mask(k)
                assert numbers.values(residue)[lane] & mask(k) == wanted, (states, given)
    assert said > 20  # the rule says something of enough of them


def test_a_clamped_result_is_unknown() -> None:
    assert transfer_of("add", ("sat", "s32")) is None
    assert transfer_of("min", ("relu", "s32")) is None
    assert transfer_of("add", ("f32",)) is None


TID = tuple(range(32))


@pytest.mark.parametrize(
    ("body", "bits", "residues"),
    [
        ("mov.u32 %r1, tile; st.shared.u32 [%r1+12], %r1;", 5, 12),
        ("shl.b32 %r1, %r14, 2; mov.u32 %r2, tile; add.s32 %r3, %r1, %r2;"
         "st.shared.u32 [%r3], %r1;", 5, tuple(4 * t % 32 for t in TID)),
        ("and.b32 %r1, %r14, 3; mul.lo.u32 %r2, %r1, 12; st.shared.u32 [%r2+4], %r1;",
         32, tuple(12 * (t & 3) + 4 for t in TID)),
        # the upper part of tid.x is not known: nor is what a shift brings down
        ("shr.u32 %r1, %r14, 3; st.shared.u32 [%r1], %r1;", 2, tuple(t >> 3 & 3 for t in TID)),
        ("shr.u32 %r1, %r14, 5; st.shared.u32 [%r1], %r1;", 0, 0),
        # 1 or 9, whichever the branch chose
        ("setp.eq.u32 %p1, %r15, 0; mov.u32 %r1, 1; @%p1 bra A; mov.u32 %r1, 9;"
         "A: st.shared.u32 [%r1], %r1;", 3, 1),
        ("mov.u32 %r1, 4; setp.eq.u32 %p1, %r15, 0; @%p1 mov.u32 %r1, 20;"
         "st.shared.u32 [%r1], %r1;", 4, 4),
        # written under one guard, read under the other: never the old value
        ("setp.eq.u32 %p1, %r15, 0; @%p1 mov.u32 %r1, 20; @%p1 st.shared.u32 [%r1], %r15;",
         32, 20),
        ("mov.u32 %r1, 8; L: st.shared.u32 [%r1], %r15; add.u32 %r1, %r1, 48;"
         "setp.lt.u32 %p1, %r1, %r15; @%p1 bra L;", 4, 8),
        # 0xffffffff in lane 0 of every 32, widened without a sign
        ("sub.u32 %r1, %r14, 1; cvt.u64.u32 %rd1, %r1; st.global.u32 [%rd1], %r1;",
         5, tuple((t - 1) % 32 for t in TID)),
        ("shfl.sync.idx.b32 %r1|%p1, %r14, 3, 31, -1; st.shared.u32 [%r1], %r1;", 0, 0),
        ("mov.u32 %r1, 64; shfl.sync.idx.b32 %r1|%p1, %r1, 3, 31, -1; st.shared.u32 [%r1], %r1;",
         32, 64),
        ("mov.b64 %rd1, {%r14, %r15}; st.global.u32 [%rd1], %r1;", 5, TID),
        ("mov.u64 %rd1, 0x500000003; mov.b64 {%r1, %r2}, %rd1; st.shared.u32 [%r2], %r1;", 32, 5),
        ("ld.shared.u32 %r1, [tile]; st.shared.u32 [%r1], %r1;", 0, 0),
    ],
)  # fmt: skip
def test_addresses(body: str, bits: int, residues: int | tuple[int, ...]) -> None:
    assert address(body) == Congruent(bits, residues, ())


def test_a_pointer_is_what_cudamalloc_returns() -> None:
    bits, residue, (text,) = address("st.global.u32 [%rd14+4], %r1;")
    assert (bits, residue) == (8, 4)
    assert text == "pointer parameter `p` is 256-byte aligned, as cudaMalloc returns it"


def test_what_the_declaration_says_counts() -> None:
    body = "ld.param.u64 %rd1, [q]; st.global.u32 [%rd1+4], %r1;"
    bits, residue, (text,) = address(body)
    assert (bits, residue) == (4, 4)
    assert ".ptr .align" in text


def test_a_number_is_no_pointer() -> None:
    body = "mul.lo.u64 %rd1, %rd15, 1; ld.param.u32 %r1, [n]; st.shared.u32 [%r1], %r1;"
    assert address(body).bits == 0


def test_dynamic_shared_memory_is_as_declared() -> None:
    bits, residue, (text,) = address("mov.u32 %r1, dynamic; st.shared.u32 [%r1+4], %r1;")
    assert (bits, residue) == (4, 4)
    assert "`dynamic` is .extern" in text


@pytest.mark.parametrize("residue", [0, 4, 252])
def test_a_hypothesis_takes_the_place_of_the_assumption(residue: int) -> None:
    known = address("st.global.u32 [%rd14+4], %r1;", if_={"p": residue})
    assert known == Congruent(8, (residue + 4) % 256, ())


def test_the_threads_of_a_told_block() -> None:
    body = "shr.u32 %r1, %r14, 5; mul.lo.u32 %r2, %r1, 100; st.shared.u32 [%r2], %r1;"
    known = address(body, ".reqntid 96, 1, 1")
    assert known == Congruent(32, (0,) * 32 + (100,) * 32 + (200,) * 32, ())
    told = "the block is 96x1x1 threads, as --block says"
    assert address(body, block="96").assumptions == (told,)


def test_values_by_number() -> None:
    module = parse(HEAD % ("", "add.u32 %r1, %r14, 64;"))
    function = module.functions[0]
    facts = Facts(module, Options())
    at = next(i for i, each in enumerate(function.instructions) if each.opcode.mnemonic == "add")
    (value,) = facts.once(function, values).writes[at]
    assert facts.once(function, congruence).of(value) == Congruent(5, TID, ())
