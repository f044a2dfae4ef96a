"""Who runs next."""

from __future__ import annotations

import random

from ..ptx.ir import Function
from .cta import Cta
from .groups import Group
from .machine import Machine
from .steps import lanes_of
from .warp import Warp

# Steps of a warp in one go; under ``lane`` a lane runs until it waits, or for so long.
_TURN = 128
_LONG_TURN = 10_000
# Fruitless turns after which lanes that wait to reconverge are let go: one that spins may be
# waiting for them (independent thread scheduling promises that they make progress).
_PATIENCE = 200


class Scheduler:
    """Runs a CTA to its end."""

    def __init__(self, cta: Cta, machine: Machine, kernel: Function) -> None:
        self.cta = cta
        self.machine = machine
        self.kind = cta.launch.schedule
        self.random = random.Random(cta.launch.seed)
        code = cta.code(kernel)
        for warp in cta.warps:
            frame = machine.start(code, warp)
            for mask in self._parts(warp.live):
                warp.groups.append(Group(mask, frame, 0, None))
            warp.groups.reverse()

    def _parts(self, live: int) -> list[int]:
        lanes = lanes_of(live)
        if self.kind == "reconverge":
            return [live]
        if self.kind == "lane":
            return [1 << lane for lane in lanes]
        count = self.random.choice((2, 4, 8, 32))
        parts = [0] * count
        for lane in lanes:
            parts[self.random.randrange(count)] |= 1 << lane
        return [part for part in parts if part]

    def run(self) -> str:
        """The status at the end."""
        limit = self.cta.launch.max_steps
        while self.cta.steps < limit:
            for warp in self.cta.warps:
                if warp.parked and warp.meetings and not warp.groups:
                    # Some wait for others of their warp, who wait for them at a join.
                    self.machine.unpark(warp)
            ready = [warp for warp in self.cta.warps if warp.groups]
            if not ready:
                if any([self.machine.unpark(warp) for warp in self.cta.warps]):
                    continue
                return self._end()
            if self.kind == "random":
                self._random_turn(ready, limit)
                continue
            for warp in ready:
                while warp.groups and self._turn(warp, limit):
                    pass
        return "steps"

    def _turn(self, warp: Warp, limit: int) -> bool:
        """Run the warp's last group; whether the warp should go on at once."""
        group = warp.groups[-1]
        length = _LONG_TURN if self.kind == "lane" else _TURN
        self._go(warp, group, min(length, limit - self.cta.steps))
        if self.cta.steps >= limit:
            return False
        if not warp.spun and self.kind == "lane":
            return True
        if warp.spun:
            warp.spun = False
            group.spins += 1
            if len(warp.groups) > 1 and warp.groups[-1] is group:
                warp.groups.insert(0, warp.groups.pop())
            if group.spins > _PATIENCE:
                group.spins = 0
                self.machine.unpark(warp)
        return False

    def _random_turn(self, ready: list[Warp], limit: int) -> None:
        warp = self.random.choice(ready)
        group = self.random.choice(warp.groups)
        warp.groups.remove(group)
        warp.groups.append(group)
        self._go(warp, group, min(self.random.randint(1, 24), limit - self.cta.steps))
        warp.spun = False

    def _go(self, warp: Warp, group: Group, count: int) -> None:
        step = self.machine.step
        groups = warp.groups
        end = self.cta.steps + count
        while self.cta.steps < end:
            if not step(warp, group):
                return
            if warp.spun or groups[-1] is not group:
                return

    def _end(self) -> str:
        for warp in self.cta.warps:
            if warp.live:
                self._explain()
                return "deadlock"
        return "done"

    def _explain(self) -> None:
        waiting = self.cta.result.waiting
        for warp in self.cta.warps:
            for groups in warp.meetings.values():
                for group in groups:
                    waiting.append(_place(warp, group, "for lanes of the warp"))
        for number, barrier in self.cta.barriers.items():
            for warp, group, _, _ in barrier.waiting:
                waiting.append(_place(warp, group, f"at barrier {number}"))


def _place(warp: Warp, group: Group, why: str) -> str:
    name = group.frame.code.function.name
    lane = lanes_of(group.mask)[0]
    return (
        f"warp {warp.index} lanes {group.mask:#x} (thread {warp.thread(lane)}) wait {why} "
        f"at instruction {group.pc} of {name}"
    )
