"""Asynchronous copies (PTX ISA, "cp.async", "cp.async.bulk").

``late``: the data land when something waits for them, and not before: a program that reads too
early sees what was there. ``early``: they land at the copy.
"""

from __future__ import annotations

from ..ptx.ir import Address, Instruction, Register
from . import mbarriers
from .builder import Builder, nothing
from .code import Access, Op, Run
from .memory import Place, Region
from .result import FaultError, Unsupported
from .storage import Storage
from .types import TYPES

U32 = TYPES["u32"]
Key = tuple[int, int]


class Transfer:
    """Bytes on their way: ``size`` copied, then zeros up to ``total``.

    ``barrier`` gets a complete-tx of ``total`` bytes, or an arrival if ``arrival``.
    A transfer without ``source`` is one that only signals; ``unknown`` of a size not known.
    """

    __slots__ = ("arrival", "barrier", "size", "source", "target", "total", "unknown")

    def __init__(self, target: Place | None, source: Place | None, size: int, total: int) -> None:
        self.target = target
        self.source = source
        self.size = size
        self.total = total
        self.barrier: Place | None = None
        self.arrival = False
        self.unknown = False

    def land(self) -> None:
        """Move the bytes and signal."""
        if self.target is not None and self.source is not None:
            (to, at), (region, offset) = self.target, self.source
            region.copy_to(offset, to, at, self.size)
            to.write(at + self.size, self.total - self.size, 0)
        if self.barrier is not None:
            if self.arrival:
                mbarriers.update(self.barrier, arrivals=1)
            else:
                mbarriers.update(self.barrier, tx=-self.total)


class Copies:
    """What is on its way in a CTA: by thread in groups, or towards mbarriers."""

    __slots__ = ("_bulk", "_groups", "_signalled", "late")

    def __init__(self, late: bool) -> None:
        self.late = late
        # By thread: finished groups, the last one still open.
        self._groups: dict[Key, list[list[Transfer]]] = {}
        self._bulk: dict[Key, list[list[Transfer]]] = {}
        self._signalled: list[Transfer] = []

    def start(self, key: Key, transfer: Transfer, bulk: bool = False) -> None:
        """A thread starts a copy."""
        if not self.late:
            transfer.land()
        elif transfer.barrier is not None and bulk:
            self._signalled.append(transfer)
        else:
            groups = self._bulk if bulk else self._groups
            groups.setdefault(key, [[]])[-1].append(transfer)

    def commit(self, key: Key, bulk: bool) -> None:
        """Close the thread's group."""
        (self._bulk if bulk else self._groups).setdefault(key, [[]]).append([])

    def wait(self, key: Key, left: int, bulk: bool) -> None:
        """Land all of a thread's closed groups but the last ``left``; -1: the open one too."""
        groups = (self._bulk if bulk else self._groups).setdefault(key, [[]])
        if left < 0:
            groups.append([])
            left = 0
        while len(groups) - 1 > left:
            for transfer in groups.pop(0):
                transfer.land()

    def polled(self, place: Place) -> None:
        """Something waits for the mbarrier at ``place``: land what will signal it."""
        self._arrivals(place)
        mine = [each for each in self._signalled if each.barrier == place]
        if not mine:
            return
        self._signalled = [each for each in self._signalled if each.barrier != place]
        unknown = [each for each in mine if each.unknown]
        for transfer in mine:
            if not transfer.unknown:
                transfer.land()
        if unknown:
            _fill(unknown, place)

    def _arrivals(self, place: Place) -> None:
        for groups in self._groups.values():
            flat = [each for group in groups for each in group]
            last = max((i for i, each in enumerate(flat) if each.barrier == place), default=-1)
            for transfer in flat[: last + 1]:
                transfer.land()
                for group in groups:
                    if transfer in group:
                        group.remove(transfer)

    def finish(self) -> None:
        """Land everything: the kernel is over."""
        for groups in (*self._groups.values(), *self._bulk.values()):
            for group in groups:
                for transfer in group:
                    transfer.land()
        for transfer in self._signalled:
            transfer.land()


def _fill(transfers: list[Transfer], place: Place) -> None:
    """Tensor copies: their sizes are in a descriptor; share out what the barrier waits for."""
    pending = mbarriers.transactions(place[0].read(place[1], 8))
    if pending <= 0:
        return
    each = pending // len(transfers)
    for transfer in transfers:
        if transfer.target is not None:
            region, offset = transfer.target
            size = max(0, min(each, len(region.data) - offset))
            region.write(offset, size, int.from_bytes(b"\x3c" * size, "little"))
    mbarriers.update(place, tx=-pending)


def _key(storage: Storage, lane: int) -> Key:
    return storage.warp.index, lane


def cp(builder: Builder, instruction: Instruction, op: Op) -> None:
    """``cp.async`` and ``cp.async.bulk`` in all forms but reductions."""
    modifiers = instruction.opcode.modifiers
    if modifiers[0] != "async":
        raise Unsupported("reduction")
    bulk = "bulk" in modifiers
    if "prefetch" in modifiers:
        op.run = nothing
    elif "commit_group" in modifiers:
        op.run = _committing(bulk)
    elif "wait_group" in modifiers or "wait_all" in modifiers:
        left = getattr(instruction.operands[0], "value", 0) if instruction.operands else -1
        op.run = _waiting(left, bulk)
    elif "mbarrier" in modifiers and "arrive" in modifiers:
        op.access = Access("shared" if "shared" in "".join(modifiers) else "", 0, 0, 8)
        slot, offset, _ = builder.address(instruction.operands[0])
        op.access.base, op.access.offset = slot, offset
        op.run = _arriving("noinc" in modifiers)
    elif "tensor" in modifiers:
        _tensor(builder, instruction, op)
    elif bulk:
        _bulk(builder, instruction, op)
    else:
        _plain(builder, instruction, op)


def _committing(bulk: bool) -> Run:
    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for lane in lanes:
            storage.warp.cta.copies.commit(_key(storage, lane), bulk)

    return run


def _waiting(left: int, bulk: bool) -> Run:
    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for lane in lanes:
            storage.warp.cta.copies.wait(_key(storage, lane), left, bulk)

    return run


def _arriving(uncounted: bool) -> Run:
    """An arrival when the thread's copies so far have landed; it is counted in unless noinc."""

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for lane in lanes:
            place = storage.places[lane]
            assert place is not None
            if not uncounted:
                mbarriers.update(place, arrivals=-1)
            transfer = Transfer(None, None, 0, 0)
            transfer.barrier, transfer.arrival = place, True
            storage.warp.cta.copies.start(_key(storage, lane), transfer)

    return run


def _accesses(builder: Builder, instruction: Instruction, op: Op, size: int) -> None:
    spaces = [m.split("::")[0] for m in instruction.opcode.modifiers]
    named = [s for s in spaces if s in ("shared", "global")]
    for i, space in enumerate(named[:2]):
        slot, offset, _ = builder.address(instruction.operands[i])
        access = Access(space, slot, offset, size)
        if i == 0:
            op.access = access
        else:
            op.source = access


def _plain(builder: Builder, instruction: Instruction, op: Op) -> None:
    operands = instruction.operands
    total = getattr(operands[2], "value", 0)
    _accesses(builder, instruction, op, total)
    size = ignore = -1
    negated = False
    hinted = any("cache_hint" in m for m in instruction.opcode.modifiers)
    if len(operands) - hinted > 3:
        fourth = operands[3]
        is_predicate = isinstance(fourth, Register) and fourth.variable.type == "pred"
        if is_predicate or type(fourth).__name__ == "Prefixed":
            ignore, negated = builder.predicate(fourth)
        else:
            size = builder.source(fourth, U32)

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for lane in lanes:
            count = total if size < 0 else min(storage.values[size][lane], total)
            if ignore >= 0 and storage.values[ignore][lane] ^ negated:
                count = 0
            transfer = Transfer(storage.places[lane], storage.sources[lane], count, total)
            storage.warp.cta.copies.start(_key(storage, lane), transfer)

    op.run = run


def _bulk(builder: Builder, instruction: Instruction, op: Op) -> None:
    operands = instruction.operands
    _accesses(builder, instruction, op, 16)
    size = builder.source(operands[2], U32)
    barrier = -1
    if "mbarrier::complete_tx::bytes" in instruction.opcode.modifiers:
        barrier, offset, _ = builder.address(operands[3])

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for lane in lanes:
            count = storage.values[size][lane]
            target, source = storage.places[lane], storage.sources[lane]
            for place in (target, source):
                _within(place, count, lane)
            transfer = Transfer(target, source, count, count)
            if barrier >= 0:
                transfer.barrier = _barrier_at(storage, lane, barrier, offset)
            storage.warp.cta.copies.start(_key(storage, lane), transfer, True)

    op.run = run


def _within(place: Place | None, count: int, lane: int) -> None:
    assert place is not None
    region, offset = place
    if count % 16:
        raise FaultError("misaligned", lane, region.name, offset, count, "size of a bulk copy")
    if offset + count > len(region.data):
        raise FaultError("bounds", lane, region.name, offset, count)


def _barrier_at(storage: Storage, lane: int, slot: int, offset: int) -> Place:
    region: Region = storage.warp.cta.layout.shared
    at = (storage.values[slot][lane] + offset) & 0xFFFFFFFF
    if at % 8 or at + 8 > len(region.data):
        raise FaultError("bounds", lane, "shared", at, 8, "mbarrier of a copy")
    return region, at


def _tensor(builder: Builder, instruction: Instruction, op: Op) -> None:
    """Into shared memory: arbitrary bytes, as many as the mbarrier expects. Else nothing."""
    operands = instruction.operands
    addresses = [each for each in operands if isinstance(each, Address)]
    op.detail = "opaque"
    if not any(m.startswith("mbarrier") for m in instruction.opcode.modifiers):
        op.run = nothing
        return
    slot, offset, _ = builder.address(addresses[0])
    barrier, after, _ = builder.address(addresses[2])
    op.access = Access("shared", slot, offset, 16)

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for lane in lanes:
            transfer = Transfer(storage.places[lane], None, 0, 0)
            transfer.barrier = _barrier_at(storage, lane, barrier, after)
            transfer.unknown = True
            copies = storage.warp.cta.copies
            copies.start(_key(storage, lane), transfer, True)
            if not copies.late:
                _fill([transfer], transfer.barrier)

    op.run = run
