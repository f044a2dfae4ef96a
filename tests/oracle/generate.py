"""Random kernels that end: integer arithmetic, guards, branches, loops, shuffles, memory.

The same seed gives the same text. Every value goes into a store at last, so that a wrong one is
seen; loops end because their counters are theirs alone.
"""

from __future__ import annotations

import random

_BINARY = ("add.s32", "sub.s32", "mul.lo.s32", "and.b32", "or.b32", "xor.b32", "min.s32", "max.u32")
_SHIFTS = ("shl.b32", "shr.u32", "shr.s32")
_CONSTANTS = (0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 31, 32, 64, 100, 255, -1, -4, -32, 0x7FFFFFFF)
_COMPARE = ("eq.s32", "ne.s32", "lt.s32", "ge.s32", "lt.u32", "gt.u32")
_HEAD = """.version 8.0
.target sm_80
.address_size 64
"""
_REGISTERS = 12


class _Kernel:
    """One kernel in the making."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.seed = seed
        self.lines: list[str] = []
        self.labels = 0
        self.counters = 0
        self.predicates = 0
        self.budget = self.random.randint(12, 40)

    def text(self) -> str:
        self._prologue()
        self._statements(0)
        self._epilogue()
        body = "\n".join(self.lines)
        return f"""
.visible .entry random_{self.seed}(
    .param .u64 out,
    .param .u64 in,
    .param .u32 n,
    .param .u32 m
)
{{
    .reg .pred %p<{self.predicates + 4}>;
    .reg .b32 %r<{_REGISTERS + 8}>;
    .reg .b32 %c<{self.counters + 1}>;
    .reg .b64 %rd<8>;
    .shared .align 16 .b8 tile_{self.seed}[4096];

{body}
}}
"""

    def _emit(self, line: str) -> None:
        self.lines.append(line if line.endswith(":") else "    " + line)

    def _prologue(self) -> None:
        for line in (
            "ld.param.u64 %rd0, [out];",
            "ld.param.u64 %rd1, [in];",
            "cvta.to.global.u64 %rd0, %rd0;",
            "cvta.to.global.u64 %rd1, %rd1;",
            "mov.u32 %r0, %tid.x;",
            "ld.param.u32 %r1, [n];",
            "ld.param.u32 %r2, [m];",
        ):
            self._emit(line)
        sources = ("%laneid", "%ctaid.x", "%ntid.x", "%tid.y", "3", "-5", "1024")
        for number in range(3, _REGISTERS):
            self._emit(f"mov.u32 %r{number}, {self.random.choice(sources)};")

    def _epilogue(self) -> None:
        self._emit("mul.wide.u32 %rd2, %r0, 16;")
        self._emit("add.s64 %rd3, %rd0, %rd2;")
        for start in range(0, _REGISTERS, 4):
            names = ", ".join(f"%r{start + i}" for i in range(4))
            self._emit(f"st.global.v4.u32 [%rd3+{start * 1024}], {{{names}}};")
        self._emit("ret;")

    def _register(self) -> str:
        """A register that may be written: never %r0, the thread."""
        return f"%r{self.random.randrange(1, _REGISTERS)}"

    def _source(self) -> str:
        if self.random.random() < 0.3:
            return str(self.random.choice(_CONSTANTS))
        return f"%r{self.random.randrange(_REGISTERS)}"

    def _statements(self, depth: int) -> None:
        plain = [self._sum] * 8 + [self._guarded, self._select, self._wide, self._memory]
        plain += [self._carry, self._bits, self._vote]
        if depth == 0:
            plain.append(self._shuffle)
        elif self.random.random() < 0.1:
            plain.append(self._leave)
        nested = [self._branch, self._loop] if depth < 2 else []
        for _ in range(self.random.randint(2, 6) if depth else 100):
            if self.budget <= 0:
                return
            self.budget -= 1
            choice = self.random.randrange(len(plain) + len(nested))
            if choice < len(plain):
                plain[choice]()
            else:
                nested[choice - len(plain)](depth)

    def _sum(self) -> None:
        self._arithmetic("")

    def _arithmetic(self, guard: str) -> None:
        shape = self.random.random()
        target, first = self._register(), f"%r{self.random.randrange(_REGISTERS)}"
        if shape < 0.6:
            self._emit(f"{guard}{self.random.choice(_BINARY)} {target}, {first}, {self._source()};")
        elif shape < 0.75:
            amount = self.random.randint(0, 8)
            self._emit(f"{guard}{self.random.choice(_SHIFTS)} {target}, {first}, {amount};")
        elif shape < 0.85:
            self._emit(f"{guard}mad.lo.s32 {target}, {first}, {self._source()}, {self._source()};")
        elif shape < 0.93:
            place, width = self.random.randint(0, 6), self.random.randint(1, 8)
            kind = self.random.choice(("u32", "s32"))
            self._emit(f"{guard}bfe.{kind} {target}, {first}, {place}, {width};")
        else:
            kind = self.random.choice(("div.u32", "rem.u32", "div.s32", "rem.s32"))
            divisor = self.random.choice((3, 4, 8, 10, 32))
            self._emit(f"{guard}{kind} {target}, {first}, {divisor};")

    def _predicate(self) -> str:
        self.predicates += 1
        name = f"%p{self.predicates}"
        first = f"%r{self.random.choice((0, 0, self.random.randrange(_REGISTERS)))}"
        self._emit(f"setp.{self.random.choice(_COMPARE)} {name}, {first}, {self._source()};")
        return name

    def _guarded(self) -> None:
        sign = self.random.choice(("", "!"))
        self._arithmetic(f"@{sign}{self._predicate()} ")

    def _select(self) -> None:
        name = self._predicate()
        self._emit(f"selp.b32 {self._register()}, {self._source()}, {self._source()}, {name};")

    def _wide(self) -> None:
        """Through 64 bits and back."""
        sign = self.random.choice("su")
        first = f"%r{self.random.randrange(_REGISTERS)}"
        self._emit(f"cvt.{sign}64.{sign}32 %rd4, {first};")
        self._emit(f"shl.b64 %rd4, %rd4, {self.random.randint(0, 6)};")
        self._emit(f"shr.{sign}64 %rd5, %rd4, {self.random.randint(0, 6)};")
        self._emit(f"cvt.u32.u64 {self._register()}, %rd5;")

    def _memory(self) -> None:
        """A store and a load at places inside the buffers, whatever the index holds."""
        index = f"%r{self.random.randrange(_REGISTERS)}"
        space = self.random.choice(("global", "shared", "input"))
        if space == "shared":
            self._emit(f"and.b32 %r13, {index}, 0x3fc;")
            self._emit(f"mov.u32 %r14, tile_{self.seed};")
            self._emit("add.u32 %r15, %r13, %r14;")
            self._emit(f"st.shared.b32 [%r15], {self._source()};")
            self._emit("membar.cta;")
            self._emit(f"ld.shared.b32 {self._register()}, [%r15];")
            return
        self._emit(f"and.b32 %r13, {index}, 0x3f;")
        self._emit("mul.wide.u32 %rd6, %r13, 4;")
        self._emit(f"add.s64 %rd7, %rd{0 if space == 'global' else 1}, %rd6;")
        if space == "global":
            self._emit(f"st.global.b32 [%rd7], {self._source()};")
        else:
            self._emit(f"ld.global.b32 {self._register()}, [%rd7];")

    def _shuffle(self) -> None:
        mode, clamp = self.random.choice((("bfly", 31), ("idx", 31), ("down", 31), ("up", 0)))
        lane = self.random.choice((0, 1, 2, 4, 16))
        first = f"%r{self.random.randrange(_REGISTERS)}"
        # A partial warp has no lane of its own for every bit of the mask.
        self._emit("activemask.b32 %r16;")
        self._emit(f"shfl.sync.{mode}.b32 {self._register()}, {first}, {lane}, {clamp}, %r16;")

    def _carry(self) -> None:
        first, second = (f"%r{self.random.randrange(_REGISTERS)}" for _ in range(2))
        kind = self.random.choice(("add", "sub"))
        self._emit(f"{kind}.cc.u32 {self._register()}, {first}, {self._source()};")
        self._emit(f"{kind}c.u32 {self._register()}, {second}, {self._source()};")

    def _bits(self) -> None:
        first, second = (f"%r{self.random.randrange(_REGISTERS)}" for _ in range(2))
        line = self.random.choice(
            (
                f"lop3.b32 {{}}, {first}, {second}, %r0, {self.random.randrange(256)};",
                f"prmt.b32 {{}}, {first}, {second}, {self.random.randrange(1 << 16)};",
                f"mul.hi.u32 {{}}, {first}, {self._source()};",
                f"shf.l.wrap.b32 {{}}, {first}, {second}, {self.random.randrange(32)};",
                f"bfi.b32 {{}}, {first}, {second}, 4, 5;",
                f"popc.b32 {{}}, {first};",
                f"clz.b32 {{}}, {first};",
            )
        )
        self._emit(line.format(self._register()))

    def _vote(self) -> None:
        """Lanes that are here together vote, or those of them whose values are equal."""
        first = f"%r{self.random.randrange(_REGISTERS)}"
        name = self._predicate()
        self._emit("activemask.b32 %r16;")
        if self.random.random() < 0.4:
            self._emit(f"match.any.sync.b32 %r16, {first}, %r16;")
        if self.random.random() < 0.5:
            self._emit(f"vote.sync.ballot.b32 {self._register()}, {name}, %r16;")
        else:
            self._emit(f"redux.sync.add.s32 {self._register()}, {self._source()}, %r16;")

    def _leave(self) -> None:
        self._emit(f"@{self._predicate()} exit;")

    def _branch(self, depth: int) -> None:
        name, number = self._predicate(), self._label()
        self._emit(f"@{name} bra else_{number};")
        self._statements(depth + 1)
        if self.random.random() < 0.5:
            crossing = self.random.random() < 0.3
            if crossing:
                self._emit(f"@{self._predicate()} bra middle_{number};")
                self._statements(depth + 1)
            self._emit(f"bra join_{number};")
            self._emit(f"else_{number}:")
            self._statements(depth + 1)
            if crossing:
                self._emit(f"middle_{number}:")
                self._statements(depth + 1)
            self._emit(f"join_{number}:")
        else:
            self._emit(f"else_{number}:")

    def _loop(self, depth: int) -> None:
        """At most eight turns: as many as a constant, a parameter's or a lane's low bits say."""
        number, counter, limit = self._label(), self.counters, self.counters + 1
        self.counters += 2
        bound = self.random.choice(("4", "6", "%r1", "%r0", "%r0"))
        if bound.startswith("%"):
            self._emit(f"and.b32 %c{limit}, {bound}, 7;")
        else:
            self._emit(f"mov.u32 %c{limit}, {bound};")
        self._emit(f"mov.u32 %c{counter}, 0;")
        self._emit(f"turn_{number}:")
        self._statements(depth + 1)
        breaks = self.random.random() < 0.3
        if breaks:
            self._emit(f"@{self._predicate()} bra out_{number};")
            self._statements(depth + 1)
        self._emit(f"add.u32 %c{counter}, %c{counter}, {self.random.choice((1, 1, 2))};")
        self.predicates += 1
        self._emit(f"setp.lt.u32 %p{self.predicates}, %c{counter}, %c{limit};")
        self._emit(f"@%p{self.predicates} bra turn_{number};")
        if breaks:
            self._emit(f"mov.u32 {self._register()}, 7;")
            self._emit(f"bra after_{number};")
            self._emit(f"out_{number}:")
            self._sum()
            self._emit(f"add.s32 {self._register()}, {self._source()}, %c{counter};")
            self._emit(f"after_{number}:")
        if self.random.random() < 0.6:
            self._emit(f"mov.u32 {self._register()}, %c{counter};")

    def _label(self) -> int:
        self.labels += 1
        return self.labels


def module(seed: int, kernels: int = 8) -> str:
    """The text of a module of random kernels, named after ``seed`` and those that follow it."""
    return _HEAD + "".join(_Kernel(seed + i).text() for i in range(kernels))
