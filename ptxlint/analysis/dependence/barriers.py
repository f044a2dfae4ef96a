"""What orders memory accesses: barriers, fences, groups of copies and the waits for them.

An access before a barrier is linked to the first barriers that it reaches, an access after one to
the last that it comes from.
"""

from __future__ import annotations

from typing import NamedTuple

from ...isa.memory import memory_effect
from ...ptx.ir import Function, Instruction, Opcode
from ..bitset import members
from ..facts import Facts
from ..flow.dataflow import State, forward
from ..flow.graph import ControlFlow, control_flow
from ..memory.access import CALL, Access
from ..memory.accesses import accesses

Family = tuple[str, bool]


class Barrier(NamedTuple):
    """An instruction that orders accesses; an access may be one itself (``ld.acquire``).

    ``kind``: ``barrier``, ``fence``, ``commit``, ``wait``, ``grid``, ``call``, or ``access``.
    ``before``, ``after``: whether accesses on that side stay there. ``family``: the asynchronous
    work that a commit or wait is about; None for what orders accesses of all kinds.
    """

    at: int
    kind: str
    before: bool
    after: bool
    family: Family | None


def barriers(function: Function, facts: Facts) -> list[Barrier]:
    """The instructions that order memory accesses, in order."""
    kinds: dict[Opcode, tuple[str, bool, bool, Family | None] | None] = {}
    calls = {a.index for a in facts.once(function, accesses) if a.kind == CALL and _seen(a)}
    found = []
    for i, instruction in enumerate(function.instructions):
        opcode = instruction.opcode
        if opcode not in kinds:
            kinds[opcode] = _kind(opcode)
        row = kinds[opcode]
        if row is not None:
            found.append(Barrier(i, *row))
        elif i in calls:
            found.append(Barrier(i, CALL, True, True, None))
    return found


def _seen(access: Access) -> bool:
    return access.reads or access.writes


def _kind(opcode: Opcode) -> tuple[str, bool, bool, Family | None] | None:
    what = memory_effect(opcode.mnemonic, opcode.modifiers)
    if not what.orders:
        return None
    kind = what.barrier or "access"
    return kind, what.before, what.after, family(opcode) if kind in ("commit", "wait") else None


def family(opcode: Opcode) -> Family:
    """Asynchronous work that is committed and waited for together."""
    mnemonic = "cp" if opcode.mnemonic == "multimem" else opcode.mnemonic
    return mnemonic, "bulk" in opcode.modifiers


def barrier_edges(function: Function, facts: Facts) -> list[tuple[int, int]]:
    """(source, target): instructions of which one at least orders memory accesses."""
    order = facts.once(function, barriers)
    if not order:
        return []
    flow = facts.once(function, control_flow)
    return _Flow(function, flow, order, facts.once(function, accesses)).edges()


class _Flow:
    """A forward data flow of (accesses since the last barrier, last barriers), as bit sets."""

    def __init__(
        self, function: Function, flow: ControlFlow, order: list[Barrier], found: list[Access]
    ) -> None:
        self.flow = flow
        self.barriers = {barrier.at: barrier for barrier in order}
        touched = {a.index for a in found if _seen(a) and a.space not in ("const", "param")}
        self.nodes = sorted({*touched, *self.barriers})
        self.instructions = function.instructions
        self.families: dict[Family, int] = {}
        late = {a.index for a in found if a.effect.asynchronous}
        for place, index in enumerate(self.nodes):
            barrier = self.barriers.get(index)
            if index in late or (barrier is not None and barrier.kind == "commit"):
                key = family(self.instructions[index].opcode)
                self.families[key] = self.families.get(key, 0) | 1 << place
        self.of_block: list[list[int]] = [[] for _ in flow.blocks]
        for place, index in enumerate(self.nodes):
            self.of_block[flow.block_of[index]].append(place)

    def edges(self) -> list[tuple[int, int]]:
        """Each edge once."""
        found: list[tuple[int, int]] = []
        entries = forward(self.flow, (0, 0), self._through)
        for index in self.flow.order:
            state = entries[index]
            for place in self.of_block[index]:
                sources, state = self._step(state, place)
                found += [(self.nodes[k], self.nodes[place]) for k in members(sources)]
        return found

    def _through(self, index: int, state: State) -> State:
        for place in self.of_block[index]:
            state = self._step(state, place)[1]
        return state

    def _step(self, state: State, place: int) -> tuple[int, State]:
        """What a node comes after, and the state after it."""
        since, last = state
        bit = 1 << place
        barrier = self.barriers.get(self.nodes[place])
        sources = last
        if barrier is None:
            return sources & ~bit, (since | bit, last)
        sure = _unguarded(self.instructions[self.nodes[place]])
        if barrier.before:
            mine = since if barrier.family is None else since & self.families.get(barrier.family, 0)
            sources |= mine
            since = since & ~mine if sure else since
        since |= bit
        if barrier.after:
            last = bit if sure else last | bit
        return sources & ~bit, (since, last)


def _unguarded(instruction: Instruction) -> bool:
    return instruction.guard is None
