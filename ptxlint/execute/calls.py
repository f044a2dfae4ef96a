"""Calls and returns: frames, what is passed, and the functions that the driver provides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..ptx.ir import Function, Variable
from .code import Code
from .control import Call, Passed, formal_slot
from .groups import Frame
from .layout import size_of
from .memory import Region
from .result import FaultError
from .storage import Storage
from .warp import Warp

if TYPE_CHECKING:
    from .cta import Cta

_MOST_DEPTH = 64
Lanes = tuple[int, ...]


class Trap(Exception):
    """``trap``, or a failed assertion."""


def enter(warp: Warp, code: Code, depth: int, lanes: Lanes) -> Storage:
    """The register file of a call, its locals in place and undefined."""
    if depth > _MOST_DEPTH:
        raise FaultError("memory", lanes[0], why="calls nested too deep")
    storage = warp.storages.get((depth, code))
    fresh = storage is None
    if storage is None:
        storage = warp.storages[depth, code] = Storage(code, warp, depth)
    align = code.align
    for lane in lanes:
        base = -(-warp.tops[lane] // align)
        # An odd multiple: no more aligned than the locals ask for.
        base = (base | 1) * align if code.locals else warp.tops[lane]
        warp.reserve(lane, base, code.stack)
        storage.bases[lane] = base
    storage.enter(lanes, fresh)
    return storage


def call(
    cta: Cta, warp: Warp, frame: Frame, found: Call, target: Function, pc: int, lanes: Lanes
) -> Frame | None:
    """Begin a call; None if the function has no body: then it is done."""
    body = cta.layout.bodies.get(target.name)
    if body is None:
        _outside(cta, warp, frame.storage, found, target, lanes)
        return None
    code = cta.code(body)
    tops = list(warp.tops)
    storage = enter(warp, code, frame.depth + 1, lanes)
    inner = Frame(code, storage, frame, pc + 1, found)
    inner.tops = tops
    for passed, variable in zip(found.arguments, body.parameters, strict=False):
        _pass(frame.storage, passed, storage, _formal(code, variable), lanes)
    return inner


def give_back(warp: Warp, frame: Frame, lanes: Lanes) -> None:
    """Return: results to the caller, the stack as it was."""
    assert frame.parent is not None and frame.call is not None
    for passed, variable in zip(frame.call.results, frame.code.function.returns, strict=False):
        _pass(frame.storage, _formal(frame.code, variable), frame.parent.storage, passed, lanes)
    for lane in lanes:
        warp.tops[lane] = frame.tops[lane]


def _formal(code: Code, variable: Variable) -> Passed:
    if variable in code.locals:
        return Passed(variable, code.slots.filled("local", variable))
    return Passed(None, formal_slot(code, variable))


def _place(storage: Storage, passed: Passed, lane: int) -> tuple[Region, int]:
    return storage.warp.local[lane], storage.values[passed.slot][lane]


def _pass(source: Storage, given: Passed, target: Storage, wanted: Passed, lanes: Lanes) -> None:
    """Copy a value; memory to memory, slot to slot, or between the two."""
    for lane in lanes:
        if given.variable is not None:
            region, offset = _place(source, given, lane)
            size = size_of(given.variable)
            if wanted.variable is not None:
                size = min(size, size_of(wanted.variable))
            value, marks = region.read(offset, size), region.marks(offset, size)
        else:
            value = source.values[given.slot][lane]
            known = source.undefined[given.slot]
            marks = known[lane] if known else 0
        if wanted.variable is not None:
            region, offset = _place(target, wanted, lane)
            size = size_of(wanted.variable)
            bits = (1 << 8 * size) - 1
            region.write(offset, size, value & bits, marks & bits)
        else:
            bits = (1 << target.code.slots.widths[wanted.slot]) - 1
            target.put(wanted.slot, 1 << lane, (lane,), [value & bits], [marks & bits])


def _outside(
    cta: Cta, warp: Warp, storage: Storage, found: Call, target: Function, lanes: Lanes
) -> None:
    """A function without a body: one of the driver's, or unknown with undefined results."""
    known = _DRIVER.get(target.name)
    if known is None:
        spelling = f"call {target.name}"
        counts = cta.result.unsupported
        counts[spelling] = counts.get(spelling, 0) + 1
        return
    for lane in lanes:
        arguments = [_argument(storage, each, lane) for each in found.arguments]
        value = known(cta, arguments)
        for passed in found.results:
            if passed.variable is not None:
                region, offset = _place(storage, passed, lane)
                size = size_of(passed.variable)
                region.write(offset, size, value & ((1 << 8 * size) - 1))
            else:
                storage.put(passed.slot, 1 << lane, (lane,), [value])


def _argument(storage: Storage, passed: Passed, lane: int) -> int:
    if passed.variable is None:
        return storage.values[passed.slot][lane]
    region, offset = _place(storage, passed, lane)
    return region.read(offset, size_of(passed.variable))


def _printf(cta: Cta, arguments: list[int]) -> int:
    """``vprintf``: the format string is kept; it returns how many arguments the format has."""
    region = cta.layout.globals.find(arguments[0], 1)
    if region is None:
        return 0
    start = arguments[0] - region.base
    text = bytes(region.data[start:]).split(b"\0")[0].decode(errors="replace")
    cta.result.printed.append(text)
    return text.count("%") - 2 * text.count("%%")


def _assert(cta: Cta, arguments: list[int]) -> int:
    raise Trap


def _malloc(cta: Cta, arguments: list[int]) -> int:
    size = arguments[0]
    if not 0 < size <= 1 << 20 or len(cta.heap) > 4096:
        return 0
    region = cta.layout.globals.add(size, 16, "heap")
    cta.heap[region.base] = size
    return region.base


def _free(cta: Cta, arguments: list[int]) -> int:
    cta.heap.pop(arguments[0], None)
    return 0


_DRIVER: dict[str, Callable[[Cta, list[int]], int]] = {
    "vprintf": _printf,
    "__assertfail": _assert,
    "malloc": _malloc,
    "free": _free,
}
