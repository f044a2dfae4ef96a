"""What an instruction may ask while it is evaluated: operands, and where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...isa.types import SIZES
from ...ptx.ir import (
    Address,
    Float,
    Function,
    Instruction,
    Integer,
    Operand,
    Prefixed,
    Register,
    SpecialRegister,
    Symbol,
    Variable,
)
from ..bitset import members
from ..facts import Facts
from ..flow.graph import ControlFlow, control_flow
from ..flow.registers import RegisterUse
from ..flow.ssa import Values, values
from .algebra import Algebra
from .copies import canonical
from .divergence import PARTED, divergence
from .pattern import Pattern
from .predicates import negate
from .shifts import truncate, widen
from .sources import object_address
from .threads import ThreadSpace

if TYPE_CHECKING:
    from .joins import Joins

_WIDTHS = {"pred": 1, **{type_: 8 * size for type_, size in SIZES.items()}}


class Reader:
    """Patterns of operands as the instruction that is being evaluated reads them.

    ``patterns`` has them by value, None where unknown; ``known`` is whether a value was evaluated.
    ``instruction`` is the index of the instruction, ``block`` its block, ``current`` the value that
    is worked out (-1: a question from outside).
    """

    joins: Joins

    def __init__(
        self, function: Function, facts: Facts, space: ThreadSpace, algebra: Algebra, interior: bool
    ) -> None:
        self.space = space
        self.algebra = algebra
        self.interior = interior
        self.kernel = function.is_kernel
        self.flow: ControlFlow = facts.once(function, control_flow)
        self.ssa: Values = facts.once(function, values)
        self.use: RegisterUse = self.ssa.use
        self.canonical = facts.once(function, canonical)
        self.divergence = divergence(function, facts)
        self._function = function
        self._stack: bool | None = None
        self.known = bytearray(len(self.ssa.all))
        self.patterns: list[Pattern | None] = [None] * len(self.ssa.all)
        self.instruction = -1
        self.block = 0
        self.current = -1
        self._parameters = {id(v) for v in function.parameters}
        self._specials: dict[str, Pattern | None] = {}
        self._leavers: dict[int, set[int]] = {}  # loop -> values that use what left it
        self._in_loops: dict[int, set[int]] = {}  # loop -> results whose place in it matters

    @property
    def may_have_stack(self) -> bool:
        """Whether a generic address may be one of the thread's own memory."""
        if self._stack is None:
            self._stack = _has_stack(self._function)
        return self._stack

    def read(self, operand: Operand, width: int) -> Pattern | None:
        """The pattern of an operand of the current instruction, as ``width`` bits (0: its own)."""
        found: Pattern | None
        kind = type(operand)
        if kind is Register:
            found = self._register(operand)  # type: ignore[arg-type]
        elif isinstance(operand, (Integer, Float)):
            value = operand.value if isinstance(operand, Integer) else operand.bits
            return self.algebra.constant(value, width or 64)
        elif isinstance(operand, SpecialRegister):
            found = self.special(operand.name)
        elif isinstance(operand, Symbol):
            found = object_address(self, operand)
        elif isinstance(operand, Prefixed) and operand.operator == "!":
            found = self.read(operand.operand, 1)
            return None if found is None else negate(self.algebra, found)
        else:
            return None
        if found is None or not width or found.width == width:
            return found
        return self.fit(found, width)

    def fit(self, pattern: Pattern, width: int) -> Pattern | None:
        """The pattern in a register of another width: the low bits, or with zeros above."""
        if pattern.width == width:
            return pattern
        if pattern.width > width:
            return truncate(self.algebra, pattern, width)
        return widen(self.algebra, pattern, width, False)

    def _register(self, register: Register) -> Pattern | None:
        at = self.instruction
        number, numbers = self.use.numbers.get(register), self.use.reads[at]
        values_ = self.ssa.reads[at]
        if number not in numbers or not values_:
            return None
        value = self.canonical[values_[numbers.index(number)]]
        pattern = self.patterns[value]
        return pattern if pattern is None or not pattern.loops else self.seen(value, self.block)

    def seen(self, value: int, block: int) -> Pattern | None:
        """The pattern of a value where it is used: after a loop that lanes left at different
        turns, what changed with the turns is no longer the same in all.
        """
        value = self.canonical[value]
        pattern = self.patterns[value]
        if pattern is None or not pattern.loops:
            return pattern
        for loop in members(pattern.loops & ~self.divergence.around[block]):
            if pattern is None:
                break
            self._leavers.setdefault(loop, set()).add(self.current)
            pattern = self.joins.after_loop(pattern, loop)
        return pattern

    def special(self, name: str) -> Pattern | None:
        """The pattern of a special register; None where it differs by lane or by time."""
        if name not in self._specials:
            self._specials[name] = self._special(name)
        return self._specials[name]

    def _special(self, name: str) -> Pattern | None:
        coordinate = self.space.registers.get(name)
        if coordinate is None:
            return None
        width = 64 if name == "%gridid" else 32
        parts: list[tuple[Pattern, int]] = []
        if coordinate.values is not None:
            parts.append((self.algebra.threads(coordinate.values, width, coordinate.assumed), 1))
        if coordinate.mask is not None:
            symbol = self.algebra.symbols.get(
                "special",
                name,
                mask=coordinate.mask,
                scope=coordinate.scope,
                assumptions=coordinate.mask_assumed,
            )
            parts.append((self.algebra.symbol(symbol, width), coordinate.factor))
        return self.algebra.sum(width, parts)

    def is_parameter(self, variable: Variable) -> bool:
        """Whether a variable is a parameter of the function."""
        return id(variable) in self._parameters

    def around(self) -> int | None:
        """The loops around the current instruction; None where lanes of different turns may meet
        in it.
        """
        loops = self.divergence.around[self.block]
        for loop in members(loops):
            self._in_loops.setdefault(loop, set()).add(self.current)
            if self.divergence.mixed[loop] == PARTED:
                return None
        return loops

    def address(self, operand: Address, width: int = 64) -> Pattern | None:
        """The pattern of an address of the current instruction."""
        base = operand.base
        if operand.rest:
            return None
        if base is None:
            return self.algebra.constant(operand.offset, width)
        found = self.read(base, 0)
        if found is None or not operand.offset:
            return found
        return self.algebra.beyond(found, operand.offset)

    def at(self, instruction: int) -> None:
        """Make an instruction the current one, for questions from outside."""
        self.instruction = instruction
        self.block = self.flow.block_of[instruction]
        self.current = -1

    def guard_at(self, at: int) -> Pattern | None:
        """The guard of any instruction, while another one is evaluated."""
        before = self.instruction, self.block
        self.instruction, self.block = at, self.flow.block_of[at]
        found = self.guard(at)
        self.instruction, self.block = before
        return found

    def guard(self, at: int) -> Pattern | None:
        """The guard of the current instruction, at index ``at``; it must have one."""
        guard = self.flow.instructions[at].guard
        if guard is None:
            return self.algebra.constant(1, 1)
        found = self.read(guard.register, 1)
        return negate(self.algebra, found) if found is not None and guard.negated else found


def width_of(register: Register) -> int:
    """Bits of a register."""
    return _WIDTHS.get(register.variable.type, 64)


def _has_stack(function: Function) -> bool:
    if not function.is_kernel:
        return True
    for statement in function.walk():
        if type(statement) is Instruction:
            if statement.opcode.mnemonic in ("call", "alloca"):
                return True
        else:
            variables = getattr(statement, "variables", ())
            if any(v.space == "local" for v in variables):
                return True
    return False
