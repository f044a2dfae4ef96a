"""Which accesses of a function may be to the same place: alias classes, as bit sets.

Each access that can conflict has a bit. A second bit, ``lane`` places up, stands for the same
access once its address has been made anew (the loop went round): then the same register may hold
another address.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...isa.memory import FENCE, PREFETCH
from ..memory.access import Access
from ..memory.bases import Anchor, Base

PROVEN, MAY, ASSUMED = "proven", "may", "assumed-distinct"
_GENERIC = frozenset({"global", "shared", "local", "generic"})
_PRIVATE = "private"  # of local memory: what no generic address is made of
_LEFT_OUT = frozenset({"const", "texture"})
Key = tuple[str, object]
Extent = tuple[int, "int | None"]  # distance from the anchor, bytes


class Classes:
    """The accesses that can conflict (``members``) and their masks, by number in that list.

    ``named[k]``: the object or parameter of access *k*, None for a pointer that may be anywhere in
    its space. ``conflicts[k]``: all that may be the same place; ``own[k]``: those whose address is
    that of *k* and a known distance (not those of the upper lane), ``overlap[k]`` which of them
    meet it and ``inside[k]`` which lie in it as a whole. ``covers[k]``: the accesses that conflict
    with nothing that *k* does not conflict with.
    """

    __slots__ = (
        "conflicts",
        "covers",
        "inside",
        "lane",
        "members",
        "named",
        "overlap",
        "own",
        "proven",
        "writes",
    )

    def __init__(self, accesses: Iterable[Access], exposed: bool) -> None:
        """``exposed``: whether pointers that come from elsewhere may point into the stack."""
        self.members = [a for a in accesses if _counts(a)]
        self.lane = len(self.members)
        self.named = [_name(access) for access in self.members]
        self.writes = 0
        for k, access in enumerate(self.members):
            if access.writes:
                self.writes |= 1 << k | 1 << (k + self.lane)
        self.conflicts: list[int] = []
        self.covers: list[int] = []
        self._classes(exposed)
        self.own = [0] * self.lane
        self.overlap = [0] * self.lane
        self.inside = [0] * self.lane
        self.proven = [0] * self.lane
        self._anchors()

    def _classes(self, exposed: bool) -> None:
        bits: dict[Key, int] = {}
        spaces: dict[Key, set[str]] = {}
        keys = []
        for k, access in enumerate(self.members):
            name = self.named[k]
            key: Key = ("anywhere", access.space) if name is None else ("object", name)
            keys.append(key)
            bits[key] = bits.get(key, 0) | 1 << k | 1 << (k + self.lane)
            private = access.space == "local" and name is not None and not exposed
            spaces.setdefault(key, set()).add(_PRIVATE if private else access.space)
        conflicts: dict[Key, int] = {}
        covers: dict[Key, int] = {}
        anywhere = [key for key in bits if key[0] == "anywhere"]
        for key in bits:
            others = bits if key[0] == "anywhere" else anywhere
            conflicts[key] = bits[key]
            covers[key] = bits[key]
            for other in others:
                if _meet(spaces[key], spaces[other]):
                    conflicts[key] |= bits[other]
                    if key[0] == "anywhere" and _within(spaces[other], str(key[1])):
                        covers[key] |= bits[other]
        self.conflicts = [conflicts[key] for key in keys]
        self.covers = [covers[key] for key in keys]

    def _anchors(self) -> None:
        groups: dict[Anchor, dict[Extent, list[int]]] = {}
        for k, access in enumerate(self.members):
            if access.anchor is None or access.tensor:
                self.own[k] = self.overlap[k] = 1 << k
                continue
            extents = groups.setdefault(access.anchor, {})
            extents.setdefault((access.displacement, access.size), []).append(k)
        for extents in groups.values():
            masks = {extent: sum(1 << k for k in members) for extent, members in extents.items()}
            whole = sum(masks.values())
            for extent, (overlap, inside, sure) in _extents(masks, whole).items():
                for k in extents[extent]:
                    self.own[k], self.overlap[k] = whole, overlap
                    self.inside[k], self.proven[k] = inside, sure

    def assumed_distinct(self, first: int, second: int) -> bool:
        """Whether only the launch decides if two accesses are to one place: two parameters, or a
        parameter and a global variable.
        """
        one, other = self.named[first], self.named[second]
        if one is None or other is None or one is other:
            return False
        kinds = {base.kind for base in (one, other) if isinstance(base, Base)}
        return "parameter" in kinds and _meet(
            {self.members[first].space}, {self.members[second].space}
        )


def _counts(access: Access) -> bool:
    return (
        access.space not in _LEFT_OUT
        and access.kind not in (PREFETCH, FENCE)
        and (access.reads or access.writes)
    )


def _name(access: Access) -> object:
    """The object that an access surely stays in: its base, or one name for all extern shared."""
    base = access.base
    if base is None or access.tensor or access.role == "descriptor" or base.variable is None:
        return None
    if base.kind not in ("variable", "stack", "parameter"):
        return None
    if base.variable.space == "shared" and base.variable.linkage == "extern":
        return "extern shared"  # they all begin at one address
    return base


def _meet(first: set[str], second: set[str]) -> bool:
    """Whether addresses of these spaces can be the same place."""
    if first & second or (_PRIVATE in (first | second) and "local" in (first | second)):
        return True
    return ("generic" in first and bool(second & _GENERIC)) or (
        "generic" in second and bool(first & _GENERIC)
    )


def _within(spaces: set[str], space: str) -> bool:
    return spaces <= (_GENERIC if space == "generic" else {space})


def _extents(masks: dict[Extent, int], whole: int) -> dict[Extent, tuple[int, int, int]]:
    """For each (distance, bytes) of one anchor: what overlaps it, what lies inside it, and what
    overlaps it for sure. An access of unknown length may overlap all that the anchor has.
    """
    unknown = sum(mask for (_, size), mask in masks.items() if size is None)
    found = {e: (whole, masks[e], 0) for e in masks if e[1] is None}
    known = sorted(e for e in masks if e[1] is not None)
    overlap = {e: masks[e] for e in known}
    inside = {e: masks[e] for e in known}
    for one, other in _meeting(known):
        overlap[one] |= masks[other]
        overlap[other] |= masks[one]
        if _end(other) <= _end(one):
            inside[one] |= masks[other]
        if one[0] == other[0] and _end(one) <= _end(other):
            inside[other] |= masks[one]
    for e in known:
        found[e] = (overlap[e] | unknown, inside[e], overlap[e])
    return found


def _end(extent: Extent) -> int:
    return extent[0] + (extent[1] or 0)


def _meeting(
    known: list[Extent],
) -> Iterator[tuple[Extent, Extent]]:
    """The pairs of ranges that overlap, of a list in ascending order."""
    for i, one in enumerate(known):
        for other in known[i + 1 :]:
            if other[0] >= _end(one):
                break
            yield one, other
