"""Single steps: executed, counted and shown to the observer."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from .code import Op
from .cta import Cta
from .groups import Group
from .matrices import addressing_lanes
from .observer import Observer, Step
from .storage import Storage
from .warp import Warp


@lru_cache(maxsize=4096)
def lanes_of(mask: int) -> tuple[int, ...]:
    """The lanes of a mask, ascending."""
    return tuple(lane for lane in range(32) if mask >> lane & 1)


class Steps:
    """What happens in one step, without where control goes."""

    __slots__ = ("at", "cta", "executed", "observer", "turns")

    def __init__(self, cta: Cta, observer: Observer | None) -> None:
        self.cta = cta
        self.observer = observer
        # Who ran last, for the report of a fault.
        self.at: tuple[Warp, Group] | None = None
        self.executed: set[Op] = set()
        self.turns: Counter[tuple[int, Op]] = Counter()

    def execute(self, warp: Warp, storage: Storage, op: Op, mask: int, active: int) -> None:
        """Run an operation without control flow, watched."""
        self.cta.steps += 1
        self.executed.add(op)
        lanes = lanes_of(active)
        space = source_space = ""
        addresses = sources = None
        if op.access is not None and active:
            if op.source is not None:
                storage.sources, sources, source_space = warp.resolve(storage, op.source, lanes)
            given = lanes
            if op.instruction.opcode.mnemonic in ("ldmatrix", "stmatrix"):
                given = lanes_of(active & addressing_lanes(op.instruction))
            storage.places, addresses, space = warp.resolve(storage, op.access, given)
        if op.detail == "opaque" or op.detail == "unsupported":
            self._count(op)
        if self.observer is None:
            if active and op.run is not None:
                op.run(storage, active, lanes)
            return
        step = self._shown(warp, storage, op, mask, active)
        if op.access is not None:
            step.addresses, step.space, step.width = addresses, space, op.access.size
            if op.source is not None:
                step.source_addresses, step.source_space = sources, source_space
        self.observer.before(step)
        if active and op.run is not None:
            op.run(storage, active, lanes)
        self.observer.after(step)

    def _count(self, op: Op) -> None:
        result = self.cta.result
        counts = result.opaque if op.detail == "opaque" else result.unsupported
        spelling = str(op.instruction.opcode)
        counts[spelling] = counts.get(spelling, 0) + 1

    def _shown(self, warp: Warp, storage: Storage, op: Op, mask: int, active: int) -> Step:
        warp.storage = storage
        step = Step(warp, op.pc, storage.code.function, op.instruction, mask, active)
        step.turn = self.turns[warp.index, op]
        self.turns[warp.index, op] += 1
        return step

    def announce(self, warp: Warp, storage: Storage, op: Op, mask: int, active: int) -> Step:
        """A step that moves control: counted, and shown before it happens."""
        self.cta.steps += 1
        self.executed.add(op)
        step = self._shown(warp, storage, op, mask, active)
        if self.observer is not None:
            self.observer.before(step)
        return step

    def finish(self, step: Step) -> None:
        if self.observer is not None:
            self.observer.after(step)
