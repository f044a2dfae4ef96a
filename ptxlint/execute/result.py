"""What a run ended with."""

from __future__ import annotations

from dataclasses import dataclass, field


class Unsupported(Exception):
    """An instruction that the interpreter gives no meaning; ``run`` counts, never raises it."""


@dataclass(frozen=True)
class Fault:
    """Why a run stopped: ``kind`` is misaligned, bounds, call, or memory (too much of it).

    ``thread`` is ``%tid``; ``pc`` indexes the instructions of ``function``; ``address`` is in
    the numbering of ``space``, and ``width`` counts the bytes of the access.
    """

    kind: str
    function: str
    pc: int
    thread: tuple[int, int, int]
    space: str = ""
    address: int = 0
    width: int = 0
    message: str = ""


class FaultError(Exception):
    """An access that a GPU would refuse, on its way to ``Result.fault``."""

    def __init__(
        self, kind: str, lane: int, space: str = "", address: int = 0, width: int = 0, why: str = ""
    ) -> None:
        super().__init__(kind)
        self.kind = kind
        self.lane = lane
        self.space = space
        self.address = address
        self.width = width
        self.why = why


@dataclass
class Result:
    """How a run ended and what it left.

    ``status``: ``done``, ``steps`` (``max_steps`` reached), ``fault``, ``deadlock`` (then
    ``waiting`` names threads and places), ``trap``, or ``unsupported`` (the kernel cannot be
    started at all). ``unsupported`` counts steps of opcodes without a meaning here: their
    results are undefined. ``opaque`` counts those whose results are arbitrary but defined
    (matrix, texture, video instructions). ``undefined_branches`` counts, by function and pc,
    guards that depended on undefined bits. ``buffers`` are final contents and undefined-bit
    masks by parameter name; ``printed`` the arguments of ``vprintf`` as raw buffers.
    """

    status: str = "done"
    fault: Fault | None = None
    unsupported: dict[str, int] = field(default_factory=dict)
    opaque: dict[str, int] = field(default_factory=dict)
    undefined_branches: dict[tuple[str, int], int] = field(default_factory=dict)
    steps: int = 0
    executed: int = 0
    buffers: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    printed: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
