"""What is wrong with an operation's mask: at most one fault each, the first that fits.

``misses``: a lane executes it that its own mask does not name. ``outside``: a value is used that
comes from a lane outside the mask. ``absent``: the mask names lanes that are alive elsewhere.
``unread``: a value is used that comes from a lane which has left, or which the block does not have.
"""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function
from ..facts import Facts
from ..values.assumed import INTERIOR, texts
from ..values.threads import WARP_SIZE
from .absence import ELSEWHERE, GONE, Absence, Absences
from .execution import known
from .operations import FULL, WarpOperation
from .participants import Participants, Warp, in_rows_of_16, lanes_of, participants
from .spread import Spread
from .suspects import suspects

MISSES, OUTSIDE, ABSENT, UNREAD = "misses", "outside", "absent", "unread"


class MaskFault(NamedTuple):
    """One fault of one operation, as a warp shows it.

    ``lane`` executes it, with ``mask``, and shows the fault; of a shuffle whose operands are known,
    it reads lane ``source``. ``lanes`` (a bit set) are those that no mask of theirs names
    (``misses``), those that are named and absent (``absent``), or those that read what they should
    not. ``executing`` is None where it is not known. ``branch`` is the instruction that parted the
    lanes, ``use`` the one that uses the value. ``told`` is whether the block's shape is.
    """

    kind: str
    operation: WarpOperation
    warp: int
    mask: int
    executing: int | None
    lane: int
    lanes: int
    source: int | None = None
    branch: int | None = None
    use: int | None = None
    assumptions: tuple[str, ...] = ()
    told: bool = False


def mask_faults(function: Function, facts: Facts) -> list[MaskFault]:
    """The faults of a function's operations, in order."""
    found = []
    for operation in facts.once(function, suspects):
        among = participants(function, facts, operation)
        if among is None:
            continue
        fault = Judge(function, facts, among).fault()
        if fault is not None and _in_narrow_rows(function, facts, fault):
            found.append(fault)
    return found


def _in_narrow_rows(function: Function, facts: Facts, fault: MaskFault) -> bool:
    """Whether it holds as well where the block is 16 threads wide, if that may be."""
    among = in_rows_of_16(function, facts, fault.operation)
    if among is None:
        return facts.once(function, known).space.alternative is None
    other = Judge(function, facts, among).fault()
    return other is not None and other.kind == fault.kind


def _is_run(mask: int) -> bool:
    """Whether a mask is all lanes from the first on, or up to the last, and no others."""
    rest = ~mask & FULL
    return not mask & (mask + 1) or not rest & (rest + 1)


class Judge:
    """Looks at one operation."""

    def __init__(self, function: Function, facts: Facts, among: Participants) -> None:
        self._function = function
        self._facts = facts
        self._among = among
        self._operation = among.operation

    def fault(self) -> MaskFault | None:
        """The first fault that fits, in the first warp that shows it."""
        for look in (self._misses, self._outside, self._absent, self._unread):
            for warp in self._among.warps:
                found = look(warp)
                if found is not None:
                    return found
        return None

    def _misses(self, warp: Warp) -> MaskFault | None:
        lanes = 0
        for lane, mask in warp.masks.items():
            lanes |= (~mask >> lane & 1) << lane
        # Where it is not known who executes it: whoever does, is not named.
        if not lanes or (not self._among.sure and lanes != warp.executing):
            return None
        # A bound check that is taken to agree may be what leaves the lanes of one run alone.
        if self._among.assumptions & INTERIOR and all(map(_is_run, warp.masks.values())):
            return None
        return self._fault(MISSES, warp, lanes, lanes_of(lanes)[0])

    def _outside(self, warp: Warp) -> MaskFault | None:
        lanes = 0
        for lane, source in warp.sources.items():
            lanes |= (~warp.masks[lane] >> source & 1) << lane
        return self._used(OUTSIDE, warp, lanes)

    def _absent(self, warp: Warp) -> MaskFault | None:
        if not self._among.sure:
            return None
        alive, branch = 0, None
        for lane in lanes_of(warp.named & warp.there & ~warp.executing):
            absence = self._absence(warp, lane)
            if absence.what == ELSEWHERE:
                alive |= 1 << lane
                branch = absence.branch if branch is None else branch
        if not alive:
            return None
        naming = [lane for lane, mask in warp.masks.items() if mask & alive]
        reading = [lane for lane in naming if alive >> warp.sources.get(lane, lane) & 1]
        return self._fault(ABSENT, warp, alive, (reading or naming)[0], branch=branch)

    def _unread(self, warp: Warp) -> MaskFault | None:
        if not self._among.sure:
            return None
        lanes = 0
        for lane, source in warp.sources.items():
            lanes |= (~warp.executing >> source & 1) << lane
        found = self._used(UNREAD, warp, lanes)
        if found is None or found.source is None:
            return None
        if not warp.there >> found.source & 1:
            return found
        absence = self._absence(warp, found.source)
        return found._replace(branch=absence.branch) if absence.what == GONE else None

    def _absence(self, warp: Warp, lane: int) -> Absence:
        absences = Absences(self._function, self._facts, self._among.known)
        return absences.of(self._operation, WARP_SIZE * warp.number + lane)

    def _used(self, kind: str, warp: Warp, lanes: int) -> MaskFault | None:
        """The fault if what these lanes get is used."""
        if not lanes:
            return None
        first = WARP_SIZE * warp.number
        among = self._among
        spread = Spread(
            self._function, self._facts, among.known, self._operation.at, among.executing
        )
        use = spread.first_use(lanes << first)
        if use is None:
            return None
        # A use may be in a lane that got the value from the one that read it wrongly.
        using = use.threads >> first & lanes or lanes
        lane = lanes_of(using)[0]
        return self._fault(kind, warp, lanes, lane, use=use.at)

    def _fault(
        self,
        kind: str,
        warp: Warp,
        lanes: int,
        lane: int,
        branch: int | None = None,
        use: int | None = None,
    ) -> MaskFault:
        return MaskFault(
            kind,
            self._operation,
            warp.number,
            warp.masks[lane] & FULL,
            warp.executing if self._among.sure else None,
            lane,
            lanes,
            warp.sources.get(lane),
            branch,
            use,
            texts(self._among.assumptions),
            self._among.known.space.exact,
        )
