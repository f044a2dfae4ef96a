"""Where the value of a register is observed: what an instruction does with it that is more than
passing it on.
"""

from __future__ import annotations

from ...isa.effects import effect
from ...ptx.ir import Address, Arguments, Element, Instruction, Operand, Prefixed, Vector
from .masks import Mask, operand_width

_STORES = frozenset({"st", "atom", "red", "multimem", "sust", "sured"})
_MASKED = frozenset({"shfl", "vote", "match", "redux", "elect"})
_BRANCHES = frozenset({"bra", "brx"})


def observed(instruction: Instruction, undefined: Mask, raw: Mask) -> str | None:
    """What the instruction does with undefined bits: ``is used as an address``; None: nothing.

    ``undefined`` are the undefined bits of an operand, ``raw`` those of them that were only moved,
    never computed. Compilers fill parameters, results and the end of stored vectors up with copies
    of values that nobody wrote; there only computed ones count.
    """
    mnemonic = instruction.opcode.mnemonic
    if instruction.guard is not None and undefined(instruction.guard.register):
        if mnemonic in _BRANCHES:
            return "decides a branch"
        return f"decides whether a `{mnemonic}` runs"
    for operand in instruction.operands:
        if type(operand) is Address and _in_address(operand, mnemonic, undefined):
            return "is used as an address"
    if mnemonic == "call":
        return _argument(instruction, undefined, raw)
    operands = instruction.operands
    results = effect(mnemonic, instruction.opcode.modifiers).results
    if operands and type(operands[0]) is Address:
        results = 0
    if mnemonic in _STORES:
        return _stored(instruction, results, undefined, raw)
    if mnemonic in _MASKED:
        return _member_mask(instruction, undefined)
    if mnemonic == "wgmma":  # its descriptors and flags; fragments may have rows that nobody wants
        operands = tuple(o for o in operands[results:] if not isinstance(o, Vector))
    elif results:
        return None
    for operand in operands:
        if type(operand) is not Address and any(map(undefined, _leaves(operand))):
            return f"is an operand of `{instruction.opcode}`"
    return None


def _leaves(operand: Operand) -> tuple[Operand, ...]:
    if isinstance(operand, (Vector, Arguments)):
        return operand.elements
    return (operand,)


def _in_address(address: Address, mnemonic: str, undefined: Mask) -> bool:
    if address.base is not None and undefined(address.base):
        return True
    for operand in address.rest:
        elements = _leaves(operand)
        if len(elements) == 4 and mnemonic != "cp":
            elements = elements[:3]  # the fourth coordinate is there for its width alone
        if any(map(undefined, elements)):
            return True
    return False


def _argument(instruction: Instruction, undefined: Mask, raw: Mask) -> str | None:
    for operand in instruction.operands:
        if isinstance(operand, Arguments):
            if any(undefined(each) & ~raw(each) for each in operand.elements):
                return "is passed to a call"
        elif undefined(operand):
            return "decides what is called"
    return None


def _stored(instruction: Instruction, results: int, undefined: Mask, raw: Mask) -> str | None:
    opcode = instruction.opcode
    bits = (1 << operand_width(opcode)) - 1
    # An object of an empty class is one byte that nobody writes; -G copies it about.
    padding = bits == 0xFF or "param" in opcode.modifiers or "param::func" in opcode.modifiers
    what = "is stored" if opcode.mnemonic == "st" else f"is an operand of `{opcode}`"
    for operand in instruction.operands[results:]:
        if type(operand) is Address:
            continue
        elements = _leaves(operand)
        wanted = len(elements)
        if len(elements) > 1 or padding:
            while wanted and _untouched(elements[wanted - 1], undefined, raw):
                wanted -= 1
            if not wanted and not padding:
                return what
        if any(undefined(each) & bits for each in elements[:wanted]):
            return what
    return None


def _untouched(operand: Operand, undefined: Mask, raw: Mask) -> bool:
    """Whether an operand is as nobody wrote it: what compilers put at the end of a vector."""
    mask = undefined(operand)
    return bool(mask) and mask == raw(operand)


def _member_mask(instruction: Instruction, undefined: Mask) -> str | None:
    if "sync" in instruction.opcode.modifiers and instruction.operands:
        mask = instruction.operands[-1]
        if not isinstance(mask, (Prefixed, Element)) and undefined(mask):
            return "is used as a member mask"
    return None
