"""Induction variables: what a loop adds to at every turn, and how often a loop runs at most."""

from __future__ import annotations

from ...isa.types import SIZES
from ...ptx.ir import Function, Instruction, Integer, Register
from ..facts import Facts
from .graph import ControlFlow, control_flow
from .loops import Loop, loops
from .ssa import DEFINITION, Value, Values, values

_STEPS = {"add": 1, "sub": -1}
# The comparison that holds when the first operand is the constant: `5 > i` is `i < 5`.
_TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
_NEGATED = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}
_LONGEST = 64
"""Instructions that a step is followed through."""


class Induction:
    """A register that is ``initial + turn * step`` at the head of ``loop``, modulo its width.

    ``value`` is the phi at the header; ``initial`` the value that it comes in with, ``start`` the
    same where it is a constant. ``trips`` is how often the header runs each time that the loop is
    entered, where start, step and the test of the only exit are constants; None where not known.
    """

    __slots__ = ("initial", "loop", "start", "step", "trips", "value")

    def __init__(self, loop: Loop, value: int, initial: int, start: int | None, step: int) -> None:
        self.loop = loop
        self.value = value
        self.initial = initial
        self.start = start
        self.step = step
        self.trips: int | None = None


def induction(function: Function, facts: Facts) -> list[Induction]:
    """The induction variables of all loops that are entered at their header alone."""
    flow = facts.once(function, control_flow)
    known = facts.once(function, values)
    found = []
    for loop in facts.once(function, loops).all:
        if not loop.reducible:
            continue
        for phi in known.phis[loop.header]:
            variable = _variable(function, flow, known, loop, phi)
            if variable is not None:
                variable.trips = _trips(function, flow, known, variable)
                found.append(variable)
    return found


def _variable(
    function: Function, flow: ControlFlow, known: Values, loop: Loop, phi: Value
) -> Induction | None:
    ways = flow.reached_predecessors(loop.header)
    outside = {v for p, v in zip(ways, phi.operands, strict=True) if p not in loop}
    back = {v for p, v in zip(ways, phi.operands, strict=True) if p in loop}
    if len(outside) != 1 or len(back) != 1:
        return None
    step = _distance(function, known, back.pop(), phi.index)
    if not step:
        return None
    initial = outside.pop()
    return Induction(loop, phi.index, initial, _constant(function, known, initial), step)


def _distance(function: Function, known: Values, value: int, origin: int) -> int | None:
    """What was added on the way from ``origin`` to ``value``; None if it is no plain chain."""
    total = 0
    for _ in range(_LONGEST):
        if value == origin:
            return total
        made = known.all[value]
        if made.kind != DEFINITION:
            return None
        instruction = function.instructions[made.at]
        source, amount = _one_step(instruction)
        if source is None:
            return None
        behind = known.value_of(made.at, source)
        if behind is None:
            return None
        total += amount
        value = behind
    return None


def _one_step(instruction: Instruction) -> tuple[Register | None, int]:
    """The register that the result is a constant away from, and the constant."""
    opcode, operands = instruction.opcode, instruction.operands
    if opcode.mnemonic == "mov" and len(operands) == 2:
        return (operands[1], 0) if isinstance(operands[1], Register) else (None, 0)
    plain = len(opcode.modifiers) == 1 and opcode.modifiers[0][0] in "us"
    sign = _STEPS.get(opcode.mnemonic)
    if sign is None or not plain or len(operands) != 3:
        return None, 0
    first, second = operands[1], operands[2]
    if isinstance(first, Register) and isinstance(second, Integer):
        return first, sign * second.value
    if sign > 0 and isinstance(first, Integer) and isinstance(second, Register):
        return second, first.value
    return None, 0


def _constant(function: Function, known: Values, value: int) -> int | None:
    """The constant that a value is a copy of."""
    for _ in range(_LONGEST):
        made = known.all[value]
        if made.kind != DEFINITION:
            return None
        instruction = function.instructions[made.at]
        if instruction.opcode.mnemonic != "mov" or len(instruction.operands) != 2:
            return None
        source = instruction.operands[1]
        if isinstance(source, Integer):
            return source.value
        behind = known.value_of(made.at, source) if isinstance(source, Register) else None
        if behind is None:
            return None
        value = behind
    return None


def _trips(function: Function, flow: ControlFlow, known: Values, variable: Induction) -> int | None:
    """How often the header runs before the loop is left by its only test, if all is constant."""
    loop = variable.loop
    if variable.start is None or len(loop.exits) != 1 or len(loop.latches) != 1:
        return None
    leaving = flow.blocks[loop.exits[0][0]]
    # Tested once in each turn only where the test stands at the head or at the end.
    if leaving.index not in (loop.header, loop.latches[0]):
        return None
    branch = flow.terminator(leaving)
    test = _test(function, known, leaving.stop - 1, branch)
    if test is None or branch is None or branch.guard is None:
        return None
    name, type_, bound, tested = test
    offset = _distance(function, known, tested, variable.value)
    if offset is None:
        return None
    jump_leaves = not leaving.taken or leaving.taken[0] not in loop
    stay = name if branch.guard.negated == jump_leaves else _NEGATED[name]
    turns = _count(variable.start + offset, variable.step, stay, bound, type_)
    if turns is None:
        return None
    # The header runs once more than the test says "stay".
    return turns + 1


def _test(
    function: Function, known: Values, at: int, branch: Instruction | None
) -> tuple[str, str, int, int] | None:
    """(comparison, type, constant, value compared) of the branch's predicate."""
    if branch is None or branch.guard is None:
        return None
    predicate = known.reads[at][0]
    made = known.all[predicate]
    if made.kind != DEFINITION:
        return None
    setp = function.instructions[made.at]
    modifiers, operands = setp.opcode.modifiers, setp.operands
    if setp.opcode.mnemonic != "setp" or len(modifiers) != 2 or len(operands) != 3:
        return None
    name, type_ = modifiers
    first, second = operands[1], operands[2]
    if isinstance(first, Integer):
        first, second, name = second, first, _TURNED.get(name, "")
    if not (isinstance(first, Register) and isinstance(second, Integer)):
        return None
    value = known.value_of(made.at, first)
    if name not in _NEGATED or type_[0] not in "us" or value is None:
        return None
    return name, type_, second.value, value


def _count(first: int, step: int, stay: str, bound: int, type_: str) -> int | None:
    """How many of first, first + step, … pass ``stay``; None if that is endless or wraps."""
    size = 8 * SIZES[type_]
    low, high = (0, (1 << size) - 1) if type_[0] == "u" else (-1 << (size - 1), (1 << size - 1) - 1)
    if not low <= first <= high or not low <= bound <= high:
        return None
    if stay == "ne":
        whole, rest = divmod(bound - first, step)
        return whole if rest == 0 and whole >= 0 else None
    if stay == "eq":
        return int(first == bound)
    turns = _turns(first, step, stay, bound)
    if turns is None or not low <= first + turns * step <= high:
        return None
    return turns


def _turns(first: int, step: int, stay: str, bound: int) -> int | None:
    """The same for an order, in numbers that have no end; None where it is endless."""
    if stay in ("gt", "ge"):  # downwards is upwards with all signs turned
        first, step, bound = -first, -step, -bound
    last = bound - (stay in ("lt", "gt"))
    if first > last:
        return 0
    return (last - first) // step + 1 if step > 0 else None
