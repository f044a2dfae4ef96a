"""Instructions that read memory, other lanes, special registers and addresses of objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...ptx.ir import (
    Address,
    Instruction,
    Symbol,
    Variable,
    Vector,
)
from ..objects import alignment_of
from .algebra import Algebra
from .assumed import CONVERGENT
from .pattern import Pattern
from .predicates import with_assumptions
from .shifts import shift_right, truncate, widen
from .symbols import BLOCK, EVERY_BIT, GRID, WARP
from .threads import WARP_SIZE
from .types import types_of

if TYPE_CHECKING:
    from .reading import Reader

_ORDERED = frozenset({"volatile", "relaxed", "acquire", "mmio"})
_NAMED = frozenset({"global", "shared", "shared::cta", "shared::cluster"})
_WINDOWED = frozenset({"shared", "shared::cta", "shared::cluster", "const", "param"})


def fresh(reader: Reader, index: int, mask: int, scope: int, width: int) -> Pattern | None:
    """A symbol for what one execution of an instruction gives to all its lanes."""
    loops = reader.around()
    if loops is None:
        return None
    symbol = reader.algebra.symbols.get(
        "result", (reader.instruction, index), mask=mask, loops=loops, scope=scope
    )
    return reader.algebra.symbol(symbol, width, CONVERGENT)


class _Load:
    """What the modifiers of a load say: ``differs`` where it is never known to be the same in all
    lanes; ``mask`` has the bits that may be 1 in an element.
    """

    __slots__ = ("constant", "differs", "mask", "named", "param", "width")

    def __init__(self, modifiers: tuple[str, ...]) -> None:
        types = types_of(modifiers)
        self.width = types.width
        ordered = not _ORDERED.isdisjoint(modifiers)
        self.differs = "local" in modifiers or ordered or types.width > 64
        self.mask = EVERY_BIT if types.width >= 64 or types.signed else (1 << types.width) - 1
        self.param = any(m.startswith("param") for m in modifiers)
        self.constant = "const" in modifiers or "nc" in modifiers
        self.named = not _NAMED.isdisjoint(modifiers)


_LOADS: dict[tuple[str, ...], _Load] = {}


def load(reader: Reader, instruction: Instruction, index: int) -> Pattern | None:
    """ld and ldu: a kernel's parameter, or one address for all lanes."""
    opcode = instruction.opcode
    what = _LOADS.get(opcode.modifiers)
    if what is None:
        what = _LOADS[opcode.modifiers] = _Load(opcode.modifiers)
    if what.differs:
        return None
    address = instruction.operands[1] if len(instruction.operands) > 1 else None
    if not isinstance(address, Address):
        return None
    where = reader.address(address)
    if where is None or not where.is_uniform:
        return None
    if what.param:
        return _parameter(reader, where, what, index)
    if what.constant:
        return reader.algebra.derived((str(opcode), index), (where,), 64, what.mask)
    if not what.named and reader.may_have_stack:
        return None
    found = fresh(reader, index, what.mask, WARP, 64)
    return None if found is None else with_assumptions(reader.algebra, found, where.assumptions)


def _parameter(reader: Reader, where: Pattern, what: _Load, index: int) -> Pattern | None:
    """ld.param of a kernel: the same in the whole grid. Its own parameters only: a space of that
    name is also where calls leave their results.
    """
    if not reader.kernel:
        return None
    mask = what.mask
    objects = [s.origin for s, _ in where.terms if s.kind == "base"]
    if not any(isinstance(v, Variable) and reader.is_parameter(v) for v in objects):
        return None
    variable = objects[0]
    if len(where.terms) > 1 or not isinstance(variable, Variable):
        return reader.algebra.derived(("ld.param", what.width, index), (where,), 64, mask)
    offset = where.const + index * what.width // 8
    if variable.pointer is not None and not offset:
        align = variable.pointer[1] or 1
        mask &= EVERY_BIT << (align & -align).bit_length() - 1
    symbol = reader.algebra.symbols.get(
        "parameter", (variable.name, offset, what.width), mask=mask, scope=GRID
    )
    return reader.algebra.symbol(symbol, 64)


def object_address(reader: Reader, operand: Symbol) -> Pattern | None:
    """The address of a declared object, in its own space."""
    variable = operand.target
    if not isinstance(variable, Variable) or variable.space in ("reg", "tex"):
        return None
    zeros = alignment_of(variable).bit_length() - 1
    mask = EVERY_BIT << zeros
    if variable.space in ("shared", "const", "param", "local"):
        mask &= 0xFFFFFFFF
    symbol = reader.algebra.symbols.get("base", variable, mask=mask, scope=BLOCK)
    return reader.algebra.symbol(symbol, 64)


def convert_address(reader: Reader, instruction: Instruction, index: int) -> Pattern | None:
    """cvta: global addresses are generic ones as they are, others lie in a window."""
    modifiers = instruction.opcode.modifiers
    types = types_of(instruction.opcode.modifiers)
    a = reader.read(instruction.operands[1], types.width)
    space = next((m for m in modifiers if m not in ("to", "u32", "u64")), "")
    if a is None or space == "global":
        return a
    if space not in _WINDOWED:
        return None
    name = space.partition("::")[0]
    symbol = reader.algebra.symbols.get("window", name, mask=EVERY_BIT << 24, scope=BLOCK)
    window = reader.algebra.symbol(symbol, types.width)
    if "to" in modifiers:
        return reader.algebra.subtract(a, window)
    return reader.algebra.add(a, window)


def move(reader: Reader, instruction: Instruction, index: int) -> Pattern | None:
    """mov: of one operand, or packing and unpacking vectors."""
    to, source = instruction.operands[:2]
    types = types_of(instruction.opcode.modifiers)
    if types.width > 64:
        return None
    algebra, width = reader.algebra, types.width
    if isinstance(source, Vector):
        part = width // len(source.elements)
        pieces = []
        for i, element in enumerate(source.elements):
            piece = reader.read(element, part)
            wide = None if piece is None else widen(algebra, piece, width, False)
            if wide is None:
                return None
            pieces.append((wide, 1 << part * i))
        return algebra.sum(width, pieces)
    a = reader.read(source, width)
    if a is None or not isinstance(to, Vector):
        return a
    part = width // len(to.elements)
    high = shift_right(algebra, a, part * index, False)
    return None if high is None else truncate(algebra, high, part)


def shuffle(reader: Reader, instruction: Instruction, index: int) -> Pattern | None:
    """shfl: of the same in all lanes, or from one lane to all."""
    if index or "sync" not in instruction.opcode.modifiers:
        return None
    _, source, lane, clamp = instruction.operands[:4]
    a = reader.read(source, 32)
    if a is not None and a.is_uniform:
        return with_assumptions(reader.algebra, a, CONVERGENT)
    which, limits = reader.read(lane, 32), reader.read(clamp, 32)
    if "idx" not in instruction.opcode.modifiers or which is None or limits is None:
        return None
    if not limits.is_constant or limits.const & 0x1F1F != 31 or not which.is_uniform:
        return None
    if not _together(reader, instruction):
        return None
    if a is None or not which.is_constant or a.lanes:
        return fresh(reader, 0, EVERY_BIT, WARP, 32)
    return _from_lane(reader.algebra, a, which.const & (WARP_SIZE - 1))


def _from_lane(algebra: Algebra, a: Pattern, lane: int) -> Pattern:
    """What one lane of each warp holds; of a warp that lacks the lane, what each has itself."""
    values = algebra.vectors.materialise(a.exact, a.width, True)
    size = len(values)
    taken = []
    for thread in range(size):
        other = (thread & -WARP_SIZE) + lane
        taken.append(values[other if other < size else thread])
    exact = algebra.vectors.exact(taken, a.width)
    return algebra.make(a.width, a.terms, (), exact, a.assumptions | CONVERGENT)


def vote(reader: Reader, instruction: Instruction, index: int) -> Pattern | None:
    """vote and redux: one result for all lanes that take part."""
    if "sync" not in instruction.opcode.modifiers or index:
        return None
    if not _together(reader, instruction):
        return None
    width = 1 if "pred" in instruction.opcode.modifiers else 32
    return fresh(reader, 0, (1 << width) - 1, WARP, width)


def _together(reader: Reader, instruction: Instruction) -> bool:
    """Whether all lanes name the same members: else there are several groups."""
    members = reader.read(instruction.operands[-1], 32)
    return members is not None and members.is_uniform


def barrier(reader: Reader, instruction: Instruction, index: int) -> Pattern | None:
    """bar.red: one result for the block."""
    if "red" not in instruction.opcode.modifiers:
        return None
    width = 1 if "pred" in instruction.opcode.modifiers else 32
    return fresh(reader, 0, (1 << width) - 1, BLOCK, width)


SPECIAL: dict[str, Callable[[Reader, Instruction, int], Pattern | None]] = {
    "ld": load,
    "ldu": load,
    "mov": move,
    "cvta": convert_address,
    "shfl": shuffle,
    "vote": vote,
    "redux": vote,
    "bar": barrier,
    "barrier": barrier,
}
