"""Claims on member masks speak, and each of them can be contradicted."""

from __future__ import annotations

from typing import Any

import pytest

from ptxlint.analysis.masks.absence import ELSEWHERE, GONE, Absence
from ptxlint.analysis.masks.participants import Participants, Warp

from .claims.masks import Members, Unread
from .test_controls import study


def changed(among: Participants | None, **fields: Any) -> Participants | None:
    """The same with other fields in each warp."""
    if among is None:
        return None
    warps = tuple(warp._replace(**{n: f(warp) for n, f in fields.items()}) for warp in among.warps)
    return among._replace(warps=warps)


class OneLaneLess(Members):
    """Lane 3 is held not to take part."""

    def participants(self, at: int) -> Participants | None:
        return changed(super().participants(at), executing=lambda w: w.executing & ~8)


class OtherMask(Members):
    """Each lane is held to name lane 31 as well, or not."""

    def participants(self, at: int) -> Participants | None:
        return changed(
            super().participants(at), masks=lambda w: {k: m ^ 1 << 31 for k, m in w.masks.items()}
        )


class NextLane(Members):
    """Each lane is held to read the next one."""

    def participants(self, at: int) -> Participants | None:
        def shifted(warp: Warp) -> dict[int, int]:
            return {lane: source ^ 1 for lane, source in warp.sources.items()}

        return changed(super().participants(at), sources=shifted)


class AllGone(Members):
    """Lanes that wait at the join are held to have left."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._absences = _Always(Absence(GONE))

    def _absent(self, moment: Any, among: Any, warp: Warp, met: Any) -> None:
        named = {lane: -1 for lane in warp.masks}
        super()._absent(moment, among, warp._replace(masks=named), met)


class PartElsewhere(Members):
    """Lanes are held to part at an instruction that they never came to."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        last = len(self.subject.kernel.instructions) - 2
        self._absences = _Always(Absence(ELSEWHERE, last))


class _Always(dict[Any, Absence]):
    """One answer to every question."""

    def __init__(self, answer: Absence) -> None:
        super().__init__()
        self._answer = answer

    def __contains__(self, key: object) -> bool:
        return True

    def __getitem__(self, key: Any) -> Absence:
        return self._answer


class UsedAtOnce(Unread):
    """The value is held to be used by the first instruction."""

    def faults(self) -> list[Any]:
        return [fault._replace(use=fault.operation.at) for fault in super().faults()]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (OneLaneLess, "halves_apart"),
        (OtherMask, "halves_apart"),
        (NextLane, "halves_apart"),
        (AllGone, "one_arm"),
        (PartElsewhere, "early_return"),
        (UsedAtOnce, "reads_who_left"),
    ],
    ids=lambda each: getattr(each, "__name__", each),
)
def test_a_wrong_claim_is_contradicted(kind: type[Any], name: str) -> None:
    assert study(kind, "masks.ptx", name).contradictions
    assert not study(kind.__bases__[0], "masks.ptx", name).contradictions


@pytest.mark.parametrize("name", ["reads_who_left", "passes_it_on", "short_warp"])
def test_values_of_absent_lanes_are_spoken_of(name: str) -> None:
    assert study(Unread, "masks.ptx", name).tallies["values of absent lanes"].claims


@pytest.mark.parametrize("name", ["drops_it", "early_return", "one_arm", "halves_apart"])
def test_there_is_nothing_to_say_of_right_code(name: str) -> None:
    assert not study(Unread, "masks.ptx", name).tallies["values of absent lanes"].claims
