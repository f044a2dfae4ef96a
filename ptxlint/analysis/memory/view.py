"""The accesses of a kernel one by one: each address in words, and what is known of the request."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ...ptx.ir import Function
from ..facts import Facts
from .access import CALL, Access
from .accesses import accesses
from .requests import DATA, KNOWN, STRIDE, UNKNOWN, Request, requests
from .words import Naming, Words

STATES = (KNOWN, STRIDE, DATA, UNKNOWN)
_LEFT_OUT = frozenset({CALL, "fence", "prefetch"})


class Row(NamedTuple):
    """One access. ``words`` is None where the address is not known. ``request`` is None of an
    access that no wavefronts or sectors are worked out for; ``uncounted`` says why.
    """

    access: Access
    words: Words | None
    request: Request | None
    uncounted: str


class Share(NamedTuple):
    """The requests to one space: how many of each state, and on how many each assumption bears."""

    states: dict[str, int]
    assumptions: dict[str, int]

    @property
    def total(self) -> int:
        """All requests to the space."""
        return sum(self.states.values())


class View(NamedTuple):
    """``rows`` in the order of the text; ``legend`` explains names in the words; ``shares`` by
    space, of those that have requests.
    """

    rows: list[Row]
    legend: dict[str, str]
    shares: dict[str, Share]


def view(function: Function, facts: Facts, short: Callable[[str], str] = str) -> View:
    """The accesses of a function; ``short`` as in ``Naming``. Parameters are left out."""
    naming = Naming(function, facts, short)
    asked = {id(request.access): request for request in facts.once(function, requests)}
    rows = []
    for access in facts.once(function, accesses):
        if access.space == "param" or access.kind in _LEFT_OUT:
            continue
        request = asked.get(id(access))
        pattern = access.pattern if request is None else request.pattern
        words = None if pattern is None else naming.words(pattern)
        rows.append(Row(access, words, request, "" if request is not None else _uncounted(access)))
    return View(rows, naming.legend, shares(asked.values()))


def shares(found: Iterable[Request]) -> dict[str, Share]:
    """By space, how much of it is known."""
    by_space: dict[str, list[Request]] = {}
    for request in found:
        by_space.setdefault(request.access.space, []).append(request)
    return {
        space: Share(
            {state: count for state in STATES if (count := _count(some, state))},
            dict(Counter(text for request in some for text in request.assumptions)),
        )
        for space, some in sorted(by_space.items(), reverse=True)
    }


def _count(some: list[Request], state: str) -> int:
    return sum(request.state == state for request in some)


def _uncounted(access: Access) -> str:
    """Why no wavefronts or sectors are worked out."""
    if access.role != "data":
        return access.role
    if access.space == "generic":
        return "which space is not known"
    if access.space not in ("shared", "global"):
        return f"{access.space} memory"
    return "tensor copy" if access.tensor else "one address for many bytes"
