"""Dependence through registers, and of instructions on branches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ...ptx.ir import Function
from ..facts import Facts
from ..flow.control import Control, control_dependence
from ..flow.graph import ControlFlow, control_flow
from ..flow.registers import CARRY
from ..flow.ssa import DEFINITION, GUARDED, Value, Values, values

DATA, PREDICATE, CARRY_EDGE, CONTROL = "data", "predicate", "carry", "control"


class RegisterEdge(NamedTuple):
    """``target`` reads what ``source`` writes (instructions).

    ``kind``: ``data``; ``predicate``, where it is the guard; ``carry``, for the flag of ``add.cc``.
    ``register`` is its number in ``RegisterUse``.
    """

    source: int
    target: int
    kind: str
    register: int


def register_edges(function: Function, facts: Facts) -> Iterator[RegisterEdge]:
    """From each definition that reaches a read of a register to the instruction that reads it.

    Of a guarded definition both it and what it leaves in place reach the reads after it.
    """
    found = facts.once(function, values)
    use = found.use
    known: dict[int, tuple[int, ...]] = {}
    for target, read in enumerate(found.reads):
        guard = use.guards[target] >> 1
        for register, value in zip(use.reads[target], read, strict=False):
            if value not in known:
                known[value] = _definitions(found, value)
            kind = PREDICATE if register == guard else CARRY_EDGE if register == CARRY else DATA
            for source in known[value]:
                yield RegisterEdge(source, target, kind, register)


def _definitions(found: Values, value: int) -> tuple[int, ...]:
    """The instructions behind a value."""
    first: Value = found.all[value]
    if first.kind == DEFINITION:
        return (first.at,)
    return tuple(v.at for v in found.reaching(value) if v.kind in (DEFINITION, GUARDED))


def control_edges(function: Function, facts: Facts) -> Iterator[tuple[int, int, bool]]:
    """(branch, instruction, taken): the instruction runs if the branch goes that way.

    ``taken`` is False for the way on past the branch. What can only trap depends on the branches
    right before it.
    """
    flow = facts.once(function, control_flow)
    control = facts.once(function, control_dependence)
    for block in flow.blocks:
        for branch, successor in _deciders(flow, control, block.index):
            source = flow.blocks[branch].stop - 1
            for target in range(block.start, block.stop):
                if source != target:
                    yield source, target, successor in flow.blocks[branch].taken


def _deciders(flow: ControlFlow, control: Control, block: int) -> list[tuple[int, int]]:
    if not control.doomed >> block & 1:
        return control.direct[block]
    return [
        (predecessor, block)
        for predecessor in flow.reached_predecessors(block)
        if len(flow.blocks[predecessor].successors) > 1
    ]
