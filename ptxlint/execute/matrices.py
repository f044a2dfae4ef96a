"""``ldmatrix``, ``stmatrix``, ``movmatrix`` (PTX ISA, "Warp-level Matrix Instructions").

An 8 by 8 matrix of 16-bit elements: lane ``4*r + c`` has elements ``(r, 2c)`` and ``(r, 2c+1)``.
Row ``r`` of matrix ``i`` is at the address that lane ``8*i + r`` gives.
"""

from __future__ import annotations

from ..ptx.ir import Instruction
from .builder import Builder
from .code import Access, Op
from .result import FaultError, Unsupported
from .storage import Storage
from .types import TYPES
from .warp_ops import all_members

_COUNTS = {"x1": 1, "x2": 2, "x4": 4}
B32 = TYPES["b32"]
_Half = tuple[int, int]


def _setup(builder: Builder, instruction: Instruction, op: Op, address: int) -> int:
    modifiers = instruction.opcode.modifiers
    if "m8n8" not in modifiers or (modifiers[-1] != "b16" and "b16" not in modifiers):
        raise Unsupported("shape")
    shared = any(m.startswith("shared") for m in modifiers)
    slot, offset, _ = builder.address(instruction.operands[address])
    op.access = Access("shared" if shared else "", slot, offset, 16)
    all_members(op)
    return next(_COUNTS[m] for m in modifiers if m in _COUNTS)


def addressing_lanes(instruction: Instruction) -> int:
    """The mask of lanes whose addresses count."""
    count = next(_COUNTS[m] for m in instruction.opcode.modifiers if m in _COUNTS)
    return (1 << 8 * count) - 1


def _element(matrix: int, row: int, column: int, transposed: bool) -> tuple[int, int]:
    """The addressing lane and the byte offset of an element."""
    if transposed:
        row, column = column, row
    return 8 * matrix + row, 2 * column


def ldmatrix(builder: Builder, instruction: Instruction, op: Op) -> None:
    """Rows from shared memory, spread over the lanes."""
    count = _setup(builder, instruction, op, 1)
    transposed = "trans" in instruction.opcode.modifiers
    targets = [builder.target(each) for each in builder.elements(instruction.operands[0])]

    def half(storage: Storage, matrix: int, lane: int, which: int) -> _Half:
        at, offset = _element(matrix, lane >> 2, 2 * (lane & 3) + which, transposed)
        place = storage.places[at]
        if place is None:
            return 0, 0xFFFF
        region, base = place
        return region.read(base + offset, 2), region.marks(base + offset, 2)

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for matrix, target in enumerate(targets[:count]):
            found, marks = [], []
            for lane in lanes:
                low, high = (half(storage, matrix, lane, which) for which in (0, 1))
                found.append(low[0] | high[0] << 16)
                marks.append(low[1] | high[1] << 16)
            storage.put(target, mask, lanes, found, marks)

    op.run = run


def stmatrix(builder: Builder, instruction: Instruction, op: Op) -> None:
    """The other way round."""
    count = _setup(builder, instruction, op, 0)
    transposed = "trans" in instruction.opcode.modifiers
    sources = builder.sources(builder.elements(instruction.operands[1]), B32)

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for matrix, source in enumerate(sources[:count]):
            values, known = storage.values[source], storage.undefined[source]
            for lane in lanes:
                for which in (0, 1):
                    at, offset = _element(matrix, lane >> 2, 2 * (lane & 3) + which, transposed)
                    place = storage.places[at]
                    if place is None:
                        raise FaultError("bounds", lane, "shared", 0, 16, "row of an absent lane")
                    mark = known[lane] >> 16 * which & 0xFFFF if known else 0
                    value = values[lane] >> 16 * which & 0xFFFF
                    place[0].write(place[1] + offset, 2, value, mark)

    op.run = run


def movmatrix(builder: Builder, instruction: Instruction, op: Op) -> None:
    """The transpose of a matrix in registers."""
    source = builder.source(instruction.operands[1], B32)
    target = builder.target(instruction.operands[0])
    all_members(op)

    def pick(column: list[int], lane: int) -> int:
        found = 0
        for which in (0, 1):
            row, at = 2 * (lane & 3) + which, lane >> 2
            found |= (column[4 * row + at // 2] >> 16 * (at & 1) & 0xFFFF) << 16 * which
        return found

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        known = storage.undefined[source]
        found = [pick(storage.values[source], lane) for lane in lanes]
        marks = [pick(known, lane) for lane in lanes] if known else None
        storage.put(target, mask, lanes, found, marks)

    op.run = run
