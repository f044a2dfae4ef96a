"""Lanes that part, and the joins at which they meet again."""

from __future__ import annotations

from .cta import Cta
from .groups import Frame, Group, Join
from .observer import Observer
from .steps import Steps
from .warp import Warp


class Divergence(Steps):
    """``converge`` is whether diverged lanes meet at post-dominators."""

    __slots__ = ("converge",)

    def __init__(self, cta: Cta, observer: Observer | None, converge: bool) -> None:
        super().__init__(cta, observer)
        self.converge = converge

    def part(self, warp: Warp, group: Group, ways: dict[int, int], pc: int) -> bool:
        """Send lanes different ways; they meet again at the post-dominator of ``pc``."""
        if len(ways) == 1:
            group.pc = next(iter(ways))
            return self.arrive(warp, group)
        self.join(group, group.frame.code.join(pc))
        others = sorted(ways.items())
        first_pc, _ = others[0]
        kept = True
        for place, lanes in others[1:]:
            other = group.split(lanes)
            other.pc = place
            if self.arrive(warp, other):
                warp.groups.append(other)
        group.pc = first_pc
        kept = self.arrive(warp, group)
        if kept and warp.groups and warp.groups[-1] is not group and group in warp.groups:
            # The lanes that stay on the earlier path go first.
            warp.groups.remove(group)
            warp.groups.append(group)
        return kept

    def join(self, group: Group, place: int) -> None:
        """Have the lanes of a group meet at ``place`` of their function."""
        if not self.converge or place >= len(group.frame.code.ops):
            return
        top = group.joins
        if top is None or top.frame is not group.frame or top.pc != place:
            group.joins = Join(group.frame, place, group.mask, top)

    def arrive(self, warp: Warp, group: Group) -> bool:
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

    def aside(self, warp: Warp, group: Group, active: int, place: int) -> None:
        """Lanes whose guard is false skip an instruction, if there are any; all meet after it."""
        if active == group.mask:
            return
        self.join(group, place)
        rest = group.split(group.mask & ~active)
        rest.pc = place
        if self.arrive(warp, rest):
            warp.groups.append(rest)

    def drop(self, warp: Warp, group: Group, lanes: int, frame: Frame) -> None:
        """Lanes leave a function: they are expected at none of its joins any more."""
        while group.joins is not None and group.joins.frame is frame:
            join = group.joins
            group.joins = join.outer
            self.leave(warp, join, lanes)

    def leave(self, warp: Warp, join: Join, lanes: int) -> None:
        join.expected &= ~lanes
        if join.arrived and join.arrived == join.expected:
            self.release(warp, join)

    def release(self, warp: Warp, join: Join) -> None:
        """Let those who wait at a join go on, complete or not."""
        warp.parked.discard(join)
        group = Group(join.arrived, join.frame, join.pc, join.outer)
        join.expected &= ~join.arrived
        join.arrived = 0
        if self.arrive(warp, group):
            warp.groups.append(group)

    def unpark(self, warp: Warp) -> bool:
        """Let lanes that wait at joins go on without the others; whether there were any."""
        if not warp.parked:
            return False
        for join in list(warp.parked):
            if join.arrived:
                self.release(warp, join)
        return True
