"""Register files: for each slot 32 values, and 32 masks of undefined bits where there are any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Union

from ..ptx.ir import Variable
from .types import FULL

if TYPE_CHECKING:
    from .code import Code
    from .memory import Place
    from .warp import Warp

Marks = Union[list[int], None]  # made at run time, which Python 3.10 needs
_MIX = 0x9E37_79B9_7F4A_7C15


def pattern(seed: int, slot: int, width: int) -> list[int]:
    """What an unwritten register holds: arbitrary, the same for the same seed."""
    mask = (1 << width) - 1
    start = (seed * 0x1000193 + slot + 1) * _MIX
    return [((start + lane * 0xD1B54A32D192ED03) >> 7) & mask for lane in range(32)]


class Storage:
    """The registers of one function at one call depth of a warp.

    ``values[slot]`` has 32 numbers; ``undefined[slot]`` is None where all bits are defined.
    Lanes that got here by different calls share it: each has places of its own. ``places`` and
    ``sources`` are what the memory access at hand resolved to.
    """

    __slots__ = ("bases", "code", "depth", "places", "sources", "undefined", "values", "warp")

    def __init__(self, code: Code, warp: Warp, depth: int) -> None:
        self.code = code
        self.warp = warp
        self.depth = depth
        self.bases = [0] * 32
        self.values: list[list[int]] = []
        self.undefined: list[Marks] = []
        self.places: list[Place | None] = []
        self.sources: list[Place | None] = []
        for slot in range(len(code.slots.widths)):
            self.extend(slot)
        code.slots.storages.append(self)

    def extend(self, slot: int) -> None:
        """Make the slot that the function got last."""
        kind = self.code.slots.kinds[slot]
        marks: Marks = None
        if kind is None:
            width = self.code.slots.widths[slot]
            values = pattern(self.warp.seed, slot, width)
            marks = [(1 << width) - 1] * 32
        elif kind[0] == "constant":
            assert isinstance(kind[1], int)
            values = [kind[1]] * 32
        elif kind[0] == "special":
            values = self.warp.special(str(kind[1]))
        else:
            values = self._addresses(kind[1])
        self.values.append(values)
        self.undefined.append(marks)

    def _addresses(self, variable: object) -> list[int]:
        assert isinstance(variable, Variable)
        offset = self.code.locals[variable]
        return [base + offset for base in self.bases]

    def enter(self, lanes: tuple[int, ...], fresh: bool) -> None:
        """Start a call for these lanes: registers undefined, locals at ``bases``."""
        for slot, kind in enumerate(self.code.slots.kinds):
            if kind is None:
                if not fresh:
                    self._undefine(slot, lanes)
            elif kind[0] == "local":
                self.values[slot] = self._addresses(kind[1])

    def _undefine(self, slot: int, lanes: tuple[int, ...]) -> None:
        width = self.code.slots.widths[slot]
        start = pattern(self.warp.seed + 1, slot, width)
        marks = self.undefined[slot] or [0] * 32
        values = list(self.values[slot])
        for lane in lanes:
            values[lane] = start[lane]
            marks[lane] = (1 << width) - 1
        self.values[slot], self.undefined[slot] = values, marks

    def put(
        self,
        slot: int,
        mask: int,
        lanes: tuple[int, ...],
        results: list[int],
        marks: Marks = None,
    ) -> None:
        """Write ``results`` (one for each of ``lanes``) and their undefined bits."""
        if mask == FULL:
            self.values[slot] = results
            self.undefined[slot] = marks if marks is not None and any(marks) else None
            return
        target = self.values[slot]
        for lane, result in zip(lanes, results, strict=False):
            target[lane] = result
        known = self.undefined[slot]
        if known is None:
            if marks is None:
                return
            known = self.undefined[slot] = [0] * 32
        for lane, mark in zip(lanes, marks or (0,) * 32, strict=False):
            known[lane] = mark
        if marks is None and not any(known):
            self.undefined[slot] = None

    def get(self, slot: int, lanes: tuple[int, ...]) -> list[int]:
        """The values of these lanes."""
        values = self.values[slot]
        return [values[lane] for lane in lanes]

    def marks(self, slot: int, lanes: tuple[int, ...]) -> Marks:
        """The undefined bits of these lanes; None where all are defined."""
        known = self.undefined[slot]
        if known is None:
            return None
        found = [known[lane] for lane in lanes]
        return found if any(found) else None
