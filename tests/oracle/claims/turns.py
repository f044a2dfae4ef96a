"""Turns of loops, lane by lane."""

from __future__ import annotations

from ptxlint.analysis.flow.loops import loops

from .base import Moment, Subject, lanes


class Turns:
    """How often each lane has come round the loops that it is in, by loop."""

    def __init__(self, subject: Subject) -> None:
        self._facts = subject.facts
        self._counts: dict[object, dict[int, list[int]]] = {}

    def arrive(self, moment: Moment) -> None:
        """Count; to be called once for each moment."""
        flow = moment.flow
        index = flow.block_of[moment.pc]
        if moment.pc != flow.blocks[index].start:
            return
        nest = self._facts.once(moment.function, loops)
        loop = nest.innermost(index)
        while loop is not None and loop.header != index:
            loop = loop.parent
        if loop is None:
            return
        counts = self._counts.setdefault(moment.frame, {}).setdefault(loop.index, [0] * 32)
        for before, mask in moment.came.items():
            again = flow.block_of[before] in loop
            for lane in lanes(mask):
                counts[lane] = counts[lane] + 1 if again else 0
        for lane in lanes(moment.entering):
            counts[lane] = 0

    def of(self, moment: Moment, mask: int) -> dict[tuple[int, ...], int]:
        """Lanes of the mask by their turns, the innermost loop first."""
        nest = self._facts.once(moment.function, loops)
        around = nest.around(moment.flow.block_of[moment.pc])
        if not around:
            return {(): mask}
        known = self._counts.get(moment.frame, {})
        rows = [known.get(loop.index, [0] * 32) for loop in around]
        found: dict[tuple[int, ...], int] = {}
        for lane in lanes(mask):
            key = tuple(row[lane] for row in rows)
            found[key] = found.get(key, 0) | 1 << lane
        return found
