"""``atom`` and ``red`` (PTX ISA, "atom", "red")."""

from __future__ import annotations

from ..ptx.ir import Instruction
from . import arithmetic
from .builder import Builder, Function1
from .code import Op
from .floats import element, flushing
from .integers import pieces
from .loads import access_of, count_of, space_of
from .result import Unsupported
from .storage import Storage
from .types import Type, types_of

_OPERATIONS = frozenset({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"})


def update(name: str, type_: Type, space: str) -> Function1:
    """The new value from the old one and the operands."""
    mask, width = type_.mask, type_.width
    if type_.kind == "f":
        return _float_update(name, type_, space)
    flip = 1 << (width - 1) if type_.signed else 0
    table: dict[str, Function1] = {
        "add": lambda old, b: (old + b) & mask,
        "min": lambda old, b: old if old ^ flip <= b ^ flip else b,
        "max": lambda old, b: old if old ^ flip >= b ^ flip else b,
        "and": lambda old, b: old & b,
        "or": lambda old, b: old | b,
        "xor": lambda old, b: old ^ b,
        "exch": lambda old, b: b,
        "cas": lambda old, b, c: c if old == b else old,
        "inc": lambda old, b: 0 if old >= b else old + 1,
        "dec": lambda old, b: b if old == 0 or old > b else old - 1,
    }
    return table[name]


def _float_update(name: str, type_: Type, space: str) -> Function1:
    format_ = element(type_)
    if name == "exch":
        return lambda old, b: b
    if name == "add":
        function: Function1 = arithmetic.add(format_, "rn")
        if type_.name == "f32" and space != "shared":
            # On global memory atom.add.f32 flushes subnormals; on shared memory it does not.
            function = flushing(function, format_)
    elif name in ("min", "max"):
        half = format_.sign

        def function(old: int, b: int) -> int:
            if format_.is_nan(old) or format_.is_nan(b):
                return old if format_.is_nan(b) else b
            low, high = sorted((old, b), key=lambda x: ~x if x & half else x | half << 1)
            return low if name == "min" else high
    else:
        raise Unsupported(name)
    return pieces(function, format_.width, type_.packed) if type_.packed > 1 else function


def atomic(builder: Builder, instruction: Instruction, op: Op) -> None:
    """Lanes go one after another, in their order."""
    modifiers = instruction.opcode.modifiers
    name = next((m for m in modifiers if m in _OPERATIONS), None)
    if name is None or "async" in modifiers:
        raise Unsupported("operation")
    type_, count = types_of(modifiers)[-1], count_of(modifiers)
    operands = list(instruction.operands)
    targets: list[int] = []
    if instruction.opcode.mnemonic == "atom":
        targets = [builder.target(each) for each in builder.elements(operands.pop(0))]
    space = space_of(modifiers)
    op.access = access_of(builder, operands[0], modifiers, type_.size * count)
    given = [
        builder.sources(builder.elements(each), type_)
        for each in operands[1 : 3 if name == "cas" else 2]
    ]
    function = update(name, type_, space)
    size, mask = type_.size, type_.mask

    def one(storage: Storage, lane: int, step: int, sources: list[int]) -> tuple[int, int]:
        place = storage.places[lane]
        assert place is not None
        region, offset = place[0], place[1] + step
        old, mark = region.read(offset, size), region.marks(offset, size)
        values = [storage.values[slot][lane] & mask for slot in sources]
        unknown = 0
        for slot in sources:
            marks = storage.undefined[slot]
            unknown |= 0 if marks is None else marks[lane] & mask
        new = function(old, *values)
        if name != "exch":
            unknown = mask if unknown or mark else 0
        region.write(offset, size, new, unknown)
        return old, mark

    def run(storage: Storage, all_lanes: int, lanes: tuple[int, ...]) -> None:
        found: list[list[tuple[int, int]]] = [[] for _ in range(count)]
        for lane in lanes:
            for i in range(count):
                found[i].append(one(storage, lane, i * size, [each[i] for each in given]))
        for target, rows in zip(targets, found, strict=False):
            values = [row[0] for row in rows]
            storage.put(target, all_lanes, lanes, values, [row[1] for row in rows])
        if name in ("cas", "exch", "min", "max", "or"):
            storage.warp.spun = True

    op.run = run
