"""The masks of undefined bits against the interpreter, which runs the same statements."""

from __future__ import annotations

from random import Random

import pytest

from ptxlint.analysis.dataflow.spread import Spread
from ptxlint.analysis.facts import Facts
from ptxlint.analysis.flow.ssa import ENTRY, values
from ptxlint.engine.options import Options
from ptxlint.execute import Buffer, Launch, run
from ptxlint.ptx.ir import Module
from ptxlint.ptx.parser import parse

# Templates: {a} is made of undefined bits, {d} the result, {k} a constant, {n} a small one.
TEMPLATES = [
    "and.b32 {d}, {a}, {k};",
    "or.b32 {d}, {k}, {a};",
    "xor.b32 {d}, {a}, {k};",
    "not.b32 {d}, {a};",
    "shl.b32 {d}, {a}, {n};",
    "shr.u32 {d}, {a}, {n};",
    "shr.s32 {d}, {a}, {n};",
    "bfe.u32 {d}, {a}, {n}, 7;",
    "bfi.b32 {d}, {a}, {k}, {n}, 9;",
    "bfi.b32 {d}, {k}, {a}, {n}, 9;",
    "prmt.b32 {d}, {a}, {k}, {m};",
    "prmt.b32 {d}, {k}, {a}, {m};",
    "shf.l.wrap.b32 {d}, {a}, {k}, {n};",
    "shf.r.wrap.b32 {d}, {a}, {k}, {n};",
    "lop3.b32 {d}, {a}, {k}, {k}, {t};",
    "lop3.b32 {d}, {k}, {a}, {k}, {t};",
    "lop3.b32 {d}, {k}, {k}, {a}, {t};",
    "add.s32 {d}, {a}, {k};",
    "sub.s32 {d}, {k}, {a};",
    "cvt.s32.s8 {d}, {a};",
    "cvt.u32.u16 {d}, {a};",
    "mov.b64 %rd1, {{{a}, {k}}}; shr.u64 %rd2, %rd1, {n}; cvt.u32.u64 {d}, %rd2;",
    "mov.b64 %rd1, {{{k}, {a}}}; mov.b64 {{_, {d}}}, %rd1;",
    "mov.b32 {{%rs1, %rs2}}, {a}; mov.b32 {d}, {{%rs2, %rs1}};",
]


def statements(random: Random, length: int) -> str:
    lines = []
    for i in range(length):
        template = random.choice(TEMPLATES)
        constant = hex(random.choice([0, 0xFF, 0xFFFF0000, random.getrandbits(32)]))
        line = template.format(
            a=f"%r{i + 1}",
            d=f"%r{i + 2}",
            k="%k" if "{{" in template else constant,
            n=random.randrange(33),
            m=hex(random.getrandbits(16)),
            t=random.getrandbits(8),
        )
        lines.append(f"mov.b32 %k, {constant}; {line}")
    return "\n".join(lines)


def module_of(body: str, length: int) -> Module:
    text = (
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n"
        f"{{ .reg .b16 %rs<3>; .reg .b32 %r<{length + 2}>; .reg .b32 %k; .reg .b64 %rd<4>;\n"
        f"ld.param.u64 %rd3, [out];\n{body}\nst.global.b32 [%rd3], %r{length + 1};\nret; }}\n"
    )
    module = parse(text)
    assert not module.syntax_problems and not module.name_problems, text
    return module


def claimed(module: Module, register: str) -> int:
    """The undefined bits that the analysis sees in what is stored."""
    (function,) = module.functions
    facts = Facts(module, Options())
    known = facts.once(function, values)
    stored = next(i for i, s in enumerate(function.instructions) if s.opcode.mnemonic == "st")
    number = next(n for r, n in known.use.numbers.items() if r.name == register)
    value = known.read(stored, number)
    assert value is not None
    entries = [v.index for v in known.all if v.kind == ENTRY]
    return sum(Spread(function, facts, [root]).masks.get(value, 0) for root in entries)


@pytest.mark.parametrize("seed", range(20))
def test_undefined_bits_are_those_that_the_interpreter_has(seed: int) -> None:
    random = Random(seed)
    some = 0
    for _ in range(20):
        length = random.randrange(1, 4)
        module = module_of(statements(random, length), length)
        launch = Launch(block=(1, 1, 1), parameters={"out": Buffer(4, bytes(4))})
        result = run(module, module.functions[0], launch)
        assert result.status == "done" and not result.unsupported
        ours = claimed(module, f"%r{length + 1}")
        marks = int.from_bytes(result.buffers["out"][1], "little")
        assert ours & ~marks == 0, module.source.text
        some += bool(ours)
    assert some >= 5
