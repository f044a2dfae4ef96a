"""The condensed form: which instructions are in it and what comes next to what."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxlint.analysis.dependence.ordering import Ordering, ordering
from ptxlint.analysis.dependence.polling import polling_branches
from ptxlint.analysis.flow.graph import ControlFlow, control_flow

from ..memory.snippets import CORPUS, ROOT, corpus, kernel

BODY = """ld.param.u64 %rd1, [a];
mov.u32 %r1, %tid.x;
st.global.u32 [%rd1], %r1;
@%p1 bra M;
L: ld.volatile.global.u32 %r2, [%rd1+4];
setp.eq.u32 %p2, %r2, 0;
@%p2 bra L;
M: membar.gl;
st.local.u32 [stack], %r1;
@%p3 ret;
ld.global.u32 %r3, [%rd1+8];"""


def test_nodes_and_successors() -> None:
    function, facts = kernel(BODY)
    form = facts.once(function, ordering)
    assert [node.index for node in form.nodes] == [2, 4, 6, 7, 10]
    ways = {form.nodes[s].index for s in form.nodes[0].successors}
    assert ways == {4, 7}
    assert [[form.nodes[s].index for s in n.successors] for n in form.nodes[1:]] == [
        [6],
        [4, 7],
        [10],
        [],
    ]
    assert [form.nodes[p].index for p in form.nodes[3].predecessors] == [2, 6]
    assert [form.nodes[i].index for i in form.first] == [2]
    assert [form.nodes[i].index for i in form.last] == [7, 10]
    assert form.nodes[2].polls == (4,)
    barrier = form.nodes[3].barrier
    assert barrier is not None and (barrier.kind, barrier.at) == ("fence", 7)
    assert form.at[4].accesses[0].order == "volatile"
    assert set(form.onward(0, {form.at[7].number})) == {1, 2, 3}


def test_nothing_to_order() -> None:
    function, facts = kernel("ld.param.u64 %rd1, [a];\nadd.s64 %rd2, %rd1, 1;")
    assert facts.once(function, ordering).nodes == []


POLLS = {
    "a flag": ("L: ld.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;", {2: (0,)}),
    "an mbarrier": ("L: mbarrier.try_wait.shared.b64 %p1, [bar], %rd2;\n@!%p1 bra L;", {1: (0,)}),
    "two steps": (
        "L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nadd.u32 %r2, %r1, 1;\n"
        "setp.ne.u32 %p1, %r2, 1;\n@%p1 bra L;",
        {3: (0,)},
    ),
    "a value from before": (
        "ld.global.u32 %r1, [%rd1];\nL: add.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 9;\n"
        "@%p1 bra L;",
        {},
    ),
    "no loop": ("ld.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nL:", {}),
    "its own memory": ("L: ld.local.u32 %r1, [stack];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;", {}),
}


@pytest.mark.parametrize("name", POLLS)
def test_polling(name: str) -> None:
    body, wanted = POLLS[name]
    function, facts = kernel(body)
    assert facts.once(function, polling_branches) == wanted


@pytest.mark.parametrize("path", CORPUS, ids=lambda p: str(p.relative_to(ROOT / "corpus")))
def test_successors_are_next_on_some_path(path: Path) -> None:
    functions, facts = corpus(path)
    for function in functions:
        form = facts.once(function, ordering)
        flow = facts.once(function, control_flow)
        for node in form.nodes:
            after = {form.nodes[s].index for s in node.successors}
            assert after == following(flow, form, node.index)
            assert all(node.number in form.nodes[s].predecessors for s in node.successors)


def following(flow: ControlFlow, form: Ordering, index: int) -> set[int]:
    """The nodes next to an instruction, by walking instruction by instruction."""
    found, seen = set[int](), set[int]()
    stack = onward(flow, index)
    while stack:
        each = stack.pop()
        if each in form.at:
            found.add(each)
        elif each not in seen:
            seen.add(each)
            stack += onward(flow, each)
    return found


def onward(flow: ControlFlow, index: int) -> list[int]:
    block = flow.blocks[flow.block_of[index]]
    if index + 1 < block.stop:
        return [index + 1]
    return [flow.blocks[s].start for s in block.successors]
