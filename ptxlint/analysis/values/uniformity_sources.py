"""How the special registers that number threads vary over a warp."""

from __future__ import annotations

from ...ptx.ir import Function
from ..facts import Facts
from ..launch import ONE_DIMENSION, WHOLE_WARPS, launch_shape
from .assumptions import Assumptions
from .uniformity_opcodes import special_level
from .uniformity_states import LANES, SHIFT, WARP_VARIES, with_spread

_WARP = 32
_LANE_BITS = 5


class Coordinates:
    """The states of special registers under a kernel's launch shape.

    Lanes are numbered along x first (CUDA C++ Programming Guide, "Hardware Implementation"). Where
    rows of the block are whole warps, or there is but one row, a warp's lanes differ in the low
    5 bits of ``%tid.x`` alone. If no shape is told this is assumed.
    """

    __slots__ = ("_states",)

    def __init__(self, function: Function, facts: Facts, assumed: Assumptions) -> None:
        shape = facts.once(function, launch_shape)
        self._states: dict[str, int] = {"%laneid": with_spread(0, _LANE_BITS)}
        if shape.block is None:
            text = ONE_DIMENSION if shape.linear else WHOLE_WARPS
            of_warp = assumed.bit(text) << SHIFT | WARP_VARIES
            self._states["%tid.x"] = with_spread(of_warp, _LANE_BITS)
            self._states["%tid.y"] = self._states["%tid.z"] = of_warp
            return
        bits = assumed.bit(shape.assumption) << SHIFT if shape.assumption else 0
        self._told(shape.block, bits)

    def _told(self, block: tuple[int, int, int], bits: int) -> None:
        x, y, z = block
        rows = x % _WARP == 0 or y == z == 1
        for name, size in (("%tid.x", x), ("%tid.y", y), ("%tid.z", z)):
            if size == 1:
                state = bits
            elif rows and name == "%tid.x":
                state = with_spread(bits | (WARP_VARIES if x > _WARP else 0), _LANE_BITS)
            elif rows:
                state = bits | WARP_VARIES
            else:  # below the next power of two
                state = with_spread(bits, (size - 1).bit_length())
            self._states[name] = state

    def special(self, name: str) -> int:
        """The state of a special register."""
        known = self._states.get(name)
        if known is not None:
            return known
        level = special_level(name)
        return LANES if level > 1 else level
