"""Kernels of random small graphs, and walks through them."""

from __future__ import annotations

import random

from ptxlint import parse
from ptxlint.analysis.facts import Facts
from ptxlint.analysis.flow.graph import ControlFlow, control_flow
from ptxlint.engine.options import Options
from ptxlint.ptx.ir import Function

_HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k() {
  .reg .b32 %r<5>; .reg .pred %p<3>;
"""


def kernel(seed: int) -> tuple[Function, Facts]:
    """Two to twelve blocks with any edges: loops with several ways in, blocks that nothing reaches,
    loops without a way out, guarded writes and exits.
    """
    draw = random.Random(seed)
    count = draw.randint(2, 12)
    lines = []
    for number in range(count):
        lines.append(f"B{number}:")
        for _ in range(draw.randint(0, 5)):
            guard = f"@%p{draw.randrange(3)} " if draw.random() < 0.4 else ""
            a, b, c = (draw.randrange(5) for _ in range(3))
            made = (
                f"add.u32 %r{a}, %r{b}, %r{c};",
                f"mov.u32 %r{a}, {b};",
                f"setp.eq.u32 %p{a % 3}, %r{b}, {c};",
            )
            lines.append(guard + draw.choice(made))
        lines.append(_end(draw, count))
    module = parse(_HEAD + "\n".join([*lines, "ret;"]) + "\n}\n")
    assert module.parsed == "full"
    return module.functions[0], Facts(module, Options())


def _end(draw: random.Random, count: int) -> str:
    target = draw.randrange(count)
    guard = f"@%p{draw.randrange(3)} "
    ends = (
        f"{guard}bra B{target};",
        f"bra B{target};",
        f"{guard}ret;",
        "ret;",
        "add.u32 %r0, %r1, 2;",
    )
    return draw.choices(ends, (10, 2, 1, 1, 3))[0]


def reach(flow: ControlFlow, start: int, without: int = -1) -> set[int]:
    """The blocks on ways from a block that avoid another."""
    seen, stack = set[int](), [start] if start != without else []
    while stack:
        block = stack.pop()
        if block not in seen:
            seen.add(block)
            stack += [s for s in flow.blocks[block].successors if s != without]
    return seen


def walk(flow: ControlFlow, draw: random.Random, steps: int = 30) -> list[int]:
    """Blocks that a thread may pass, from the entry on."""
    path = [0]
    while len(path) < steps:
        onward = flow.blocks[path[-1]].successors
        if not onward:
            break
        path.append(draw.choice(onward))
    return path


def graph(seed: int) -> tuple[Function, Facts, ControlFlow]:
    """A random kernel with its graph."""
    function, facts = kernel(seed)
    return function, facts, facts.once(function, control_flow)
