"""Small kernels, and the patterns of what they store."""

from __future__ import annotations

from ptxlint.analysis.facts import Facts
from ptxlint.analysis.values.pattern import Pattern
from ptxlint.analysis.values.patterns import Patterns, patterns
from ptxlint.engine.options import Options
from ptxlint.ptx import parse
from ptxlint.ptx.ir import Address

_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n, .param .u32 m)%s
{
  .reg .b16 %%h<10>;
  .reg .b32 %%r<40>;
  .reg .b64 %%rd<20>;
  .reg .pred %%p<10>;
  .shared .align 16 .b8 tile[4096];
  ld.param.u64 %%rd1, [p];
  ld.param.u32 %%r1, [n];
  ld.param.u32 %%r2, [m];
  mov.u32 %%r3, %%tid.x;
  mov.u32 %%r4, %%ctaid.x;
  mov.u32 %%r5, %%ntid.x;
%s
}
"""


class Kernel:
    """A kernel of that body (without ``ret``). ``%r1``, ``%r2`` are n and m, ``%r3`` is tid.x,
    ``%r4`` ctaid.x, ``%r5`` ntid.x, ``%rd1`` the pointer p.
    """

    def __init__(
        self,
        body: str,
        block: str | None = "64",
        directives: str = "",
        of: object = patterns,
    ) -> None:
        module = parse(_HEAD % (directives, body + "\n  ret;"))
        assert module.parsed == "full" and not module.name_problems
        self.function = module.functions[0]
        self.facts = Facts(module, Options.of(block=block))
        self.patterns: Patterns = of(self.function, self.facts)  # type: ignore[operator]

    def operand(self, text: str, place: int = -1) -> Pattern | None:
        """The pattern of the register of that name as the last instruction that names it (or the
        ``place``-th) reads it.
        """
        readers = [
            (index, operand)
            for index, instruction in enumerate(self.function.instructions)
            for operand in instruction.operands[1:]
            if getattr(operand, "name", None) == text
        ]
        index, operand = readers[place]
        return self.patterns.at(index, operand)

    def address(self, place: int = -1) -> Pattern | None:
        """The pattern of the address of the last store (or of the ``place``-th)."""
        stores = [
            (index, operand)
            for index, instruction in enumerate(self.function.instructions)
            if instruction.opcode.mnemonic == "st"
            for operand in instruction.operands
            if isinstance(operand, Address)
        ]
        return self.patterns.address(*stores[place])

    def index(self, mnemonic: str, place: int = -1) -> int:
        """The index of an instruction of that mnemonic."""
        return [
            i
            for i, each in enumerate(self.function.instructions)
            if each.opcode.mnemonic == mnemonic
        ][place]


def steps(pattern: Pattern | None, count: int = 64) -> list[int]:
    """How the first threads differ from thread 0; the pattern must be known, without strides."""
    assert pattern is not None and not pattern.lanes
    return [0] * count if pattern.vector is None else list(pattern.vector.values[:count])


def exact(pattern: Pattern | None, count: int = 64) -> list[int]:
    """The values of the first threads; nothing in them may be symbolic."""
    assert pattern is not None and pattern.is_exact
    return [pattern.const + step for step in steps(pattern, count)]
