"""What opcodes alone tell of a function's use of memory: a quick look before any address."""

from __future__ import annotations

from ...isa.memory import MemoryEffect, memory_effect
from ...ptx.ir import Function, Opcode
from ..facts import Facts, by_opcode

SPACES = frozenset({"global", "shared", "local", "const"})
GENERIC = frozenset({"ld", "ldu", "st", "atom", "red"})  # take a generic address where none is said
# What may bring in what others write, or write where it can't be seen here.
_FENCES = frozenset({"fence", "membar", "griddepcontrol", "call", "sust", "sured", "multimem"})
OUTSIDE = frozenset({"global", "generic", "fabric"})
_UNCACHED = frozenset({"nc", "cv", "lu"})


def generic_opcodes(function: Function, facts: Facts) -> frozenset[Opcode]:
    """Those of loads, stores and atomics by a generic address."""
    return frozenset(
        opcode
        for opcode in facts.once(function, by_opcode)
        if opcode.mnemonic in GENERIC
        and not any(
            m.partition("::")[0] in SPACES or m.startswith("param") for m in opcode.modifiers
        )
    )


def plain_loads(function: Function, facts: Facts) -> frozenset[Opcode]:
    """Those of weak ``ld.global`` through the ordinary caches, in a kernel that also writes to
    global memory and does not wait for what others write. None of code made for a debugger.
    """
    index = facts.once(function, by_opcode)
    if not function.is_kernel or "debug" in facts.module.targets:
        return frozenset()
    effects = {opcode: memory_effect(opcode.mnemonic, opcode.modifiers) for opcode in index}
    plain = frozenset(o for o, effect in effects.items() if _is_plain(o, effect))
    if not plain or not any(_writes(effect) for effect in effects.values()):
        return frozenset()
    return frozenset() if any(_is_open(o, effect) for o, effect in effects.items()) else plain


def _writes(effect: MemoryEffect) -> bool:
    return any(row.space in OUTSIDE and row.writes for row in effect.addresses)


def _is_plain(opcode: Opcode, effect: MemoryEffect) -> bool:
    """A weak ``ld.global`` through the ordinary caches."""
    return (
        opcode.mnemonic == "ld"
        and "global" in opcode.modifiers
        and effect.order == "weak"
        and _UNCACHED.isdisjoint(effect.cache)
    )


def _is_open(opcode: Opcode, effect: MemoryEffect) -> bool:
    """Whether it may let in, or make, writes that are not seen."""
    if opcode.mnemonic in ("fence", "membar"):
        return not {"cta", "proxy"} & set(opcode.modifiers)
    if opcode.mnemonic in _FENCES:
        return True
    outside = any(row.space in OUTSIDE for row in effect.addresses)
    return outside and opcode.mnemonic in ("ld", "st") and effect.order != "weak"
