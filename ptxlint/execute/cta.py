"""A CTA: what its threads share, and the special registers."""

from __future__ import annotations

from ..ptx.ir import Function
from .async_copies import Copies
from .barriers import Barrier
from .code import Code
from .launch import Launch
from .layout import Layout
from .result import Result
from .types import FULL
from .warp import Warp

_ALL_LANES = range(32)


class Cta:
    """Threads of one CTA and their memory."""

    __slots__ = (
        "barriers", "codes", "copies", "heap", "launch", "layout", "result", "steps", "warps",
    )  # fmt: skip

    def __init__(self, layout: Layout, launch: Launch, result: Result) -> None:
        self.layout = layout
        self.launch = launch
        self.result = result
        self.steps = 0
        self.copies = Copies(launch.async_copies == "late")
        self.barriers: dict[int, Barrier] = {}
        self.codes: dict[str, Code] = {}
        self.heap: dict[int, int] = {}
        self.warps: list[Warp] = []
        threads = launch.threads
        for index in range((threads + 31) // 32):
            live = (1 << min(32, threads - 32 * index)) - 1
            self.warps.append(Warp(self, index, live))

    def code(self, function: Function) -> Code:
        """The function, ready to run."""
        found = self.codes.get(function.name)
        if found is None:
            found = self.codes[function.name] = Code(function, self.layout)
        return found

    def special(self, name: str, warp: int) -> list[int]:
        """A special register's value in each lane of a warp."""
        base, _, component = name[1:].partition(".")
        axis = "xyzw".find(component) if component else -1
        if base == "tid":
            return [self._axis(self.launch.thread(32 * warp + i), axis, 0) for i in _ALL_LANES]
        if base == "laneid":
            return list(_ALL_LANES)
        if base.startswith("lanemask_"):
            return [_lanemask(base[9:], lane) for lane in _ALL_LANES]
        return [self._common(base, axis, warp)] * 32

    @staticmethod
    def _axis(triple: tuple[int, int, int], axis: int, other: int) -> int:
        return triple[axis] if 0 <= axis < 3 else other

    def _common(self, base: str, axis: int, warp: int) -> int:
        launch = self.launch
        if base in ("ntid", "nctaid", "nclusterid"):
            return self._axis(launch.block if base == "ntid" else launch.grid, axis, 1)
        if base in ("ctaid", "clusterid"):
            return self._axis(launch.ctaid, axis, 0)
        if base == "cluster_nctaid":
            return 1
        sizes = {
            "warpid": warp,
            "nwarpid": 64,
            "nsmid": 132,
            "smid": sum(launch.ctaid) % 132,
            "gridid": 1,
            "cluster_nctarank": 1,
            "dynamic_smem_size": launch.dynamic_shared,
            "total_smem_size": len(self.layout.shared.data),
            "aggr_smem_size": len(self.layout.shared.data),
        }
        return sizes.get(base, 0)


def _lanemask(kind: str, lane: int) -> int:
    below = (1 << lane) - 1
    own = 1 << lane
    masks = {"eq": own, "lt": below, "le": below | own, "gt": ~(below | own), "ge": ~below}
    return masks[kind] & FULL
