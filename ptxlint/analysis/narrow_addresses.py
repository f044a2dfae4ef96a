"""Addresses of 32 bits where the file says that addresses have 64.

ptxas 13.5 sees it only after its front end: `Program uses 32-bit address on line '8' which is
conflicting with .address_size 64`, then `32-Bit compilation is no longer supported`. Shared, local,
constant and parameter addresses may have 32 bits.
"""

from __future__ import annotations

from ..ptx.ir import Address, Function, Instruction, Opcode, Register
from .facts import Facts, by_opcode

_MNEMONICS = frozenset({"ld", "st", "atom", "red", "ldu", "prefetch"})
_INTEGERS = frozenset({"b32", "u32", "s32"})
_NARROW_SPACES = frozenset({"shared", "local", "const", "param"})


def narrow_addresses(function: Function, facts: Facts) -> list[tuple[Instruction, Register]]:
    """The accesses of global or generic memory through a 32-bit register, in order."""
    if facts.module.address_size != 64:
        return []
    found = []
    for opcode, instructions in facts.once(function, by_opcode).items():
        if opcode.mnemonic in _MNEMONICS and _is_wide(opcode):
            for instruction in instructions:
                base = _base(instruction)
                if base is not None and base.variable.type in _INTEGERS:
                    found.append((instruction, base))
    return sorted(found, key=lambda pair: pair[0].start)


def _is_wide(opcode: Opcode) -> bool:
    """Whether it is of global or generic memory."""
    return not any(modifier.split("::")[0] in _NARROW_SPACES for modifier in opcode.modifiers)


def _base(instruction: Instruction) -> Register | None:
    for operand in instruction.operands:
        if isinstance(operand, Address):
            return operand.base if isinstance(operand.base, Register) else None
    return None
