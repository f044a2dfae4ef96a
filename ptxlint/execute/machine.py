"""Running groups of lanes: one instruction after another, and where control goes."""

from __future__ import annotations

from ..ptx.ir import Function
from . import calls
from .code import Code, Op
from .control import Call, Jump
from .groups import Frame, Group
from .lower import lower
from .meetings import Meetings
from .result import FaultError
from .steps import lanes_of
from .storage import Storage
from .warp import Warp


class Machine(Meetings):
    """Executes instructions."""

    __slots__ = ()

    def start(self, code: Code, warp: Warp) -> Frame:
        """The frame of the kernel."""
        storage = calls.enter(warp, code, 0, lanes_of(warp.live))
        return Frame(code, storage)

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
            return self.meet(warp, group, op, active)
        if op.kind == "plain":
            self.execute(warp, storage, op, mask, active)
            group.pc += 1
            return group.joins is None or self.arrive(warp, group)
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

    def _control(self, warp: Warp, group: Group, op: Op, active: int) -> bool:
        step = self.announce(warp, group.frame.storage, op, group.mask, active)
        if not active:
            self.finish(step)
            group.pc += 1
            return self.arrive(warp, group)
        if op.kind == "barrier":
            return self.barrier(warp, group, op, active, step)
        self.finish(step)
        if op.kind == "branch":
            return self._branch(warp, group, op, active)
        if op.kind == "call":
            return self._call(warp, group, op, active)
        if op.kind == "trap":
            raise calls.Trap
        if op.kind == "exit" or group.frame.parent is None:
            return self._exit(warp, group, active)
        return self._ret(warp, group, active)

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
        return self.part(warp, group, ways, op.pc)

    def _call(self, warp: Warp, group: Group, op: Op, active: int) -> bool:
        found = op.detail
        assert isinstance(found, Call)
        self.aside(warp, group, active, op.pc + 1)
        targets = self._targets(group.frame.storage, found, active)
        if len(targets) > 1:
            self.join(group, op.pc + 1)
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
            return self.arrive(warp, group)
        self.join(group, op.pc + 1)
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
            self.drop(warp, back, active, frame)
            if self.arrive(warp, back):
                warp.groups.insert(0, back)
            return self.arrive(warp, group)
        self.drop(warp, group, active, frame)
        group.frame, group.pc = frame.parent, frame.return_pc
        return self.arrive(warp, group)

    def _exit(self, warp: Warp, group: Group, active: int) -> bool:
        warp.live &= ~active
        join = group.joins
        going = group.mask != active
        group.mask &= ~active
        while join is not None:
            outer = join.outer
            self.leave(warp, join, active)
            join = outer
        for key in list(warp.meetings):
            self.try_meeting(warp, key)
        for number in list(self.cta.barriers):
            self.try_barrier(number)
        if going:
            group.pc += 1
            return self.arrive(warp, group)
        if group in warp.groups:
            warp.groups.remove(group)
        return False
