"""Where lanes of a warp wait for each other, and warps of the CTA."""

from __future__ import annotations

from .barriers import Barrier, BarrierUse
from .code import Op
from .divergence import Divergence
from .groups import Group
from .observer import Step
from .steps import lanes_of
from .storage import Storage
from .types import FULL
from .warp import Warp


class Meetings(Divergence):
    """Instructions that lanes execute together, and barriers."""

    __slots__ = ()

    def meet(self, warp: Warp, group: Group, op: Op, active: int) -> bool:
        assert op.members is not None
        storage = group.frame.storage
        key: object = (storage, op.pc)
        if op.instruction.opcode.mnemonic == "bar" and op.kind == "plain":
            key = "bar.warp.sync"
        if key not in warp.meetings and self._all_there(warp, storage, op, active):
            if op.kind == "plain":
                self.execute(warp, storage, op, group.mask, active)
                group.pc += 1
                return self.arrive(warp, group)
            step = self.announce(warp, storage, op, group.mask, active)
            return self.barrier(warp, group, op, active, step)
        self.aside(warp, group, active, op.pc + 1)
        if group in warp.groups:
            warp.groups.remove(group)
        warp.meetings.setdefault(key, []).append(group)
        self.try_meeting(warp, key)
        return False

    @staticmethod
    def _all_there(warp: Warp, storage: Storage, op: Op, there: int) -> bool:
        assert op.members is not None
        absent = warp.live & ~there
        if not absent:
            return True
        return not any(op.members(storage, lane) & absent for lane in lanes_of(there))

    def try_meeting(self, warp: Warp, key: object) -> None:
        """Run a meeting's instruction for the lanes whose members are all there."""
        waiting = warp.meetings.get(key, [])
        ready = 0
        for group in waiting:
            ready |= group.mask
        changed = True
        while changed and ready:
            changed = False
            for group in waiting:
                op = group.frame.code.ops[group.pc]
                assert op is not None and op.members is not None
                for lane in lanes_of(group.mask & ready):
                    if op.members(group.frame.storage, lane) & warp.live & ~ready:
                        ready &= ~(1 << lane)
                        changed = True
        if ready:
            self._hold(warp, key, waiting, ready)

    def _hold(self, warp: Warp, key: object, waiting: list[Group], ready: int) -> None:
        together: dict[tuple[Storage, int], list[Group]] = {}
        left = []
        for group in waiting:
            if group.mask & ~ready:
                left.append(group)
                if group.mask & ready:
                    group = group.split(group.mask & ready)
                else:
                    continue
            together.setdefault((group.frame.storage, group.pc), []).append(group)
        if left:
            warp.meetings[key] = left
        else:
            warp.meetings.pop(key, None)
        for (storage, pc), groups in together.items():
            op = storage.code.ops[pc]
            assert op is not None
            self._run_met(warp, storage, op, groups)

    def _run_met(self, warp: Warp, storage: Storage, op: Op, groups: list[Group]) -> None:
        mask = 0
        for group in groups:
            mask |= group.mask
        step = None
        if op.kind == "plain":
            self.execute(warp, storage, op, mask, mask)
        else:
            step = self.announce(warp, storage, op, mask, mask)
        for group in reversed(groups):
            if step is None:
                group.pc += 1
                if self.arrive(warp, group):
                    warp.groups.append(group)
            elif self.barrier(warp, group, op, group.mask, step):
                warp.groups.append(group)

    def barrier(self, warp: Warp, group: Group, op: Op, active: int, step: Step) -> bool:
        self.aside(warp, group, active, op.pc + 1)
        use = op.detail
        assert isinstance(use, BarrierUse)
        storage = group.frame.storage
        lanes = lanes_of(group.mask)
        number = storage.values[use.id][lanes[0]]
        barrier = self.cta.barriers.setdefault(number, Barrier())
        required = storage.values[use.count][lanes[0]] if use.count >= 0 else 0
        barrier.arrive(warp, group.mask, required)
        if use.reduce:
            column = storage.values[use.predicate]
            barrier.results += [column[lane] ^ use.negated for lane in lanes]
            barrier.unknown |= storage.marks(use.predicate, lanes) is not None
        if use.arrive:
            self.finish(step)
            group.pc += 1
            self.try_barrier(number)
            return self.arrive(warp, group)
        if group in warp.groups:
            warp.groups.remove(group)
        barrier.waiting.append((warp, group, use, step))
        self.try_barrier(number)
        return False

    def try_barrier(self, number: int) -> None:
        barrier = self.cta.barriers[number]
        if not barrier.complete(self.cta.warps):
            return
        waiting, results = barrier.waiting, barrier
        for warp, group, use, step in waiting:
            if use.reduce:
                lanes = lanes_of(group.mask)
                marks = [FULL if use.reduce == "popc" else 1] * len(lanes)
                group.frame.storage.put(
                    use.target,
                    group.mask,
                    lanes,
                    [results.reduced(use.reduce)] * len(lanes),
                    marks if results.unknown else None,
                )
            warp.storage = group.frame.storage
            self.finish(step)
            group.pc += 1
        barrier.clear()
        for warp, group, _, _ in waiting:
            if self.arrive(warp, group):
                warp.groups.append(group)
