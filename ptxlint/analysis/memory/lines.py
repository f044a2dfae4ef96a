"""Registers as lines in the lanes of a warp: a quick look before the patterns of ``values``.

Most addresses of most kernels are a straight line in %tid.x, and a part that all lanes share, of
which it is known what divides it. This follows registers by name through the opcodes that make such
addresses. That lanes may come to a register by different definitions is not asked, since where they
do, the patterns know nothing either. It decides only what rules need not look at.
"""

from __future__ import annotations

from ...ptx.ir import (
    Address,
    Function,
    Instruction,
    Integer,
    Offset,
    Operand,
    Register,
    SpecialRegister,
    Symbol,
    Variable,
)
from ..facts import Facts
from ..launch import launch_shape
from ..named import definitions
from .banks import LANES
from .line import ALIGNED, BY_LANE, DATA, SHARED_BY_ALL, TID_X, Line, Origin, combined, join

_DEEPEST = 200
_BY_THREAD = frozenset({"%laneid", "%tid.x", "%tid", "%tid.y", "%tid.z", "%warpid"})
# Opcodes whose result all lanes share if they share the operands.
_ARITHMETIC = "abs add div fma mad mad24 max min mul mul24 neg rem rsqrt sad sqrt sub"
_BITS = "and bfe bfi bfind brev clz cnot lop3 not or popc prmt shf shl shr xor"
_MOVES = "cvt cvta mov selp set setp"
_PURE = frozenset(f"{_ARITHMETIC} {_BITS} {_MOVES}".split())


class Lines:
    """The lines of one function's registers."""

    def __init__(self, function: Function, facts: Facts) -> None:
        shape = facts.once(function, launch_shape)
        # Lanes run along tid.x where the rows of a block are whole warps.
        self._flat = shape.linear if shape.block is None else shape.block[0] % LANES == 0
        self._definitions = facts.once(function, definitions)
        self._known: dict[Register, Line] = {}
        self._supposed: dict[Register, Line] = {}
        self._order: list[Register] = []  # what was found, to be taken back with a supposition
        self._depth = 0

    def of(self, operand: Operand | None) -> Line:
        """The line that an operand is on."""
        if type(operand) is Register:
            return (
                self._known.get(operand) or self._supposed.get(operand) or self._register(operand)
            )
        if type(operand) is Integer:
            return Line(0, operand.value)
        if type(operand) is Symbol:
            return _place_of(operand)
        if type(operand) is SpecialRegister:
            return self._special(operand.name)
        if (type(operand) is Address and not operand.rest) or type(operand) is Offset:
            base = self.of(operand.base)
            return base.moved(operand.offset) if operand.offset else base
        return BY_LANE

    def _special(self, name: str) -> Line:
        if name == "%laneid" and self._flat:
            return Line(1, 0)
        if name == "%tid.x" and self._flat:
            return TID_X
        if name in _BY_THREAD or name.startswith("%lanemask"):
            return BY_LANE
        return Line(0, 0, LANES if name == "%ntid.x" else 1)

    def _register(self, register: Register) -> Line:
        made = self._definitions.get(register)
        if made is None or self._depth > _DEEPEST:
            return BY_LANE
        self._depth += 1
        found = self._made(made[0]) if len(made) == 1 else self._joined(register, made)
        self._depth -= 1
        self._known[register] = found
        self._order.append(register)
        return found

    def _joined(self, register: Register, made: list[Instruction]) -> Line:
        """The line of several definitions: supposed from the first, held to all."""
        supposed = self._made(made[0])
        # Compilers give a register a second value where arms meet alone, and do it with a mov.
        arms = all(each.opcode.mnemonic == "mov" for each in made)
        for _ in range(3):
            start = len(self._order)
            self._supposed[register] = found = supposed
            for each in made:
                found = join(found, self._made(each), arms)
            del self._supposed[register]
            if found == supposed:
                return found
            for other in self._order[start:]:
                self._known.pop(other, None)
            del self._order[start:]
            supposed = found
        return BY_LANE

    def _made(self, instruction: Instruction) -> Line:
        mnemonic, operands = instruction.opcode.mnemonic, instruction.operands
        modifiers = instruction.opcode.modifiers
        if mnemonic in ("ld", "ldu") and len(operands) > 1:
            at = self.of(operands[1])
            if at.data or at.by_lane:
                return DATA
            if not _is_pointer(modifiers):
                return SHARED_BY_ALL
            return Line(0, 0, ALIGNED, origin=_declared(operands[1]))
        if mnemonic == "atom":
            return DATA
        if mnemonic not in _PURE or len(operands) < 2:
            return BY_LANE
        return combined(mnemonic, modifiers, [self.of(operand) for operand in operands[1:]])


def _place_of(symbol: Symbol) -> Line:
    target = symbol.target
    if not isinstance(target, Variable):
        return Line(0, 0, ALIGNED)
    return Line(0, 0, origin=Origin(target.space, target))


def _declared(parameter: Operand) -> Origin | None:
    """What ``.ptr`` says of the space that a kernel's parameter points to."""
    base = parameter.base if type(parameter) is Address and not parameter.offset else None
    target = base.target if type(base) is Symbol else None
    pointer = target.pointer if isinstance(target, Variable) else None
    return Origin(pointer[0], None) if pointer is not None and pointer[0] else None


def _is_pointer(modifiers: tuple[str, ...]) -> bool:
    """Whether a load is of a parameter that may be a pointer, which the launch aligns."""
    return "param" in modifiers and modifiers[-1][1:] == "64"
