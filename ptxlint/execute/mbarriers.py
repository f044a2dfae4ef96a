"""``mbarrier`` (PTX ISA, "Parallel Synchronization: mbarrier").

The object is opaque to programs; here its 64 bits are: pending arrivals (20 bits), expected
arrivals (20), pending transactions (22, signed), phase (1, the top bit).
"""

from __future__ import annotations

from ..isa.types import signed
from ..ptx.ir import Address, Instruction
from .builder import Builder, elementwise, spread
from .code import Op
from .loads import access_of
from .memory import Place
from .result import Unsupported
from .storage import Storage
from .types import TYPES

_COUNT = (1 << 20) - 1
_TX = (1 << 22) - 1
_PHASE = 1 << 63
U32, U64 = TYPES["u32"], TYPES["u64"]


def make(count: int) -> int:
    """The state after ``init``."""
    return count & _COUNT | (count & _COUNT) << 20


def change(state: int, arrivals: int = 0, transactions: int = 0, dropped: int = 0) -> int:
    """The state after arrivals and a change of the transaction count; may begin a new phase."""
    pending = (state & _COUNT) - arrivals - dropped
    expected = (state >> 20 & _COUNT) - dropped
    tx = signed(state >> 40 & _TX, 22) + transactions
    phase = state & _PHASE
    if pending <= 0 and tx == 0:
        phase ^= _PHASE
        pending = expected
    return phase | (tx & _TX) << 40 | (expected & _COUNT) << 20 | pending & _COUNT


def transactions(state: int) -> int:
    """The pending transaction bytes."""
    return signed(state >> 40 & _TX, 22)


def _read(place: Place | None) -> tuple[Place, int]:
    assert place is not None
    return place, place[0].read(place[1], 8)


def update(place: Place, arrivals: int = 0, tx: int = 0, dropped: int = 0) -> int:
    """Change the barrier at a place; its state before. One never initialised stays so."""
    region, offset = place
    before = region.read(offset, 8)
    if region.marks(offset, 8):
        return before
    state = before
    if tx > 0:
        state = _expect(before, tx)
    if arrivals or dropped or tx < 0:
        state = change(state, arrivals, min(tx, 0), dropped)
    region.write(offset, 8, state)
    return before


def _expect(state: int, tx: int) -> int:
    total = (transactions(state) + tx) & _TX
    return state & ~(_TX << 40) | total << 40


def mbarrier(builder: Builder, instruction: Instruction, op: Op) -> None:
    """All operations on the object; lanes go one after another."""
    modifiers = instruction.opcode.modifiers
    kind = modifiers[0]
    if kind == "pending_count":
        slot = builder.source(instruction.operands[1], U64)
        target = builder.target(instruction.operands[0])
        op.run = elementwise(lambda a: a & _COUNT, target, [slot], spread(0xFFFFFFFF))
        return
    operands = list(instruction.operands)
    target = -1
    if not isinstance(operands[0], Address):
        target = builder.target(operands.pop(0))
    op.access = access_of(builder, operands[0], modifiers, 8)
    rest = builder.sources(operands[1:], U64 if kind == "test_wait" else U32)
    if kind in ("test_wait", "try_wait"):
        _wait(op, target, rest, "parity" in modifiers)
    elif kind in ("init", "inval"):
        _reset(op, rest, kind == "init")
    elif kind in ("arrive", "arrive_drop", "expect_tx", "complete_tx"):
        _arrive(op, kind, modifiers, target, rest)
    else:
        raise Unsupported(kind)


def _reset(op: Op, rest: list[int], init: bool) -> None:
    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for lane in lanes:
            (region, offset), _ = _read(storage.places[lane])
            if init:
                region.write(offset, 8, make(storage.values[rest[0]][lane]))
            else:
                region.forget(offset, 8)

    op.run = run


def _arrive(op: Op, kind: str, modifiers: tuple[str, ...], target: int, rest: list[int]) -> None:
    expects = kind == "expect_tx" or "expect_tx" in modifiers
    completes = kind == "complete_tx"
    arrives = kind.startswith("arrive")

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        states, marks = [], []
        for lane in lanes:
            place = storage.places[lane]
            assert place is not None
            given = storage.values[rest[0]][lane] if rest else 1
            marks.append(place[0].marks(place[1], 8))
            tx = given if expects else (-given if completes else 0)
            arrivals = (1 if expects else given) if arrives else 0
            dropped = arrivals if kind == "arrive_drop" else 0
            states.append(update(place, arrivals - dropped, tx, dropped))
        if target >= 0:
            storage.put(target, mask, lanes, states, [-bool(m) & (1 << 64) - 1 for m in marks])

    op.run = run


def _wait(op: Op, target: int, rest: list[int], parity: bool) -> None:
    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        found, marks = [], []
        for lane in lanes:
            place = storage.places[lane]
            assert place is not None
            storage.warp.cta.copies.polled(place)
            state = place[0].read(place[1], 8)
            given = storage.values[rest[0]][lane]
            old = given & 1 if parity else given >> 63
            found.append(int(state >> 63 != old))
            marks.append(int(place[0].marks(place[1], 8) != 0))
        storage.put(target, mask, lanes, found, marks)
        if not all(found):
            storage.warp.spun = True

    op.run = run
