"""Which lanes of a warp execute an instruction, and which take an edge, where that is known."""

from __future__ import annotations

from ptxlint.analysis.values.assumed import texts
from ptxlint.analysis.values.lanes import Threads
from ptxlint.analysis.values.patterns import patterns

from .base import Claim, Moment, Subject, Tally


class Lanes(Claim):
    """Of a warp that executes a place at all, exactly the threads held to do so. Speaks of the
    schedule in which lanes meet again at post-dominators."""

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        x, y, z = subject.block
        self._threads = (1 << x * y * z) - 1
        self._known: dict[tuple[int, ...], Threads | None] = {}

    def before(self, moment: Moment) -> None:
        if moment.function is self.subject.kernel and self.subject.schedule == "reconverge":
            self.look(moment)

    def look(self, moment: Moment) -> None:
        """Compare what is claimed of this step."""

    def compare(self, moment: Moment, place: tuple[int, ...], actual: int) -> None:
        """Hold the lanes ``actual`` against those that ``place`` is known to have."""
        if place not in self._known:
            self._known[place] = self.claim(place)
        known = self._known[place]
        if known is None or self.met(texts(known.assumptions)) is False:
            return
        self.claimed(moment.function.name, *place)
        start = 32 * moment.warp.index
        whole = self.subject.facts.once(moment.function, patterns).space.whole
        there = self._threads >> start & 0xFFFFFFFF
        expected = (known.bits >> start if whole else known.bits) & there
        if actual != expected:
            detail = f"lanes {actual:x} of warp {moment.warp.index}, held to be {expected:x}"
            sure = self.met(texts(known.assumptions))
            self.wrong(moment.function, moment.instruction, detail, sure)

    def claim(self, place: tuple[int, ...]) -> Threads | None:
        """The threads held to be at a place."""
        raise NotImplementedError


class Executing(Lanes):
    """Of instructions: those whose guard is true."""

    kind = "lanes that execute"

    def look(self, moment: Moment) -> None:
        if moment.active:
            self.compare(moment, (moment.pc,), moment.active)

    def claim(self, place: tuple[int, ...]) -> Threads | None:
        return self.subject.facts.once(self.subject.kernel, patterns).threads(*place)


class Edges(Lanes):
    """Of edges: those that come along."""

    kind = "lanes on an edge"

    def look(self, moment: Moment) -> None:
        flow = moment.flow
        block = flow.block_of[moment.pc]
        if moment.pc == flow.blocks[block].start:
            for before, mask in moment.came.items():
                self.compare(moment, (flow.block_of[before], block), mask)

    def claim(self, place: tuple[int, ...]) -> Threads | None:
        return self.subject.facts.once(self.subject.kernel, patterns).edge_threads(*place)
