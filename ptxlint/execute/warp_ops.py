"""Instructions of lanes together (PTX ISA, "shfl", "vote", "match", "redux", "elect").

They run on the lanes that came together; a lane that is not among them is absent.
"""

from __future__ import annotations

from functools import reduce

from ..ptx.ir import Instruction, Operand, Pair
from .builder import Builder, Function1, nothing
from .code import Op
from .floats import element
from .integers import SIMPLE
from .result import Unsupported
from .storage import Storage
from .types import FULL, TYPES, Type, types_of

U32 = TYPES["u32"]
B32 = TYPES["b32"]


def mask_members(builder: Builder, operand: Operand, op: Op) -> int:
    """Have a lane wait for those of its member mask; the mask's slot."""
    slot = builder.source(operand, U32)
    op.members = lambda storage, lane: storage.values[slot][lane]
    op.convergent = True
    return slot


def all_members(op: Op) -> None:
    """Have a lane wait for all of its warp that have not exited (``.aligned``)."""
    op.members = lambda storage, lane: storage.warp.live
    op.convergent = True


def _targets(builder: Builder, operand: Operand) -> tuple[int, int | None]:
    if isinstance(operand, Pair):
        return builder.target(operand.first), builder.target(operand.second)
    return builder.target(operand), None


def _source_lane(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The lane that ``shfl`` reads and its predicate, as the ISA's pseudo-code has them."""
    b, clamp, segment = b & 31, c & 31, c >> 8 & 31
    highest = lane & segment | clamp & ~segment
    if mode == "up":
        j = lane - b
        valid = j >= highest
    elif mode == "down":
        j = lane + b
        valid = j <= highest
    elif mode == "bfly":
        j = lane ^ b
        valid = j <= highest
    else:
        j = lane & segment | b & ~segment & 31
        valid = j <= highest
    return (j if valid else lane), valid


def shfl(builder: Builder, instruction: Instruction, op: Op) -> None:
    """The value from a lane that is absent is undefined."""
    modifiers, operands = instruction.opcode.modifiers, instruction.operands
    mode = next(m for m in modifiers if m in ("up", "down", "bfly", "idx"))
    target, predicate = _targets(builder, operands[0])
    source, b, c = builder.sources(operands[1:4], U32)
    if "sync" in modifiers:
        mask_members(builder, operands[4], op)

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        values, known = storage.values, storage.undefined
        found, marks, valid, doubt = [], [], [], []
        for lane in lanes:
            unsure = any((known[slot] or (0,) * 32)[lane] for slot in (b, c))
            j, inside = _source_lane(mode, lane, values[b][lane], values[c][lane])
            absent = not mask >> j & 1
            column = known[source]
            found.append(values[source][j])
            marks.append(FULL if unsure or absent else (column[j] if column else 0))
            valid.append(int(inside))
            doubt.append(int(unsure))
        storage.put(target, mask, lanes, found, marks)
        if predicate is not None:
            storage.put(predicate, mask, lanes, valid, doubt)

    op.run = run


def _ballot(storage: Storage, slot: int, negated: bool, lanes: tuple[int, ...]) -> tuple[int, int]:
    """The lanes whose predicate is true, and those where it is undefined."""
    votes = unknown = 0
    marks = storage.undefined[slot]
    for lane in lanes:
        votes |= (storage.values[slot][lane] ^ negated) << lane
        unknown |= 0 if marks is None else (marks[lane] & 1) << lane
    return votes, unknown


def vote(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``vote``: over the lanes of each lane's mask that are there."""
    modifiers, operands = instruction.opcode.modifiers, instruction.operands
    mode = next(m for m in modifiers if m in ("all", "any", "uni", "ballot"))
    slot, negated = builder.predicate(operands[1])
    target = builder.target(operands[0])
    members = mask_members(builder, operands[2], op) if "sync" in modifiers else None

    def result(votes: int, present: int) -> int:
        votes &= present
        if mode == "ballot":
            return votes
        if mode == "any":
            return int(votes != 0)
        return int(votes == present or (mode == "uni" and not votes))

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        votes, unknown = _ballot(storage, slot, negated, lanes)
        found, marks = [], []
        for lane in lanes:
            present = mask & (FULL if members is None else storage.values[members][lane])
            found.append(result(votes, present))
            if mode == "ballot":
                marks.append(unknown & present)
            else:
                both = {result(votes & ~unknown, present), result(votes | unknown, present)}
                doubtful = len(both) > 1 or (mode == "uni" and unknown & present)
                marks.append(int(bool(doubtful)))
        storage.put(target, mask, lanes, found, marks)

    op.run = run


def match(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``match.any``: lanes with the same value; ``match.all``: all of them, or none."""
    modifiers, operands = instruction.opcode.modifiers, instruction.operands
    type_ = types_of(modifiers)[-1]
    target, predicate = _targets(builder, operands[0])
    source = builder.source(operands[1], type_)
    members = mask_members(builder, operands[2], op)
    every = "all" in modifiers

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        values = storage.values[source]
        found, agreed = [], []
        for lane in lanes:
            present = mask & storage.values[members][lane]
            same = sum(1 << j for j in lanes if present >> j & 1 and values[j] == values[lane])
            agreed.append(int(same == present))
            found.append(same if not every or same == present else 0)
        unknown = storage.marks(source, lanes) is not None
        storage.put(target, mask, lanes, found, [FULL] * len(lanes) if unknown else None)
        if predicate is not None:
            storage.put(predicate, mask, lanes, agreed, [1] * len(lanes) if unknown else None)

    op.run = run


def _reducer(name: str, type_: Type, modifiers: tuple[str, ...]) -> Function1:
    logic: dict[str, Function1] = {
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
    }
    if name in logic:
        return logic[name]
    if type_.kind == "f":
        from .floats import extreme

        format_ = element(type_)
        choose = extreme(format_, modifiers, name == "max")
        if "abs" in modifiers:
            low = format_.sign - 1
            return lambda a, b: choose(a & low, b & low)
        return choose
    return SIMPLE[name][0](type_, ())


def redux(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``redux.sync``: the sum, extreme or logic over the lanes of the mask."""
    modifiers, operands = instruction.opcode.modifiers, instruction.operands
    name = next((m for m in modifiers if m in ("add", "min", "max", "and", "or", "xor")), None)
    if name is None:
        raise Unsupported("operation")
    type_ = types_of(modifiers)[-1]
    function = _reducer(name, type_, modifiers)
    target, source = builder.target(operands[0]), builder.source(operands[1], type_)
    members = mask_members(builder, operands[2], op)

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        values, known = storage.values[source], storage.undefined[source]
        found, marks = [], []
        for lane in lanes:
            present = mask & storage.values[members][lane]
            inside = [j for j in lanes if present >> j & 1] or [lane]
            found.append(reduce(function, [values[j] for j in inside]))
            unknown = known is not None and any(known[j] for j in inside)
            marks.append(FULL if unknown else 0)
        storage.put(target, mask, lanes, found, marks)

    op.run = run


def elect(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``elect.sync``: GPUs elect the lowest lane of the mask."""
    target, predicate = _targets(builder, instruction.operands[0])
    members = mask_members(builder, instruction.operands[1], op)

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        present = [mask & storage.values[members][lane] or 1 << lane for lane in lanes]
        leaders = [(each & -each).bit_length() - 1 for each in present]
        storage.put(target, mask, lanes, leaders)
        if predicate is not None:
            chosen = [int(leader == lane) for leader, lane in zip(leaders, lanes, strict=False)]
            storage.put(predicate, mask, lanes, chosen)

    op.run = run


def activemask(builder: Builder, instruction: Instruction, op: Op) -> None:
    """The lanes that happen to run together."""
    target = builder.target(instruction.operands[0])

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        storage.put(target, mask, lanes, [mask] * len(lanes))

    op.run = run


def warp_barrier(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``bar.warp.sync``: lanes of the mask meet, wherever in the code they are."""
    mask_members(builder, instruction.operands[0], op)
    op.run = nothing
