"""Groups of lanes that run together, the calls they are in, and where they meet again."""

from __future__ import annotations

from .code import Code
from .control import Call
from .storage import Storage


class Frame:
    """One call of a function by a group of lanes; ``tops`` are their stacks before it."""

    __slots__ = ("call", "code", "parent", "return_pc", "storage", "tops")

    def __init__(
        self,
        code: Code,
        storage: Storage,
        parent: Frame | None = None,
        return_pc: int = 0,
        call: Call | None = None,
    ) -> None:
        self.code = code
        self.storage = storage
        self.parent = parent
        self.return_pc = return_pc
        self.call = call
        self.tops: list[int] = []

    @property
    def depth(self) -> int:
        """How many calls this one is inside of."""
        return self.storage.depth


class Join:
    """A place where the lanes of ``expected`` meet; ``arrived`` are there already.

    ``outer`` is the join that they meet at after this one.
    """

    __slots__ = ("arrived", "expected", "frame", "outer", "pc")

    def __init__(self, frame: Frame, pc: int, expected: int, outer: Join | None) -> None:
        self.frame = frame
        self.pc = pc
        self.expected = expected
        self.arrived = 0
        self.outer = outer


class Group:
    """Lanes (``mask``) at one place. ``spins`` counts their turns without progress."""

    __slots__ = ("frame", "joins", "mask", "pc", "spins")

    def __init__(self, mask: int, frame: Frame, pc: int, joins: Join | None) -> None:
        self.mask = mask
        self.frame = frame
        self.pc = pc
        self.joins = joins
        self.spins = 0

    def split(self, mask: int) -> Group:
        """Take lanes out into a group of their own at the same place."""
        self.mask &= ~mask
        return Group(mask, self.frame, self.pc, self.joins)
