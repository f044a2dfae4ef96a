"""Memory dependence: which earlier accesses each access has to come after.

Only the nearest are given, so that the number of edges stays near the number of accesses: what an
access has to follow, it follows by an edge or by a path of edges. For each place in the code, a
forward data flow keeps as bit sets

- ``front``: the accesses that no later one stands for;
- ``behind``: what those now in front came after, and that others of the same address, at other
  distances, still have to come after;
- ``last``: for each address the last accesses to it, whatever else came in between.

A CTA barrier or fence that is not guarded stands for all accesses before it.
"""

from __future__ import annotations

from typing import NamedTuple

from ...isa.memory import memory_effect
from ...ptx.ir import Function, Instruction
from ..bitset import members
from ..facts import Facts, by_opcode
from ..flow.dataflow import State, forward
from ..flow.graph import ControlFlow, control_flow
from ..flow.loops import loops
from ..flow.ssa import PHI, values
from ..memory.accesses import accesses
from .classes import ASSUMED, MAY, PROVEN, Classes

RAW, WAR, WAW = "RAW", "WAR", "WAW"
_HUBS = frozenset({"bar", "barrier", "membar", "fence"})
_HUB = -1


class MemoryEdge(NamedTuple):
    """``target`` has to come after ``source`` (instructions).

    ``hazard``: ``RAW``, ``WAR`` or ``WAW``. ``alias``: ``proven`` where both are to one place for
    sure, ``may`` where that is open, ``assumed-distinct`` where they meet only if the launch passes
    one object twice; such edges are given inside a basic block only.
    """

    source: int
    target: int
    hazard: str
    alias: str


def memory_edges(function: Function, facts: Facts) -> list[MemoryEdge]:
    """The memory dependences of a function, each (source, target, hazard) once."""
    classes = facts.once(function, alias_classes)
    flow = facts.once(function, control_flow)
    if not classes.members:
        return []
    events = _events(function, flow, classes)
    renewed = _renewed(function, facts, flow, classes)

    def through(index: int, state: State) -> State:
        state = _enter(state, renewed[index], classes.lane)
        for event in events[index]:
            state = _step(classes, state, event)[1]
        return state

    entries = forward(flow, (0, 0, 0), through)
    found: dict[tuple[int, int, str], str] = {}
    for index in flow.order:
        state = _enter(entries[index], renewed[index], classes.lane)
        for event in events[index]:
            before, state = _step(classes, state, event)
            if event != _HUB and before:
                _edges(found, classes, before, event)
        _assumed(found, classes, events[index])
    return [MemoryEdge(*key, alias) for key, alias in found.items()]


def alias_classes(function: Function, facts: Facts) -> Classes:
    """The accesses that can conflict, and which may be to the same place."""
    return Classes(facts.once(function, accesses), _exposed(function, facts))


def _exposed(function: Function, facts: Facts) -> bool:
    """Whether an address of the stack may come back from memory or from a callee."""
    return any(
        opcode.mnemonic == "call"
        or (
            opcode.mnemonic == "cvta"
            and "local" in opcode.modifiers
            and "to" not in opcode.modifiers
        )
        for opcode in facts.once(function, by_opcode)
    )


def is_hub(instruction: Instruction) -> bool:
    """Whether it orders all accesses before it with all after it, come what may."""
    opcode = instruction.opcode
    if opcode.mnemonic not in _HUBS or instruction.guard is not None:
        return False
    what = memory_effect(opcode.mnemonic, opcode.modifiers)
    return what.before and what.after and "proxy" not in opcode.modifiers


def _events(function: Function, flow: ControlFlow, classes: Classes) -> list[list[int]]:
    """For each block what happens in it: accesses by number, and ``_HUB``."""
    at: dict[int, list[int]] = {}
    for k, access in enumerate(classes.members):
        at.setdefault(access.index, []).append(k)
    hubs = {
        i
        for i, instruction in enumerate(function.instructions)
        if instruction.opcode.mnemonic in _HUBS and is_hub(instruction)
    }
    places = sorted({*at, *hubs})
    found: list[list[int]] = [[] for _ in flow.blocks]
    for i in places:
        found[flow.block_of[i]] += at.get(i, [_HUB])
    return found


def _renewed(function: Function, facts: Facts, flow: ControlFlow, classes: Classes) -> list[int]:
    """For each block the accesses whose address register it makes anew each time round a loop."""
    found = [0] * len(flow.blocks)
    nest = facts.once(function, loops)
    all_values = facts.once(function, values).all
    for k, access in enumerate(classes.members):
        if type(access.anchor) is int:
            value = all_values[access.anchor]
            if value.at < 0:
                continue
            block = value.at if value.kind == PHI else flow.block_of[value.at]
            if nest.innermost(block) is not None:
                found[block] |= 1 << k
    return found


def _enter(state: State, renewed: int, lane: int) -> State:
    """At the head of a block: addresses made anew in it are no longer those of before."""
    if not renewed:
        return state
    front, behind, last = ((bits & ~renewed) | (bits & renewed) << lane for bits in state)
    return front, behind, last & ((1 << lane) - 1)


def _step(classes: Classes, state: State, event: int) -> tuple[int, State]:
    """What an access has to come after, and the state after it."""
    front, behind, last = state
    if event == _HUB:
        return 0, (0, 0, last)
    bit = 1 << event
    own, overlap = classes.own[event], classes.overlap[event]
    conflicts = classes.conflicts[event] & ~own | overlap
    writes = bool(classes.writes & bit)
    if not writes:
        conflicts &= classes.writes
    before = front & conflicts
    first = not front & own  # of its address, since others stood for it
    if not first:
        before |= behind & conflicts
    before |= last & overlap & conflicts
    if not writes:
        return before, (front | bit, behind, last | bit)
    covers = classes.covers[event]
    covered = front & covers & ~own
    inside = classes.inside[event]
    behind = (behind & ~covers if first else behind) | covered
    front = front & ~covered & ~inside | bit
    if classes.members[event].guard is None:
        last &= ~inside
    return before, (front, behind, last | bit)


def _edges(
    found: dict[tuple[int, int, str], str], classes: Classes, before: int, event: int
) -> None:
    lane, target = classes.lane, classes.members[event]
    sure = classes.proven[event]
    for k in members(before):
        alias = PROVEN if sure >> k & 1 else MAY
        source = classes.members[k - lane if k >= lane else k]
        if source.index == target.index:
            continue
        key = source.index, target.index, _hazard(source.writes, target.reads)
        if found.get(key) != PROVEN:
            found[key] = alias


def _hazard(source_writes: bool, target_reads: bool) -> str:
    if not source_writes:
        return WAR
    return RAW if target_reads else WAW


def _assumed(found: dict[tuple[int, int, str], str], classes: Classes, events: list[int]) -> None:
    """The edges between parameters that are assumed to be different objects."""
    waiting: dict[object, list[int]] = {}  # by object: the accesses of the block so far
    linked: dict[tuple[object, object, bool], int] = {}  # how many of them are linked already
    for event in events:
        if event == _HUB:
            waiting.clear()
            linked.clear()
            continue
        if (name := classes.named[event]) is None:
            continue
        target = classes.members[event]
        for other, earlier in waiting.items():
            if other is name or not classes.assumed_distinct(event, earlier[0]):
                continue
            for k in earlier[linked.get((other, name, target.writes), 0) :]:
                source = classes.members[k]
                if (source.writes or target.writes) and source.index != target.index:
                    key = source.index, target.index, _hazard(source.writes, target.reads)
                    found.setdefault(key, ASSUMED)
            linked[other, name, target.writes] = len(earlier)
        waiting.setdefault(name, []).append(event)
