"""A quick look at objects: which are aligned less than some access of a function needs."""

from __future__ import annotations

from ...ptx.ir import Address, Function, Offset, Opcode, Symbol, Variable
from ..alignment import LARGEST, MNEMONICS, plain_need
from ..facts import Facts, by_opcode
from ..objects import alignment_of

_NAMING = frozenset({"mov", "cvta", "add", "sub", "mad"})  # may take an object's address
_SPACES = frozenset({"global", "shared", "const", "local"})


def small_objects(function: Function, facts: Facts) -> dict[str, int]:
    """By space, the least alignment of the objects that a function names, where that is less than
    the most that an access of it may need. Whether one meets the other is not asked.
    """
    index = facts.once(function, by_opcode)
    # An address is as good as generic in .global alone; others become so by a cvta.
    generic = {"global"}.union(*[o.modifiers for o in index if o.mnemonic == "cvta"]) & _SPACES
    most: dict[str, int] = {}
    for opcode in index:
        need = most_needed(opcode)
        if need > 1:
            named = _SPACES.intersection([m.split("::")[0] for m in opcode.modifiers])
            for space in named or generic:
                most[space] = max(need, most.get(space, 1))
    return _suspects(function, facts, most) if most else {}


def most_needed(opcode: Opcode) -> int:
    """The most that an address of such an instruction may need to be a multiple of."""
    if opcode.mnemonic not in MNEMONICS:
        return 1
    known = plain_need(opcode)
    if known is not None:
        return known
    return LARGEST if opcode.mnemonic == "cp" and "tensor" in opcode.modifiers else 32


def _suspects(function: Function, facts: Facts, most: dict[str, int]) -> dict[str, int]:
    """By space, the least alignment of the objects that the function names, if under ``most``."""
    named: dict[int, Variable] = {}
    for opcode, instructions in facts.once(function, by_opcode).items():
        if opcode.mnemonic in MNEMONICS or opcode.mnemonic in _NAMING:
            for instruction in instructions:
                for operand in instruction.operands:
                    kind = type(operand)
                    if kind is Address or kind is Offset:
                        operand = operand.base  # type: ignore[attr-defined]
                    if type(operand) is Symbol and isinstance(operand.target, Variable):
                        named[id(operand.target)] = operand.target
    found: dict[str, int] = {}
    for variable in named.values():
        align = alignment_of(variable)
        if align < most.get(variable.space, 1) and concerned(variable):
            found[variable.space] = min(align, found.get(variable.space, align))
    return found


def concerned(variable: Variable) -> bool:
    """Whether the declaration decides: of dynamic shared memory, the launch does."""
    dynamic = variable.space == "shared" and variable.linkage == "extern"
    return variable.space in _SPACES and not dynamic
