"""A warp: its registers, the local memory of its threads, and what addresses mean to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ptx.ir import Register
from .code import Access, Code
from .groups import Group, Join
from .memory import (
    CONST_BASE,
    LOCAL_WINDOW,
    PARAM_BASE,
    SHARED_WINDOW,
    WINDOW_SIZE,
    Place,
    Region,
)
from .result import FaultError
from .storage import Storage
from .types import FULL

if TYPE_CHECKING:
    from .cta import Cta

_M64 = (1 << 64) - 1
# The most local memory of a thread (PTX ISA: 512 KiB).
_MOST_LOCAL = 512 * 1024


class Warp:
    """32 lanes of a CTA. ``live`` is the mask of those that have not exited."""

    __slots__ = (
        "_specials",
        "cta",
        "groups",
        "index",
        "live",
        "local",
        "meetings",
        "parked",
        "seed",
        "spun",
        "storage",
        "storages",
        "tops",
    )  # fmt: skip

    def __init__(self, cta: Cta, index: int, live: int) -> None:
        self.cta = cta
        self.index = index
        self.live = live
        self.seed = cta.launch.seed * 64 + index
        self.local = [Region(0, 0, "local") for _ in range(32)]
        self.tops = [0] * 32
        self.groups: list[Group] = []
        self.meetings: dict[object, list[Group]] = {}
        self.parked: set[Join] = set()
        self.storages: dict[tuple[int, Code], Storage] = {}
        self.storage: Storage | None = None
        self.spun = False
        self._specials: dict[str, list[int]] = {}

    def thread(self, lane: int) -> tuple[int, int, int]:
        """``%tid`` of a lane."""
        return self.cta.launch.thread(32 * self.index + lane)

    def _slot(self, register: Register) -> int | None:
        assert self.storage is not None
        return self.storage.code.slots.of.get(register)

    def value(self, register: Register, lane: int) -> int:
        """The raw bits of a register in the call that the step at hand is in.

        Unsigned, of the register's width; of one that no executed instruction names, 0.
        """
        slot = self._slot(register)
        assert self.storage is not None
        return 0 if slot is None else self.storage.values[slot][lane]

    def undefined(self, register: Register, lane: int) -> int:
        """The undefined bits of a register."""
        slot = self._slot(register)
        assert self.storage is not None
        if slot is None:
            return _M64
        marks = self.storage.undefined[slot]
        return 0 if marks is None else marks[lane]

    def registers(self, register: Register) -> list[int]:
        """The register in all 32 lanes, those included that do not exist."""
        slot = self._slot(register)
        assert self.storage is not None
        return [0] * 32 if slot is None else list(self.storage.values[slot])

    def special(self, name: str) -> list[int]:
        """A special register by lane."""
        found = self._specials.get(name)
        if found is None:
            found = self._specials[name] = self.cta.special(name, self.index)
        return found

    def clock(self, name: str) -> int:
        """A clock: it counts steps."""
        ticks = 16 * self.cta.steps + 1000
        if name.endswith("_hi"):
            return ticks >> 32
        return ticks if name in ("%clock64", "%globaltimer") else ticks & FULL

    def reserve(self, lane: int, start: int, size: int) -> None:
        """Put a thread's stack at ``start`` plus ``size`` bytes; these are undefined."""
        if start + size > _MOST_LOCAL:
            raise FaultError("memory", lane, "local", start, size, "stack overflow")
        region = self.local[lane]
        region.grow(start + size)
        if size:
            region.forget(start, size)
        self.tops[lane] = start + size

    def resolve(
        self, storage: Storage, access: Access, lanes: tuple[int, ...]
    ) -> tuple[list[Place | None], list[int | None], str]:
        """Memory, address and space of an access, by lane. Raises FaultError."""
        bases, size = storage.values[access.base], access.size
        wide = _M64 if storage.code.slots.widths[access.base] > 32 else FULL
        places: list[Place | None] = [None] * 32
        addresses: list[int | None] = [None] * 32
        known = storage.undefined[access.base]
        spaces = set()
        for lane in lanes:
            if known is not None and known[lane]:
                raise FaultError("bounds", lane, access.space, bases[lane], size, "undefined")
            address = (bases[lane] + access.offset) & wide
            space = access.space or window(address)
            if not access.space:
                address = inside(address, space)
            if address & (size - 1):
                raise FaultError("misaligned", lane, space, address, size)
            region = self._region(space, lane, address, size)
            if region is None:
                raise FaultError("bounds", lane, space, address, size)
            places[lane] = (region, address - region.base)
            addresses[lane] = address
            spaces.add(space)
        name = spaces.pop() if len(spaces) == 1 else access.space
        return places, addresses, "param" if name == "call" else name

    def _region(self, space: str, lane: int, address: int, size: int) -> Region | None:
        if space == "shared":
            region = self.cta.layout.shared
        elif space == "global":
            return self.cta.layout.globals.find(address, size)
        elif space in ("local", "call") or (space == "param" and address < PARAM_BASE):
            region = self.local[lane]
        elif space == "const":
            return self.cta.layout.constants.find(address, size)
        else:
            region = self.cta.layout.parameters
        offset = address - region.base
        return region if 0 <= offset <= len(region.data) - size else None


def window(address: int) -> str:
    """The space that a generic address is in."""
    if address < CONST_BASE:
        return "global"
    if SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW_SIZE:
        return "shared"
    if LOCAL_WINDOW <= address < LOCAL_WINDOW + WINDOW_SIZE:
        return "local"
    if PARAM_BASE <= address < PARAM_BASE + WINDOW_SIZE:
        return "param"
    return "const" if address < CONST_BASE + WINDOW_SIZE else "global"


def inside(address: int, space: str) -> int:
    """A generic address in its space's own numbering."""
    if space == "shared":
        return address - SHARED_WINDOW
    return address - LOCAL_WINDOW if space == "local" else address
