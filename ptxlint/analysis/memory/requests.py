"""What the accesses of a function ask of memory, a warp at a time: wavefronts and sectors."""

from __future__ import annotations

from typing import Any

from ...ptx.ir import Address, Function, Module
from ..facts import Facts
from ..values.assumed import texts
from ..values.pattern import Pattern
from ..values.patterns import Patterns, patterns, patterns_in_rows_of_16
from ..values.symbols import Symbol
from .access import Access
from .accesses import accesses
from .banks import LANES, WORD, Lanes, Wavefronts, wavefronts
from .bases import Base
from .causes import Cause, cause
from .glance import doubtful
from .sectors import LINE, Sectors, sectors

KNOWN, STRIDE, DATA, UNKNOWN = "known", "stride", "data", "unknown"
ALL_LANES = "all lanes of the warp take part"
POINTERS = "kernel pointers are 256-byte aligned, as cudaMalloc returns them"
ROWS_APART = "rows of an unknown stride do not overlap"
SPACES = ("shared", "global")
_OF_MALLOC = 8  # cudaMalloc gives multiples of 256 bytes
_MATRIX = frozenset({"ldmatrix", "stmatrix"})
_BY_LANE = frozenset({"ld", "ldu", "st", "atom", "red"}) | _MATRIX
_KINDS = {
    "read": "read",
    "async-read": "read",
    "write": "write",
    "async-write": "write",
    "atomic": "atomic",
    "reduce": "atomic",
}


class Request:
    """One access of shared or global memory, as a warp makes it.

    ``state``: ``known`` (how all lanes differ), ``stride`` (up to rows of an unknown stride),
    ``data`` (the index was loaded, or is the result of a scan) or ``unknown``; of the last two,
    ``cause`` says why. ``lanes``: (lane, bytes from lane 0's address) of the lanes that take part
    in the warp where it is worst, ``warp`` (None: any); ``every_warp`` has those of all warps that
    differ. ``everyone``: it was taken that all lanes take part; ``pointers``: that pointers are
    aligned. ``wavefronts`` of a shared request, ``sectors`` of a global one; None where not known.
    ``assumed`` as bits.
    """

    __slots__ = (
        "_known",
        "access",
        "assumed",
        "every_warp",
        "everyone",
        "lanes",
        "pattern",
        "pointers",
        "sectors",
        "warp",
        "wavefronts",
    )

    def __init__(self, access: Access, pattern: Pattern | None, known: Patterns) -> None:
        self.access = access
        self.pattern = pattern
        self._known = known
        self.assumed = 0
        self.everyone = False
        self.pointers = False
        self.lanes: Lanes = ()
        self.every_warp: tuple[Lanes, ...] = ()
        self.warp: int | None = None
        self.wavefronts: Wavefronts | None = None
        self.sectors: Sectors | None = None
        if pattern is not None:
            self.assumed = pattern.assumptions

    @property
    def state(self) -> str:
        """``known``, ``stride``, ``data`` or ``unknown``."""
        if self.pattern is not None:
            return STRIDE if self.pattern.has_strides else KNOWN
        why = self.cause
        return DATA if why is not None and why.is_data else UNKNOWN

    @property
    def cause(self) -> Cause | None:
        """Of one that is not known, why."""
        operand = self.access.operand
        if self.pattern is not None or not isinstance(operand, Address):
            return None
        return cause(self._known, self.access.index, operand)

    @property
    def place(self) -> Symbol | Base | int:
        """What the address counts from: the object or pointer that its pattern names, else
        ``Access.base``, which costs more, else the instruction's index.
        """
        terms = () if self.pattern is None else self.pattern.terms
        found = [
            s for s, factor in terms if factor == 1 and (s.kind == "base" or _may_be_pointer(s))
        ]
        if len(found) == 1:
            return found[0]
        return self.access.base or self.access.index

    @property
    def is_uniform(self) -> bool:
        """Whether all lanes use one address."""
        return self.pattern is not None and self.pattern.is_uniform

    @property
    def why(self) -> str:
        """Of one that is not known, why, in words."""
        why = self.cause
        return "" if why is None else why.words

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the figures rest on, in words."""
        more = []
        if self.everyone and not self.is_uniform:
            more.append(ALL_LANES)
        if self.pointers and self.sectors is not None:
            more.append(POINTERS)
        if self.state == STRIDE and self.sectors is not None:
            more.append(ROWS_APART)
        return (*texts(self.assumed), *more)

    @property
    def size(self) -> int | None:
        """Bytes of one lane's access; of a matrix, of a row."""
        return request_size(self.access)

    @property
    def kind(self) -> str:
        """``read``, ``write`` or ``atomic``."""
        return _KINDS[self.access.kind]


def by_lane(access: Access) -> bool:
    """Whether each lane gives its own address in shared or global memory."""
    if access.space not in SPACES or access.role != "data" or access.kind not in _KINDS:
        return False
    opcode = access.instruction.opcode
    if opcode.mnemonic == "cp":
        return "bulk" not in opcode.modifiers and not access.tensor
    return opcode.mnemonic in _BY_LANE and "bulk" not in opcode.modifiers


def request_size(access: Access) -> int | None:
    """Bytes of one lane's access, None where the text does not say."""
    return 16 if access.instruction.opcode.mnemonic in _MATRIX else access.size


def matrices(access: Access) -> int:
    """The groups of 8 rows of an ldmatrix or stmatrix; 0 of anything else (PTX ISA, ldmatrix)."""
    opcode = access.instruction.opcode
    if opcode.mnemonic not in _MATRIX:
        return 0
    number = next((int(m[1]) for m in opcode.modifiers if m in ("x1", "x2", "x4")), 1)
    return number * 2 if "m16n16" in opcode.modifiers else number


def requests(function: Function, facts: Facts) -> list[Request]:
    """Every request of the function to shared and global memory, in the order of the text."""
    facts.once(function, patterns).solve_all()
    return [
        facts.once(function, _Requests).of(access, access.operand)
        for access in facts.once(function, accesses)
        if by_lane(access) and isinstance(access.operand, Address)
    ]


def doubtful_requests(function: Function, facts: Facts) -> list[Request]:
    """Those that are not surely well laid out (``glance.doubtful``)."""
    chosen = facts.once(function, doubtful)
    return [
        facts.once(function, _Requests).of(access, access.operand)
        for access in facts.once(function, accesses)
        if id(access.instruction) in chosen
        if by_lane(access) and isinstance(access.operand, Address)
    ]


class _Requests:
    """The requests of one function, each made when it is asked for."""

    def __init__(self, function: Function, facts: Facts) -> None:
        self._patterns = facts.once(function, patterns)
        self._facts = facts
        self._made: dict[int, Request] = {}

    def of(self, access: Access, address: Address) -> Request:
        """The request that an access with its own address in each lane makes."""
        request = self._made.get(id(access))
        if request is None:
            pattern = self._patterns.address(access.index, address)
            request = self._made[id(access)] = Request(access, pattern, self._patterns)
            measure(request, self._patterns, self._facts)
        return request


def in_rows_of_16(request: Request, function: Function, facts: Facts) -> Request:
    """The same request where blockDim.x is 16; the request itself where that changes nothing."""
    known = facts.once(function, patterns_in_rows_of_16)
    operand = request.access.operand
    if known is None or not isinstance(operand, Address):
        return request
    pattern = known.address(request.access.index, operand)
    other = Request(request.access, pattern, known)
    measure(other, known, facts)
    return other


def measure(request: Request, known: Patterns, facts: Facts) -> None:
    """Fill in the lanes, and the wavefronts or sectors of a request whose pattern is known."""
    pattern, size = request.pattern, request.size
    if pattern is None or size is None:
        return
    executing = known.threads(request.access.index)
    if executing is None:
        bits, request.everyone = known.space.everyone, True
    else:
        bits = executing.bits
        request.assumed |= executing.assumptions
    memory = facts.of_module(_measured)
    shared = request.access.space == "shared"
    # What a copy takes was not found to follow from its addresses (see ``banks``).
    if shared and (request.state == STRIDE or request.access.instruction.opcode.mnemonic == "cp"):
        return
    place, aligned = _place(request, pattern)
    key = (
        shared,
        pattern.vector,
        tuple([steps for _, steps in pattern.lanes]),
        place,
        aligned,
        bits,
        known.space.exact,
        size,
        request.kind,
        matrices(request.access),
    )
    if key not in memory:
        memory[key] = _worst(request, known)
    figures, request.warp, request.lanes, request.every_warp = memory[key]
    if isinstance(figures, Wavefronts):
        request.wavefronts = figures
    else:
        request.sectors = figures


def _measured(module: Module, facts: Facts) -> dict[Any, Any]:
    """What was worked out for equal requests; filled as they come."""
    return {}


def by_warp(request: Request, known: Patterns) -> list[tuple[int, Lanes, Wavefronts | Sectors]]:
    """(warp, its lanes that take part, what they take) for each warp of the block that has any.

    Of a block that is not known, the first warp only. Nothing where the pattern is not known.
    """
    pattern, size = request.pattern, request.size
    if pattern is None or size is None:
        return []
    executing = known.threads(request.access.index)
    bits = known.space.everyone if executing is None else executing.bits
    space = known.space
    warps = range(-(-space.size // LANES)) if space.whole and space.exact else range(1)
    place, aligned = _place(request, pattern)
    found: list[tuple[int, Lanes, Wavefronts | Sectors]] = []
    for warp in warps:
        lanes = _lanes(pattern, bits, warp)
        if lanes:
            found.append((warp, lanes, _figures(request, pattern, lanes, place, aligned, warp)))
    return found


def _place(request: Request, pattern: Pattern) -> tuple[int, int]:
    """(the constant part, of what all the rest is a multiple), as far as they matter."""
    place = pattern.const % (WORD if request.access.space == "shared" else LINE)
    return place, 1 << min(_zeros(request, pattern), 7)


def _zeros(request: Request, pattern: Pattern) -> int:
    """The low bits that are 0 in what is symbolic, if a pointer that the launch passes is aligned
    as cudaMalloc aligns.
    """
    pointers = [s for s, factor in pattern.terms if factor == 1 and _may_be_pointer(s)]
    if request.access.space == "shared" or len(pointers) != 1 or pointers[0].zeros >= _OF_MALLOC:
        return pattern.zeros
    request.pointers = True
    others = [
        symbol.zeros + (factor & -factor).bit_length() - 1
        for symbol, factor in pattern.terms
        if symbol is not pointers[0]
    ]
    rows = [symbol.zeros + steps.zeros for symbol, steps in pattern.lanes]
    return min([_OF_MALLOC, *others, *rows])


def _may_be_pointer(symbol: Symbol) -> bool:
    origin = symbol.origin  # of a parameter: its name, the offset into it, the width that is read
    return symbol.kind == "parameter" and isinstance(origin, tuple) and origin[-1] == 64


def _worst(
    request: Request, known: Patterns
) -> tuple[Wavefronts | Sectors | None, int | None, Lanes, tuple[Lanes, ...]]:
    """What the warp that takes most takes, which it is, its lanes; the lanes of all that differ."""
    worst: tuple[Wavefronts | Sectors | None, int | None, Lanes] = (None, None, ())
    found = by_warp(request, known)
    for warp, lanes, figures in found:
        if worst[0] is None or _cost(figures) > _cost(worst[0]):
            worst = (figures, warp if len(found) > 1 else None, lanes)
    return (*worst, tuple({tuple(lanes): lanes for _, lanes, _ in found}.values()))


def _cost(figures: Wavefronts | Sectors) -> tuple[float, int]:
    if isinstance(figures, Wavefronts):
        return figures.ways, figures.total
    return figures.low / figures.minimum, figures.low


def _lanes(pattern: Pattern, bits: int, warp: int) -> list[tuple[int, int]]:
    """(lane, offset) of a warp's lanes that take part, without what is symbolic."""
    mask = bits >> (warp * LANES)
    first = warp * LANES
    if pattern.vector is None:
        return [(lane, 0) for lane in range(LANES) if mask >> lane & 1]
    values = pattern.vector.values[first : first + LANES]
    return [(lane, value) for lane, value in enumerate(values) if mask >> lane & 1]


def _figures(
    request: Request, pattern: Pattern, lanes: Lanes, place: int, aligned: int, warp: int
) -> Wavefronts | Sectors:
    size, kind = request.size or 1, request.kind
    if request.access.space == "shared":
        return _banks(request, lanes, size, place, aligned)
    rows: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for lane, offset in lanes:
        thread = warp * LANES + lane
        row = tuple([steps.values[thread] for _, steps in pattern.lanes])
        rows.setdefault(row, []).append((lane, offset))
    found = []
    for row_lanes in rows.values():
        start, known = _start(row_lanes, size, place, aligned)
        found.append(sectors(_moved(row_lanes, start), size, kind, known))
    if len(found) == 1:
        return found[0]
    return Sectors(*[sum(column) for column in zip(*found, strict=True)])


def _banks(request: Request, lanes: Lanes, size: int, place: int, aligned: int) -> Wavefronts:
    start, known = _start(lanes, size, place, aligned)
    # Where in its word the base lies matters only for accesses below a word.
    starts = range(start % known, WORD, known) if known < WORD else (start,)
    number = matrices(request.access)
    return min([wavefronts(_moved(lanes, at), size, request.kind, number) for at in starts])


def _moved(lanes: Lanes, start: int) -> Lanes:
    return [(lane, offset + start) for lane, offset in lanes]


def _start(lanes: Lanes, size: int, place: int, aligned: int) -> tuple[int, int]:
    """(where the offsets start, of what the symbolic part is a multiple).

    An access that is not at a multiple of its size faults: where less is known, that is taken.
    """
    natural = size & -size
    return (place, aligned) if aligned >= natural else (-lanes[0][1] % natural, natural)
