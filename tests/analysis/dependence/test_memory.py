"""Memory edges: exact sets on hand-written kernels, and completeness on random ones."""

from __future__ import annotations

import random

import pytest

from ptxlint.analysis.dependence.barriers import barrier_edges
from ptxlint.analysis.dependence.classes import ASSUMED, Classes
from ptxlint.analysis.dependence.memory import alias_classes, memory_edges
from ptxlint.analysis.flow.graph import ControlFlow, control_flow
from ptxlint.analysis.flow.ssa import PHI, Values, values
from ptxlint.analysis.memory.access import Access
from ptxlint.ptx.ir import Function

from ..memory.snippets import kernel

# Two pointers (%rd1 of a, %rd2 of b) and an index, then numbered from 0 again.
START = (
    "ld.param.u64 %rd8, [a];\ncvta.to.global.u64 %rd1, %rd8;\nld.param.u64 %rd9, [b];\n"
    "cvta.to.global.u64 %rd2, %rd9;\nmul.wide.u32 %rd10, %r1, 4;\nadd.s64 %rd3, %rd1, %rd10;\n"
    "ld.u64 %rd4, [%rd1+64];\nmov.u32 %r9, tile;\n"
)
FIRST = START.count("\n")

# body -> its edges, without those from the load of START
CASES = {
    "one place": ("st.global.u32 [%rd1], 1;\nld.global.u32 %r2, [%rd1];", "0>1 RAW proven"),
    "written again": (
        "st.global.u32 [%rd1], 1;\nst.global.u32 [%rd1], 2;\nld.global.u32 %r2, [%rd1];",
        "0>1 WAW proven, 1>2 RAW proven",
    ),
    "read, then written": (
        "ld.global.u32 %r2, [%rd1];\nld.global.u32 %r3, [%rd1];\nst.global.u32 [%rd1], 1;",
        "0>2 WAR proven, 1>2 WAR proven",
    ),
    "side by side": ("st.global.u32 [%rd1], 1;\nld.global.u32 %r2, [%rd1+4];", ""),
    "part of it": ("st.global.u64 [%rd1], %rd1;\nld.global.u32 %r2, [%rd1+4];", "0>1 RAW proven"),
    "an index": ("st.global.u32 [%rd1+4], 1;\nld.global.u32 %r2, [%rd3];", "0>1 RAW may"),
    "the same index": (
        "st.global.u32 [%rd3], 1;\nld.global.u32 %r2, [%rd3+4];\nld.global.u32 %r3, [%rd3];",
        "0>2 RAW proven",
    ),
    "two parameters": (
        "st.global.u32 [%rd1], 1;\nld.global.u32 %r2, [%rd2];",
        "0>1 RAW assumed-distinct",
    ),
    "two parameters, in two blocks": (
        "st.global.u32 [%rd1], 1;\n@%p1 bra L;\nL: ld.global.u32 %r2, [%rd2];",
        "",
    ),
    "two spaces": ("st.shared.u32 [%r9], 1;\nld.global.u32 %r2, [%rd1];", ""),
    "two objects": ("st.shared.u32 [tile], 1;\nld.shared.u64 %rd5, [bar];", ""),
    "two objects with one beginning": (
        "st.shared.u32 [dynamic], 1;\nld.shared.u64 %rd5, [second];",
        "0>1 RAW may",
    ),
    "a pointer from memory": (
        "st.global.u32 [%rd2], 1;\nst.shared.u32 [%r9], 1;\nld.u32 %r2, [%rd4];",
        "0>2 RAW may, 1>2 RAW may",
    ),
    "atomics": (
        "atom.global.add.u32 %r2, [%rd1], 1;\nred.global.add.u32 [%rd1], 1;",
        "0>1 RAW proven",
    ),
    "an asynchronous copy": (
        "cp.async.ca.shared.global [%r9], [%rd1], 4;\nld.shared.u32 %r2, [%r9];\n"
        "st.global.u32 [%rd1], 1;",
        "0>1 RAW proven, 0>2 WAR proven",
    ),
    "either branch": (
        "@%p1 bra L;\nst.global.u32 [%rd1], 1;\nbra M;\nL: st.global.u32 [%rd1], 2;\n"
        "M: ld.global.u32 %r2, [%rd1];",
        "1>4 RAW proven, 3>4 RAW proven",
    ),
    "around a loop": (
        "L: ld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd1], 1;\n@%p1 bra L;",
        "0>1 WAR proven, 1>0 RAW proven",
    ),
    "around a loop that moves on": (
        "L: ld.global.u32 %r2, [%rd1];\nst.global.u32 [%rd1+4], 1;\nadd.s64 %rd1, %rd1, 4;\n"
        "@%p1 bra L;",
        "0>1 WAR may, 1>0 RAW may",
    ),
    "under a guard": (
        "st.global.u32 [%rd1], 1;\n@%p1 st.global.u32 [%rd1], 2;\nld.global.u32 %r2, [%rd1];",
        "0>1 WAW proven, 0>2 RAW proven, 1>2 RAW proven",
    ),
    "another place of the object in between": (
        "st.global.u32 [%rd1], 1;\nst.global.u32 [%rd3], 1;\nld.global.u32 %r2, [%rd1];",
        "0>1 WAW may, 0>2 RAW proven, 1>2 RAW may",
    ),
    "neighbours of what came after another": (
        "st.global.u32 [%rd1], 1;\nst.global.u32 [%rd3], 1;\nst.global.u32 [%rd3+4], 1;",
        "0>1 WAW may, 0>2 WAW may",
    ),
    "a barrier in between": (
        "st.global.u32 [%rd1], 1;\nbar.sync 0;\nld.global.u32 %r2, [%rd3];\n"
        "ld.global.u32 %r3, [%rd1];",
        "0>3 RAW proven",
    ),
    "the stack, and a pointer that is not of it": (
        "st.local.u32 [stack], 1;\nld.u32 %r2, [%rd4];",
        "",
    ),
    "the stack, shown to others": (
        "st.local.u32 [stack], 1;\nmov.u64 %rd5, stack;\ncvta.local.u64 %rd6, %rd5;\n"
        "st.global.u64 [%rd2], %rd6;\nld.u32 %r2, [%rd4];",
        "0>4 RAW may, 3>4 RAW may",
    ),
    "constants and prefetches": (
        "prefetch.global.L2 [%rd1];\nst.global.u32 [%rd1], 1;\nld.const.u32 %r2, [limits];",
        "",
    ),
}


def shown(function: Function, edges: list[tuple[int, int, str]]) -> str:
    rows = [(s - FIRST, t - FIRST, text) for s, t, text in edges if s >= FIRST and t >= FIRST]
    return ", ".join(f"{s}>{t}{text and ' ' + text}" for s, t, text in sorted(rows))


@pytest.mark.parametrize("name", CASES)
def test_edges(name: str) -> None:
    body, wanted = CASES[name]
    function, facts = kernel(START + body)
    found = [(e.source, e.target, f"{e.hazard} {e.alias}") for e in memory_edges(function, facts)]
    assert shown(function, found) == wanted


def test_a_call_may_do_anything() -> None:
    before = ".extern .func unknown(.param .b64 x);\n"
    body = "{ .param .b64 x;\nst.param.b64 [x], %rd1;\nst.global.u32 [%rd1], 1;\n"
    function, facts = kernel(
        f"{START}{body}call unknown, (x);\nld.shared.u32 %r2, [%r9]; }}", before
    )
    found = [(e.source, e.target, f"{e.hazard} {e.alias}") for e in memory_edges(function, facts)]
    assert shown(function, found) == "0>2 RAW proven, 1>2 RAW may, 2>3 RAW may"


BARRIERS = {
    "a barrier": (
        "st.shared.u32 [%r9], 1;\nbar.sync 0;\nld.shared.u32 %r2, [%r9+4];\nbar.sync 0;",
        "0>1, 1>2, 1>3, 2>3",
    ),
    "a release and an acquire": (
        "st.global.u32 [%rd1], 1;\nst.release.gpu.global.u32 [%rd2], 1;\n"
        "ld.acquire.gpu.global.u32 %r2, [%rd2+4];\nld.global.u32 %r3, [%rd1];",
        "0>1, 2>3",
    ),
    "groups of copies": (
        "cp.async.ca.shared.global [%r9], [%rd1], 4;\nst.global.u32 [%rd2], 1;\n"
        "cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.u32 %r2, [%r9];",
        "0>2, 2>3, 3>4",
    ),
    "copies of another kind": (
        "cp.async.ca.shared.global [%r9], [%rd1], 4;\ncp.async.bulk.commit_group;\n"
        "cp.async.bulk.wait_group 0;",
        "1>2",
    ),
    "a barrier for some": (
        "st.shared.u32 [%r9], 1;\n@%p1 bar.sync 0;\nbar.sync 1;",
        "0>1, 0>2, 1>2",
    ),
    "only arriving": (
        "st.shared.u32 [%r9], 1;\nbar.arrive 1, 64;\nld.shared.u32 %r2, [%r9];",
        "0>1",
    ),
}


@pytest.mark.parametrize("name", BARRIERS)
def test_barriers(name: str) -> None:
    body, wanted = BARRIERS[name]
    function, facts = kernel(START + body)
    assert shown(function, [(s, t, "") for s, t in barrier_edges(function, facts)]) == wanted


ADDRESSES = ("[%rd1]", "[%rd1+4]", "[%rd2]", "[%rd3]", "[%rd3+4]", "[%rd4]", "[%rd4+8]", "[%rd5]")


def generated(seed: int) -> str:
    """A body of accesses, branches and loops that move a pointer on."""
    pick = random.Random(seed)
    lines = []
    for i in range(pick.randrange(6, 24)):
        address = pick.choice(ADDRESSES)
        kind = pick.randrange(10)
        if kind < 4:
            text = f"st.global.u32 {address}, 1;"
        elif kind < 7:
            text = f"ld.global.u32 %r2, {address};"
        elif kind == 7:
            text = "bar.sync 0;" if pick.random() < 0.3 else "add.s64 %rd3, %rd3, 4;"
        elif kind == 8:
            text = f"@%p1 bra L{pick.randrange(i + 4)};"
        else:
            text = f"@%p1 st.global.u32 {address}, 1;"
        lines.append(f"L{i}: {text}")
    lines += [f"L{i}:" for i in range(len(lines), len(lines) + 4)]
    return START + "add.s64 %rd5, %rd2, %rd10;\n" + "\n".join(lines)


@pytest.mark.parametrize("seed", range(150))
def test_what_conflicts_is_ordered(seed: int) -> None:
    """Each pair that may conflict is ordered by a path of edges, and each edge is such a pair."""
    function, facts = kernel(generated(seed))
    flow = facts.once(function, control_flow)
    classes = facts.once(function, alias_classes)
    edges = memory_edges(function, facts)
    onward: dict[int, set[int]] = {}
    for source, target in barrier_edges(function, facts):
        onward.setdefault(source, set()).add(target)
    for edge in edges:
        if edge.alias != ASSUMED:
            onward.setdefault(edge.source, set()).add(edge.target)
    later = {a.index: after(flow, a.index) for a in classes.members}
    ways = {a.index: closure(onward, a.index) for a in classes.members}
    number = {a.index: k for k, a in enumerate(classes.members)}
    for edge in edges:
        assert edge.target in later[edge.source]
    for first in classes.members:
        for second in classes.members:
            if first.index != second.index and second.index in later.get(first.index, ()):
                pair = number[first.index], number[second.index]
                anew = made_anew(facts.once(function, values), flow, first)
                again = anew in later[first.index] and (
                    second.index == anew or second.index in after(flow, anew)
                )
                if meet(classes, *pair, again):
                    assert second.index in ways[first.index], (first.index, second.index)


def meet(classes: Classes, first: int, second: int, again: bool) -> bool:
    """Whether two accesses may be to one place, one of them a write; ``again``: the address of the
    first may have been made anew before the second.
    """
    conflicts = classes.conflicts[second]
    if not again:
        conflicts = conflicts & ~classes.own[second] | classes.overlap[second]
    writes = classes.writes >> first & 1 or classes.writes >> second & 1
    return bool(conflicts >> first & 1 and writes)


def made_anew(found: Values, flow: ControlFlow, access: Access) -> int:
    """The instruction that makes an access's address, or stands first where that is a phi."""
    if not isinstance(access.anchor, int):
        return -1
    value = found.all[access.anchor]
    return flow.blocks[value.at].start if value.kind == PHI else value.at


def after(flow: ControlFlow, index: int) -> set[int]:
    """The instructions that can run after one."""
    block = flow.blocks[flow.block_of[index]]
    if not flow.reached >> block.index & 1:
        return set()
    found = set(range(index + 1, block.stop))
    seen, stack = set[int](), list(block.successors)
    while stack:
        each = stack.pop()
        if each not in seen:
            seen.add(each)
            found.update(range(flow.blocks[each].start, flow.blocks[each].stop))
            stack += flow.blocks[each].successors
    return found


def closure(onward: dict[int, set[int]], index: int) -> set[int]:
    found, stack = set[int](), [index]
    while stack:
        for each in onward.get(stack.pop(), ()):
            if each not in found:
                found.add(each)
                stack.append(each)
    return found
