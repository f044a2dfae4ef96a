"""How many registers a function needs at once: what is live, less what ptxas keeps elsewhere.

Counted in registers of 32 bits. Not counted are values that ptxas makes anew or reads from
elsewhere where they are used (numbers, parameters, an address with an offset) and those that all
threads share by integer arithmetic on such (uniform registers, from sm_75 on).
"""

from __future__ import annotations

from typing import NamedTuple

from ..isa.types import SIZES
from ..ptx.ir import (
    Address,
    Float,
    Function,
    Instruction,
    Integer,
    Pair,
    Register,
    SpecialRegister,
    Symbol,
    Vector,
)
from .facts import Facts
from .flow.graph import ControlFlow, control_flow
from .flow.liveness import Liveness, liveness
from .flow.registers import RegisterUse, register_use

_WORD = 4
_LOADS = frozenset({"ld", "ldu"})
# What comes late, or from other lanes: its result is not put off to where it is used.
_FIXED = frozenset({"ld", "atom", "mma", "shfl", "ldmatrix", "tex", "wmma"})
_INTEGER = "add sub mul mad shl shr shf and or xor lop3 not neg min max cvt mov selp cvta div rem"
_UNIFORM = frozenset(_INTEGER.split())
_ROUNDS = 4  # chains of such values are followed as far as they matter

# Kinds of values: as it is; a number; a parameter; an address and an offset; the block's place;
# made of such by all threads alike. The first is counted alone.
_PLAIN, _NUMBER, _PARAMETER, _OFFSET, _PLACE, _SHARED = range(6)
_ALIKE = frozenset({_NUMBER, _PARAMETER, _PLACE, _SHARED})


class Pressure(NamedTuple):
    """Of one function, in registers of 32 bits.

    ``peak``: the most that is live at once, at instruction ``at`` (-1: nothing is), where the
    registers ``live`` are (by number of ``register_use``). ``lazy`` is the most where what one
    instruction of the same block uses, and nothing else, is made only there; ``edge`` the most at
    the start of a block; ``loads`` the most that the loads of one block bring; ``every`` the most
    that is live of all values.
    """

    peak: int
    at: int
    live: tuple[int, ...]
    lazy: int
    edge: int
    loads: int
    every: int


def pressure(function: Function, facts: Facts) -> Pressure:
    """For ``facts.once``: the register pressure of a function with a body."""
    flow, use = facts.once(function, control_flow), facts.once(function, register_use)
    widths = [0 if register is None else width_of(register) for register in use.registers]
    kinds, late = _kinds(flow, use), _made_late(flow, use)
    weights = [0 if kind else width for width, kind in zip(widths, kinds, strict=True)]
    costs = [
        _Cost(width, weight, 0 if is_late else weight)
        for width, weight, is_late in zip(widths, weights, late, strict=True)
    ]
    most = _Most()
    for index in flow.order:
        _block(flow, use, facts.once(function, liveness), index, costs, most)
    found = tuple([r for r in range(1, len(weights)) if most.live >> r & 1 and weights[r]])
    return Pressure(most.peak, most.at, found, most.lazy, most.edge, _loads(flow, use), most.every)


class _Cost(NamedTuple):
    """What a live register adds to ``every``, ``peak`` and ``lazy``."""

    every: int
    peak: int
    lazy: int


class _Most:
    """The largest figures so far."""

    def __init__(self) -> None:
        self.peak = self.lazy = self.edge = self.every = self.live = 0
        self.at = -1


def _block(
    flow: ControlFlow, use: RegisterUse, live: Liveness, index: int, costs: list[_Cost], most: _Most
) -> None:
    last = every = total = lazy = 0
    for at, now in live.after(flow.blocks[index]):
        for number in use.writes[at]:
            now |= 1 << number
        changed, last = now ^ last, now
        while changed:
            low = changed & -changed
            changed ^= low
            sign = 1 if now & low else -1
            cost = costs[low.bit_length() - 1]
            every += sign * cost.every
            total += sign * cost.peak
            lazy += sign * cost.lazy
        if total > most.peak:
            most.peak, most.at, most.live = total, at, now
        most.lazy, most.every = max(most.lazy, lazy), max(most.every, every)
    most.edge = max(most.edge, total)  # blocks are walked backwards


def width_of(register: Register) -> int:
    """Registers of 32 bits that one takes; 0 of a predicate, which has its own."""
    variable = register.variable
    if variable.type == "pred":
        return 0
    return max(1, SIZES.get(variable.type, _WORD) // _WORD) * max(1, variable.vector or 1)


def _kinds(flow: ControlFlow, use: RegisterUse) -> list[int]:
    """The kind of each register that one unguarded instruction writes; of others ``plain``."""
    kinds = [_PLAIN] * len(use.registers)
    by_thread = [False] * len(use.registers)
    waiting = [
        (number, made)
        for number, at in _once(use.writes).items()
        if (made := flow.instructions[at]).guard is None and len(made.operands) > 1
    ]
    for number, made in waiting:
        source = made.operands[1]
        by_thread[number] = type(source) is SpecialRegister and source.name.startswith(
            ("%tid", "%lane")
        )
    for turn in range(_ROUNDS):
        left = []
        for number, made in waiting:
            kinds[number] = _kind(made, use, kinds, by_thread, turn > 0)
            if not kinds[number]:
                left.append((number, made))
        if len(left) == len(waiting) and turn:
            break
        waiting = left
    for number, differs in enumerate(by_thread):
        if differs:
            kinds[number] = _PLAIN
    return kinds


def _kind(
    made: Instruction, use: RegisterUse, kinds: list[int], by_thread: list[bool], whole: bool
) -> int:
    mnemonic, operands = made.opcode.mnemonic, made.operands
    sources = [use.numbers.get(o, 0) for o in operands[1:] if type(o) is Register]
    if mnemonic == "mov" and len(operands) == 2:
        source = operands[1]
        if type(source) in (Integer, Float, Symbol):
            return _NUMBER
        if type(source) is SpecialRegister:
            return _PLACE
        if sources and kinds[sources[0]] and not by_thread[sources[0]]:
            return kinds[sources[0]]
    if mnemonic in _LOADS and "param" in made.opcode.modifiers:
        return _PARAMETER
    if mnemonic == "cvta" and sources and kinds[sources[0]] == _PARAMETER:
        return _PARAMETER
    if mnemonic in ("add", "sub") and len(operands) == 3 and type(operands[2]) is Integer:
        return _OFFSET if sources else _PLAIN
    if not whole or mnemonic not in _UNIFORM or not sources:
        return _PLAIN
    if any(type(operand) in (Address, Vector, Pair) for operand in operands):
        return _PLAIN
    values = [o for o in operands[1:] if type(o) is Register and o.variable.type != "pred"]
    numbers = [use.numbers.get(value, 0) for value in values]
    alike = all(kinds[number] in _ALIKE and not by_thread[number] for number in numbers)
    return _SHARED if alike else _PLAIN


def _made_late(flow: ControlFlow, use: RegisterUse) -> list[bool]:
    """The registers that one instruction makes and one of the same block uses."""
    readers, found = _once(use.reads), [False] * len(use.registers)
    for number, at in _once(use.writes).items():
        reader = readers.get(number)
        if reader is not None and flow.block_of[at] == flow.block_of[reader]:
            found[number] = flow.instructions[at].opcode.mnemonic not in _FIXED
    return found


def _once(registers: list[tuple[int, ...]]) -> dict[int, int]:
    """The registers that are there once, each with the instruction."""
    found: dict[int, int] = {}
    for at, numbers in enumerate(registers):
        for number in numbers:
            found[number] = -1 if number in found else at
    return {number: at for number, at in found.items() if at >= 0}


def _loads(flow: ControlFlow, use: RegisterUse) -> int:
    most = 0
    for index in flow.order:
        block, total = flow.blocks[index], 0
        for at in range(block.start, block.stop):
            opcode = flow.instructions[at].opcode
            if opcode.mnemonic == "ld" and "param" not in opcode.modifiers:
                registers = [use.registers[number] for number in use.writes[at]]
                total += sum(width_of(r) for r in registers if r is not None)
        most = max(most, total)
    return most
