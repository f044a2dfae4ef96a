"""What to run a kernel with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Union


@dataclass(frozen=True)
class Buffer:
    """A kernel's pointer argument: fresh global memory of ``size`` bytes, base 256-aligned.

    ``data`` are its first bytes; None: all bytes are undefined (and tracked as such). Bytes
    after the end of ``data`` are undefined too.
    """

    size: int
    data: bytes | None = None


Parameter = Union[int, bytes, Buffer, Mapping[int, Union[bytes, Buffer]]]


@dataclass(frozen=True)
class Launch:
    """One CTA of a grid, and how its threads are interleaved.

    ``parameters`` by the kernel's parameter names: scalars as raw bits (int) or bytes in memory
    order, pointers as ``Buffer``, structures as bytes and buffers by offset; what is missing is
    undefined. ``dynamic_shared`` counts bytes.
    ``schedule`` is ``reconverge`` (lanes of a warp in lockstep, divergence ends at the immediate
    post-dominator), ``lane`` (each lane alone until it meets others) or ``random`` (lanes and
    warps interleaved by ``seed``). ``seed`` also chooses what undefined registers hold.
    ``max_steps`` bounds the steps (one instruction of one group of lanes) in all.
    ``globals`` replace initialisers of module variables. ``async_copies``: ``late`` lets the
    data of asynchronous copies land at the wait, ``early`` at the copy.
    """

    block: tuple[int, int, int] = (32, 1, 1)
    grid: tuple[int, int, int] = (1, 1, 1)
    ctaid: tuple[int, int, int] = (0, 0, 0)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    dynamic_shared: int = 0
    schedule: str = "reconverge"
    seed: int = 0
    max_steps: int = 200_000
    globals: Mapping[str, bytes] = field(default_factory=dict)
    async_copies: str = "late"

    @property
    def threads(self) -> int:
        """Threads of the CTA."""
        x, y, z = self.block
        return x * y * z

    def thread(self, linear: int) -> tuple[int, int, int]:
        """``%tid`` of the thread of that linear index."""
        x, y, _ = self.block
        return linear % x, linear // x % y, linear // (x * y)
