"""Running groups of lanes: one step after another, divergence, meetings, barriers, exits."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from ..ptx.ir import Function
from . import calls
from .barriers import Barrier, BarrierUse
from .code import Code, Op
from .control import Call, Jump
from .cta import Cta
from .groups import Frame, Group, Join
from .lower import lower
from .matrices import addressing_lanes
from .observer import Observer, Step
from .result import FaultError
from .storage import Storage
from .types import FULL
from .warp import Warp


@lru_cache(maxsize=4096)
def lanes_of(mask: int) -> tuple[int, ...]:
    """The lanes of a mask, ascending."""
    return tuple(lane for lane in range(32) if mask >> lane & 1)


class Machine:
    """Executes steps. ``converge`` is whether diverged lanes meet at post-dominators."""

    __slots__ = ("at", "converge", "cta", "executed", "observer", "turns")

    def __init__(self, cta: Cta, observer: Observer | None, converge: bool) -> None:
        self.cta = cta
        self.observer = observer
        self.converge = converge
        # Who ran last, for the report of a fault.
        self.at: tuple[Warp, Group] | None = None
        self.executed: set[Op] = set()
        self.turns: Counter[tuple[int, Op]] = Counter()

    # One step.

    def step(self, warp: Warp, group: Group) -> bool:
        """Run a group's next instruction. False if it is no more, or waits and may run again."""
        self.at = (warp, group)
        frame = group.frame
        code = frame.code
        if group.pc >= len(code.ops):
            return self._ret(warp, group, group.mask)
        op = code.ops[group.pc] or lower(code, self.cta.layout, group.pc)
        storage, mask = frame.storage, group.mask
        active = mask
        if op.guard >= 0:
            active = self._guard(op, storage, mask)
        if op.members is not None and active:
            return self._meet(warp, group, op, active)
        if op.kind == "plain":
            self._execute(warp, storage, op, mask, active)
            group.pc += 1
            return group.joins is None or self._arrive(warp, group)
        return self._control(warp, group, op, active)

    def _guard(self, op: Op, storage: Storage, mask: int) -> int:
        """The lanes of ``mask`` whose guard is true."""
        values, marks = storage.values[op.guard], storage.undefined[op.guard]
        active = 0
        for lane in lanes_of(mask):
            if values[lane] != op.negated:
                active |= 1 << lane
        if marks is not None and any(marks[lane] for lane in lanes_of(mask)):
            key = (storage.code.function.name, op.pc)
            counts = self.cta.result.undefined_branches
            counts[key] = counts.get(key, 0) + 1
        return active

    def _execute(self, warp: Warp, storage: Storage, op: Op, mask: int, active: int) -> None:
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

    def _announce(self, warp: Warp, storage: Storage, op: Op, mask: int, active: int) -> Step:
        """A step that moves control: counted, and shown before it happens."""
        self.cta.steps += 1
        self.executed.add(op)
        step = self._shown(warp, storage, op, mask, active)
        if self.observer is not None:
            self.observer.before(step)
        return step

    # Control flow.

    def _control(self, warp: Warp, group: Group, op: Op, active: int) -> bool:
        step = self._announce(warp, group.frame.storage, op, group.mask, active)
        if not active:
            self._finish(step)
            group.pc += 1
            return self._arrive(warp, group)
        if op.kind == "barrier":
            return self._barrier(warp, group, op, active, step)
        self._finish(step)
        if op.kind == "branch":
            return self._branch(warp, group, op, active)
        if op.kind == "call":
            return self._call(warp, group, op, active)
        if op.kind == "trap":
            raise calls.Trap
        if op.kind == "exit" or group.frame.parent is None:
            return self._exit(warp, group, active)
        return self._ret(warp, group, active)

    def _finish(self, step: Step) -> None:
        if self.observer is not None:
            self.observer.after(step)

    def _branch(self, warp: Warp, group: Group, op: Op, active: int) -> bool:
        jump = op.detail
        assert isinstance(jump, Jump)
        ways: dict[int, int] = {}
        if active != group.mask:
            ways[op.pc + 1] = group.mask & ~active
        if jump.index < 0:
            place = jump.places[0]
            ways[place] = ways.get(place, 0) | active
        else:
            column = group.frame.storage.values[jump.index]
            for lane in lanes_of(active):
                # An index out of range is undefined behaviour: the last place will do.
                place = jump.places[min(column[lane], len(jump.places) - 1)]
                ways[place] = ways.get(place, 0) | 1 << lane
        return self._part(warp, group, ways, op.pc)

    def _part(self, warp: Warp, group: Group, ways: dict[int, int], pc: int) -> bool:
        """Send lanes different ways; they meet again at the post-dominator of ``pc``."""
        if len(ways) == 1:
            group.pc = next(iter(ways))
            return self._arrive(warp, group)
        self._join(group, group.frame.code.join(pc))
        others = sorted(ways.items())
        first_pc, _ = others[0]
        kept = True
        for place, lanes in others[1:]:
            other = group.split(lanes)
            other.pc = place
            if self._arrive(warp, other):
                warp.groups.append(other)
        group.pc = first_pc
        kept = self._arrive(warp, group)
        if kept and warp.groups and warp.groups[-1] is not group and group in warp.groups:
            # The lanes that stay on the earlier path go first.
            warp.groups.remove(group)
            warp.groups.append(group)
        return kept

    def _join(self, group: Group, place: int) -> None:
        """Have the lanes of a group meet at ``place`` of their function."""
        if not self.converge or place >= len(group.frame.code.ops):
            return
        top = group.joins
        if top is None or top.frame is not group.frame or top.pc != place:
            group.joins = Join(group.frame, place, group.mask, top)

    def _arrive(self, warp: Warp, group: Group) -> bool:
        """Whether the group goes on: not where it must wait for others to meet it."""
        while group.joins is not None:
            join = group.joins
            if join.pc != group.pc or join.frame is not group.frame:
                return True
            join.arrived |= group.mask
            if join.arrived != join.expected:
                warp.parked.add(join)
                if group in warp.groups:
                    warp.groups.remove(group)
                return False
            warp.parked.discard(join)
            group.mask, group.joins = join.arrived, join.outer
        return True

    def _call(self, warp: Warp, group: Group, op: Op, active: int) -> bool:
        found = op.detail
        assert isinstance(found, Call)
        if active != group.mask:
            rest = self._aside(warp, group, active, op.pc + 1)
            if rest is not group:
                warp.groups.append(rest)
        targets = self._targets(group.frame.storage, found, active)
        if len(targets) > 1:
            self._join(group, op.pc + 1)
            for function, lanes in targets[1:]:
                other = group.split(lanes)
                if self._enter(warp, other, op, found, function):
                    warp.groups.append(other)
        return self._enter(warp, group, op, found, targets[0][0])

    def _targets(
        self, storage: Storage, found: Call, active: int
    ) -> list[tuple[Function | None, int]]:
        if found.function is not None:
            return [(found.function, active)]
        by_function: dict[Function | None, int] = {}
        for lane in lanes_of(active):
            function = self.cta.layout.functions.get(storage.values[found.slot][lane])
            by_function[function] = by_function.get(function, 0) | 1 << lane
        return list(by_function.items())

    def _enter(
        self, warp: Warp, group: Group, op: Op, found: Call, target: Function | None
    ) -> bool:
        lanes = lanes_of(group.mask)
        if target is None:
            raise FaultError("call", lanes[0], why="no function at this address")
        frame = calls.call(self.cta, warp, group.frame, found, target, op.pc, lanes)
        if frame is None:
            group.pc = op.pc + 1
            return self._arrive(warp, group)
        self._join(group, op.pc + 1)
        group.frame, group.pc = frame, 0
        return True

    def _ret(self, warp: Warp, group: Group, active: int) -> bool:
        frame = group.frame
        if frame.parent is None:
            return self._exit(warp, group, active)
        calls.give_back(warp, frame, lanes_of(active))
        if active != group.mask:
            back = group.split(active)
            group.pc += 1
            back.frame, back.pc = frame.parent, frame.return_pc
            self._drop(warp, back, active, frame)
            if self._arrive(warp, back):
                warp.groups.insert(0, back)
            return self._arrive(warp, group)
        self._drop(warp, group, active, frame)
        group.frame, group.pc = frame.parent, frame.return_pc
        return self._arrive(warp, group)

    def _drop(self, warp: Warp, group: Group, lanes: int, frame: Frame) -> None:
        """Lanes leave a function: they are expected at none of its joins any more."""
        while group.joins is not None and group.joins.frame is frame:
            join = group.joins
            group.joins = join.outer
            self._leave(warp, join, lanes)

    def _leave(self, warp: Warp, join: Join, lanes: int) -> None:
        join.expected &= ~lanes
        if join.arrived and join.arrived == join.expected:
            self._release(warp, join)

    def _release(self, warp: Warp, join: Join) -> None:
        """Let those who wait at a join go on, complete or not."""
        warp.parked.discard(join)
        group = Group(join.arrived, join.frame, join.pc, join.outer)
        join.expected &= ~join.arrived
        join.arrived = 0
        if self._arrive(warp, group):
            warp.groups.append(group)

    def _exit(self, warp: Warp, group: Group, active: int) -> bool:
        warp.live &= ~active
        join = group.joins
        going = group.mask != active
        group.mask &= ~active
        while join is not None:
            outer = join.outer
            self._leave(warp, join, active)
            join = outer
        for key in list(warp.meetings):
            self._try_meeting(warp, key)
        for number in list(self.cta.barriers):
            self._try_barrier(number)
        if going:
            group.pc += 1
            return self._arrive(warp, group)
        if group in warp.groups:
            warp.groups.remove(group)
        return False

    def _aside(self, warp: Warp, group: Group, active: int, place: int) -> Group:
        """Lanes whose guard is false skip an instruction; all meet after it."""
        self._join(group, place)
        rest = group.split(group.mask & ~active)
        rest.pc = place
        return rest if self._arrive(warp, rest) else group

    # Meetings of a warp's lanes.

    def _meet(self, warp: Warp, group: Group, op: Op, active: int) -> bool:
        assert op.members is not None
        storage = group.frame.storage
        key: object = (storage, op.pc)
        if op.instruction.opcode.mnemonic == "bar" and op.kind == "plain":
            key = "bar.warp.sync"
        if key not in warp.meetings and self._all_there(warp, storage, op, active):
            if op.kind == "plain":
                self._execute(warp, storage, op, group.mask, active)
                group.pc += 1
                return self._arrive(warp, group)
            return self._control(warp, group, op, active)
        if active != group.mask:
            rest = self._aside(warp, group, active, op.pc + 1)
            if rest is not group:
                warp.groups.append(rest)
        if group in warp.groups:
            warp.groups.remove(group)
        warp.meetings.setdefault(key, []).append(group)
        self._try_meeting(warp, key)
        return False

    @staticmethod
    def _all_there(warp: Warp, storage: Storage, op: Op, there: int) -> bool:
        assert op.members is not None
        absent = warp.live & ~there
        if not absent:
            return True
        return not any(op.members(storage, lane) & absent for lane in lanes_of(there))

    def _try_meeting(self, warp: Warp, key: object) -> None:
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
            self._execute(warp, storage, op, mask, mask)
        else:
            step = self._announce(warp, storage, op, mask, mask)
        for group in reversed(groups):
            if step is None:
                group.pc += 1
                if self._arrive(warp, group):
                    warp.groups.append(group)
            elif self._barrier(warp, group, op, group.mask, step):
                warp.groups.append(group)

    # Barriers of the CTA.

    def _barrier(self, warp: Warp, group: Group, op: Op, active: int, step: Step) -> bool:
        if active != group.mask:
            rest = self._aside(warp, group, active, op.pc + 1)
            if rest is not group:
                warp.groups.append(rest)
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
            self._finish(step)
            group.pc += 1
            self._try_barrier(number)
            return self._arrive(warp, group)
        if group in warp.groups:
            warp.groups.remove(group)
        barrier.waiting.append((warp, group, use, step))
        self._try_barrier(number)
        return False

    def _try_barrier(self, number: int) -> None:
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
            self._finish(step)
            group.pc += 1
        barrier.clear()
        for warp, group, _, _ in waiting:
            if self._arrive(warp, group):
                warp.groups.append(group)

    def unpark(self, warp: Warp) -> bool:
        """Let lanes that wait at joins go on without the others; whether there were any."""
        if not warp.parked:
            return False
        for join in list(warp.parked):
            if join.arrived:
                self._release(warp, join)
        return True

    def start(self, code: Code, warp: Warp) -> Frame:
        """The frame of the kernel."""
        storage = calls.enter(warp, code, 0, lanes_of(warp.live))
        return Frame(code, storage)
