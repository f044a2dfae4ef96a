"""Kernel parameters whose memory a kernel surely only reads."""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Address, Function, Instruction
from ..facts import Facts
from ..flow.graph import ControlFlow, control_flow
from .access import Access
from .accesses import accesses
from .bases import Base
from .opcodes import OUTSIDE, plain_loads
from .pointers import pointers

DISTINCT = "kernel parameters point to different memory"
UNDISTURBED = "nothing else writes it while the kernel runs"


class ReadOnly(NamedTuple):
    """``loads`` are all ``ld.global`` of the parameter that are not yet ``.nc``; ``after`` is a
    store to global memory that one of them comes after, on some path.
    """

    base: Base
    loads: tuple[Access, ...]
    after: Instruction


def read_only(function: Function, facts: Facts) -> list[ReadOnly]:
    """The parameters that the kernel reads by ``ld.global`` and never writes, where a store may
    come between two accesses.

    Nothing where it waits for what other threads write, or writes through an address that may be
    anywhere. Under ``DISTINCT`` and ``UNDISTURBED``.
    """
    plain = facts.once(function, plain_loads)
    if not plain:
        return []
    candidates = [a for a in facts.once(function, accesses) if a.instruction.opcode in plain]
    after = _after_stores(candidates, function, facts)
    written = _written(function, facts) if after else None
    if written is None:
        return []
    known = facts.once(function, pointers)
    found: dict[Base, list[Access]] = {}
    for access in candidates:
        base = known.of(access.index, access.operand).base
        if base is not None and base.kind == "parameter" and base not in written:
            found.setdefault(base, []).append(access)
    return [
        ReadOnly(base, tuple(loads), function.instructions[stores[0]])
        for base, loads in found.items()
        if (stores := [after[load.index] for load in loads if load.index in after])
    ]


def _after_stores(loads: list[Access], function: Function, facts: Facts) -> dict[int, int]:
    """The loads, by index, that a store to global memory may come before, and that store's."""
    stores: dict[int, list[int]] = {}
    flow = facts.once(function, control_flow)
    for access in facts.once(function, accesses):
        if access.writes and access.effect.space in OUTSIDE:
            stores.setdefault(flow.block_of[access.index], []).append(access.index)
    reached: dict[int, int] = {}
    waiting = [(successor, at[0]) for b, at in stores.items() for successor in _ways(flow, b)]
    while waiting:
        block, store = waiting.pop()
        if block not in reached:
            reached[block] = store
            waiting += [(successor, store) for successor in _ways(flow, block)]
    found = {}
    for load in loads:
        block = flow.block_of[load.index]
        before = [at for at in stores.get(block, ()) if at < load.index]
        if before or block in reached:
            found[load.index] = before[-1] if before else reached[block]
    return found


def _ways(flow: ControlFlow, block: int) -> tuple[int, ...]:
    return flow.blocks[block].successors


def _written(function: Function, facts: Facts) -> set[Base] | None:
    """The parameters and objects that it writes; None where it may write something else."""
    known = facts.once(function, pointers)
    found: set[Base] = set()
    for access in facts.once(function, accesses):
        if access.effect.space not in OUTSIDE or not access.writes:
            continue
        if not isinstance(access.operand, Address) or access.tensor:
            return None
        pointer = known.of(access.index, access.operand)
        if pointer.form in ("generic:shared", "generic:local"):
            continue
        if pointer.base is None or pointer.base.kind not in ("parameter", "variable"):
            return None
        found.add(pointer.base)
    return found
