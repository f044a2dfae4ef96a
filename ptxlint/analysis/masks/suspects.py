"""Which operations may have a wrong mask at all: a sieve over names, before any value is known.

An operation of the full mask can be wrong only behind a branch or guard that parts the lanes of a
warp in a way known by thread. The sieve knows registers by name, in the order of the text: what it
lets through is looked at, what it holds back is silent.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ptx.ir import (
    Function,
    Instruction,
    Integer,
    Opcode,
    Operand,
    Pair,
    SpecialRegister,
)
from ..facts import Facts
from ..flow.graph import ControlFlow, control_flow
from ..launch import launch_shape
from .operations import FULL, WarpOperation, needed_operands

_MOVES = frozenset({"mov", "cvt", "selp", "setp", "set", "prmt", "szext"})
_BITS = frozenset({"shl", "shr", "shf", "and", "or", "xor", "not", "lop3", "bfe", "bfi", "bmsk"})
_COUNTS = frozenset({"popc", "clz", "brev", "bfind"})
_NUMBERS = frozenset({"add", "sub", "mul", "mad", "neg", "abs", "min", "max", "div", "rem"})
_ARITHMETIC = _MOVES | _BITS | _COUNTS | _NUMBERS
# What an operand may be: a number; the same in a warp; the thread's index; anything by thread.
_NUMBER, _OF_WARP, _INDEX, _BY_LANE = range(4)
_OF_LANES = {"%tid.x": _INDEX, "%warpid": _OF_WARP}
_WARP_BITS = 5
_TOLD = frozenset({Integer, SpecialRegister})


class Sieve:
    """What names say of one function: its operations, and what registers may be known for each
    thread. ``kinds`` has registers made of a thread's coordinates and numbers alone,
    ``constants`` those that hold one number wherever they are written (None: not worked out).
    """

    def __init__(self, function: Function, takes: dict[Opcode, int]) -> None:
        self.operations: list[WarpOperation] = []
        self.constants: dict[Operand, int | None] = {}
        self.kinds: dict[Operand, int] = {}
        kinds = self.kinds
        computes: dict[Opcode, bool] = {}
        for index, instruction in enumerate(function.instructions):
            opcode = instruction.opcode
            if opcode not in computes:
                computes[opcode] = opcode.mnemonic in _ARITHMETIC
            if computes[opcode]:
                operands = instruction.operands
                # Most fail here, being of values that no name tells of, or are a plain number.
                source = operands[1]
                if source not in kinds and type(source) not in _TOLD:
                    continue
                if len(operands) > 2:
                    source = operands[2]
                    if source not in kinds and type(source) not in _TOLD:
                        continue
                elif type(source) is Integer and operands[0] not in kinds and not instruction.guard:
                    kinds[operands[0]] = _NUMBER
                    self.constants[operands[0]] = source.value
                    continue
                self._enter(instruction)
            elif opcode in takes and takes[opcode] == len(instruction.operands):
                operation = WarpOperation(index, instruction, instruction.operands[-1])
                self.operations.append(operation)

    def constant(self, operand: Operand) -> int | None:
        """The number that an operand is in all lanes, as far as names tell."""
        return operand.value if type(operand) is Integer else self.constants.get(operand)

    def known(self, operand: Operand) -> bool:
        """Whether an operand may be known for each thread."""
        return type(operand) is Integer or operand in self.kinds

    def parts(self, instruction: Instruction) -> bool:
        """Whether its guard may be true in some lanes of a warp and false in others."""
        guard = instruction.guard
        return guard is not None and self.kinds.get(guard.register, _NUMBER) > _OF_WARP

    def _enter(self, instruction: Instruction) -> None:
        operands = instruction.operands
        kind = _NUMBER
        for source in operands[1:]:
            what = type(source)
            if what is Integer:
                continue
            if what is SpecialRegister:
                here = _special(source)
            else:
                here = self.kinds.get(source, -1)
            if here < 0:
                return
            kind = max(kind, here)
        mnemonic = instruction.opcode.mnemonic
        if kind == _INDEX:
            kind = self._of_index(instruction)
        if instruction.guard is not None:
            kind = _BY_LANE
        target = operands[0]
        for each in (target.first, target.second) if type(target) is Pair else (target,):
            kind = self.kinds[each] = max(kind, self.kinds.get(each, _NUMBER))
            if kind == _NUMBER:
                value = self.constant(operands[1]) if mnemonic == "mov" else None
                if self.constants.get(each, value) != value:
                    value = None
                self.constants[each] = value
            else:
                self.constants.pop(each, None)

    def _of_index(self, instruction: Instruction) -> int:
        """What becomes of a thread's index."""
        mnemonic, operands = instruction.opcode.mnemonic, instruction.operands
        if mnemonic in ("mov", "cvt"):
            return _INDEX
        number = self.constant(operands[2]) if len(operands) == 3 else None
        if number is None:
            return _BY_LANE
        if mnemonic == "shr":
            return _OF_WARP if number >= _WARP_BITS else _BY_LANE
        if mnemonic == "setp":
            # Between two warps: below 32 k, or above 32 k - 1.
            modifiers = instruction.opcode.modifiers
            low = number + 1 if modifiers[0] in ("gt", "le", "hi", "ls") else number
            between = modifiers[0] not in ("eq", "ne") and low % (1 << _WARP_BITS) == 0
            return _OF_WARP if between else _BY_LANE
        return _BY_LANE


def _special(operand: Operand) -> int:
    assert type(operand) is SpecialRegister
    name = operand.name
    if name.startswith(("%tid", "%laneid", "%lanemask_", "%warpid")):
        return _OF_LANES.get(name, _BY_LANE)
    return -1


def suspects(function: Function, facts: Facts) -> list[WarpOperation]:
    """The operations that are worth a look, in order."""
    takes = needed_operands(function, facts)
    if not takes:
        return []
    sieve = Sieve(function, takes)
    short = _has_short_warp(function, facts)
    behind: int | None = None
    found: list[WarpOperation] = []
    for operation in sieve.operations:
        if not sieve.known(operation.mask):
            continue
        constant = sieve.constant(operation.mask)
        partial = constant is None or constant & FULL != FULL
        if partial or short or sieve.parts(operation.instruction):
            found.append(operation)
            continue
        flow = facts.once(function, control_flow)
        if behind is None:
            behind = blocks_behind(flow, sieve.parts)
        if behind >> flow.block_of[operation.at] & 1:
            found.append(operation)
    return found


def _has_short_warp(function: Function, facts: Facts) -> bool:
    """Whether a told block leaves its last warp without some lanes: no branch is needed then."""
    if facts.options.block is None and function.directive("reqntid") is None:
        return False
    threads = facts.once(function, launch_shape).threads
    return threads is not None and threads % (1 << _WARP_BITS) != 0


def blocks_behind(flow: ControlFlow, parts: Callable[[Instruction], bool]) -> int:
    """The blocks (a bit set) that are entered through one arm of a branch that parts lanes."""
    arms: dict[int, int] = {}
    for block in flow.blocks:
        ways = block.successors
        if len(ways) + block.leaves > 1 and parts(flow.instructions[block.stop - 1]):
            for way in ways:
                if flow.blocks[way].predecessors == [block.index]:
                    arms[way] = 1 << len(arms)
    found = 0
    if not arms:
        return found
    through = [-1] * len(flow.blocks)  # the arms that every way there passes; -1: not seen yet
    for index in flow.order:
        passed = -1 if flow.blocks[index].predecessors else 0
        for predecessor in flow.blocks[index].predecessors:
            passed &= through[predecessor]  # a way round a loop adds none
        through[index] = passed = max(passed, 0) | arms.get(index, 0)
        if passed:
            found |= 1 << index
    return found
