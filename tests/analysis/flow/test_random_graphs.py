"""Dominance, loops, liveness, values and control dependence of small random kernels, held to
their definitions: by taking blocks away, by following every way, by walking at random.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from ptxlint.analysis.flow.control import control_dependence
from ptxlint.analysis.flow.dominance import dominators, frontiers, post_dominators
from ptxlint.analysis.flow.graph import ControlFlow
from ptxlint.analysis.flow.liveness import liveness
from ptxlint.analysis.flow.loops import loops
from ptxlint.analysis.flow.registers import RegisterUse, register_use
from ptxlint.analysis.flow.ssa import PHI, values

from .random_kernels import graph, reach, walk

BATCH, BATCHES = 100, 3


def for_all_seeds(check: Callable[[int], None]) -> Callable[[int], None]:
    """One test for each batch of seeds; a failure names its seed."""

    def test(batch: int) -> None:
        for seed in range(batch * BATCH, (batch + 1) * BATCH):
            with named(seed):
                check(seed)

    test.__doc__ = check.__doc__
    return pytest.mark.parametrize("batch", range(BATCHES))(test)


@contextmanager
def named(seed: int) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise AssertionError(f"seed {seed}") from error


def members(bits: int) -> set[int]:
    return {i for i in range(bits.bit_length()) if bits >> i & 1}


def leaves(flow: ControlFlow, start: int, without: int = -1) -> bool:
    """Whether a way out of the function leads from a block past another."""
    return any(flow.blocks[b].leaves for b in reach(flow, start, without))


@for_all_seeds
def test_dominators_cut_every_way(seed: int) -> None:
    function, facts, flow = graph(seed)
    tree = facts.once(function, dominators)
    alive = reach(flow, 0)
    assert members(flow.reached) == alive
    for above in alive:
        rest = reach(flow, 0, above)
        for below in alive:
            assert tree.dominates(above, below) == (above == below or below not in rest)
    for block in alive - {0}:
        strict = {b for b in alive if b != block and tree.dominates(b, block)}
        assert all(tree.dominates(b, tree.parent[block]) for b in strict)


@for_all_seeds
def test_frontiers_are_where_dominance_ends(seed: int) -> None:
    function, facts, flow = graph(seed)
    tree = facts.once(function, dominators)
    found = frontiers(flow, tree)
    alive = reach(flow, 0)
    for block in alive:
        ends = {
            other
            for other in alive
            if any(p in alive and tree.dominates(block, p) for p in flow.blocks[other].predecessors)
            and not (block != other and tree.dominates(block, other))
        }
        assert set(found[block]) == ends


@for_all_seeds
def test_post_dominators_cut_every_way_out(seed: int) -> None:
    function, facts, flow = graph(seed)
    tree = facts.once(function, post_dominators)
    alive = reach(flow, 0)
    ending = {block for block in alive if leaves(flow, block)}
    for below in ending:
        if not reach(flow, below) <= ending:
            continue  # may get into a loop with no way out, whose end is made up
        for above in alive:
            needed = above == below or not leaves(flow, below, above)
            assert tree.dominates(above, below) == needed


@for_all_seeds
def test_control_dependence_is_what_an_edge_decides(seed: int) -> None:
    """Ferrante's definition, of functions all of whose blocks lead out."""
    function, facts, flow = graph(seed)
    alive = reach(flow, 0)
    if not all(leaves(flow, block) for block in alive):
        return
    control = facts.once(function, control_dependence)
    for block in alive:
        expected = set()
        for branch in alive:
            ways = flow.blocks[branch].successors
            several = len(ways) + flow.blocks[branch].leaves > 1
            avoids = flow.blocks[branch].leaves or any(
                s != block and leaves(flow, s, block) for s in ways
            )
            for way in ways:
                surely = way == block or not leaves(flow, way, block)
                # the branch itself is no way past it
                if several and surely and (branch == block or avoids):
                    expected.add((branch, way))
        assert set(control.direct[block]) == expected


@for_all_seeds
def test_loops_are_what_comes_back(seed: int) -> None:
    function, facts, flow = graph(seed)
    tree = facts.once(function, dominators)
    known = facts.once(function, loops)
    alive = reach(flow, 0)
    headers = {
        way: {b for b in alive if way in flow.blocks[b].successors and tree.dominates(way, b)}
        for block in alive
        for way in flow.blocks[block].successors
        if tree.dominates(way, block)
    }
    natural = {loop.header: loop for loop in known.all if loop.reducible}
    assert set(natural) == set(headers)
    for header, latches in headers.items():
        loop = natural[header]
        assert set(loop.latches) == latches
        body = {b for b in alive if latches & reach(flow, b, header)} | {header}
        assert members(loop.blocks) == body
        assert {(b, s) for b in body for s in flow.blocks[b].successors if s not in body} == {
            (b, s) for b, s in loop.exits if s is not None
        }
    inside = {b for loop in known.all for b in members(loop.blocks)}
    cyclic = {b for b in alive if any(b in reach(flow, s) for s in flow.blocks[b].successors)}
    assert inside == cyclic


def is_read(flow: ControlFlow, use: RegisterUse, block: int, register: int) -> bool:
    """Whether some way from a block's head reads a register before it is written.

    A guarded write keeps the old value, which what has the same guard later in the block can't see.
    """
    seen, stack = set[int](), [block]
    while stack:
        index = stack.pop()
        if index in seen:
            continue
        seen.add(index)
        here = flow.blocks[index]
        hidden = set[int]()  # guards under which it is written
        for i in range(here.start, here.stop):
            if register in use.reads[i] and use.guards[i] not in hidden:
                return True
            if register in use.writes[i]:
                if use.guards[i] < 0:
                    break
                hidden.add(use.guards[i])
            hidden -= {guard for guard in hidden if guard >> 1 in use.writes[i]}
        else:
            stack += here.successors
    return False


@for_all_seeds
def test_liveness_is_what_may_be_read(seed: int) -> None:
    function, facts, flow = graph(seed)
    use = facts.once(function, register_use)
    known = facts.once(function, liveness)
    for block in reach(flow, 0):
        expected = {r for r in range(len(use.registers)) if is_read(flow, use, block, r)}
        assert members(known.live_in[block]) == expected


@for_all_seeds
def test_a_read_sees_the_last_definition(seed: int) -> None:
    """Along a walk, the value in each register, phis taken by the edge that was passed."""
    function, facts, flow = graph(seed)
    known = facts.once(function, values)
    use = known.use
    draw = random.Random(seed)
    for _ in range(5):
        holds: dict[int, int] = {}  # register -> the instruction that wrote it last
        stands: dict[int, int] = {}  # phi -> what it was at its last turn
        came = -1
        for index in walk(flow, draw):
            taken = {}
            for phi in known.phis[index]:
                sources = flow.reached_predecessors(index)
                operand = phi.operands[sources.index(came)]
                taken[phi.index] = stands.get(operand, operand)
            stands |= taken
            for i in range(flow.blocks[index].start, flow.blocks[index].stop):
                for register, value in zip(use.reads[i], known.reads[i], strict=True):
                    seen = known.all[stands.get(value, value)]
                    assert seen.register == register and seen.kind != PHI
                    assert seen.at == holds.get(register, -1)
                for register in use.writes[i]:
                    holds[register] = i
            came = index
