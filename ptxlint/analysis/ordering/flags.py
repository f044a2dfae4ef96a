"""Flags that tell another thread that data are there, with nothing that orders the two.

Both in one straight run of code: a store of data and the store of the flag behind it; a loop that
waits for a flag and the load of data behind it. Data and flag are of two parameters or objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ...isa.memory import memory_effect
from ...ptx.ir import Address, Function, Instruction
from ..dependence.polling import polling_branches
from ..facts import Facts, by_opcode
from ..flow.graph import ControlFlow, control_flow
from ..flow.loops import loops
from ..memory.bases import Base
from ..memory.pointers import pointers

_OUTSIDE = ("global", "generic")
_STRONG = ("relaxed", "volatile")
_WORD = 4  # bytes: wider ones may bring the data along with the flag
_WAITS = frozenset({"mbarrier", "call"})


class Unordered(NamedTuple):
    """``flag`` (of ``flag_base``) and ``data`` (of ``data_base``), in the wrong order for someone;
    ``branch`` leaves the loop that waits for the flag.
    """

    flag: Instruction
    data: Instruction
    flag_base: Base
    data_base: Base
    branch: Instruction | None = None


def has_flag_store(function: Function, facts: Facts) -> bool:
    """Whether a strong store of one word, and a plain one, go where other blocks may see them."""
    return _has("st", function, facts)


def has_flag_load(function: Function, facts: Facts) -> bool:
    """Whether there is a strong load of one word, and a plain load, of what other blocks see."""
    return _has("ld", function, facts)


def _has(mnemonic: str, function: Function, facts: Facts) -> bool:
    chosen = [each[0] for each in facts.once(function, by_opcode).values()]
    chosen = [each for each in chosen if each.opcode.mnemonic == mnemonic]
    return any(map(_is_flag, chosen)) and any(map(_is_data, chosen))


def _is_flag(instruction: Instruction) -> bool:
    effect = memory_effect(instruction.opcode.mnemonic, instruction.opcode.modifiers)
    return (
        effect.order in _STRONG
        and effect.elements == 1
        and (effect.element or 0) <= _WORD
        and any(row.space in _OUTSIDE for row in effect.addresses)
    )


def _is_data(instruction: Instruction) -> bool:
    effect = memory_effect(instruction.opcode.mnemonic, instruction.opcode.modifiers)
    return (
        effect.order == "weak"
        and "nc" not in effect.cache
        and any(row.space in _OUTSIDE for row in effect.addresses)
    )


def _orders(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    effect = memory_effect(opcode.mnemonic, opcode.modifiers)
    return opcode.mnemonic in _WAITS or effect.orders


def unreleased(function: Function, facts: Facts) -> list[Unordered]:
    """Each such store of a flag with the last plain store ahead of it in its block."""
    if not facts.once(function, has_flag_store):
        return []
    flow = facts.once(function, control_flow)
    found = []
    for index in flow.order:
        block = flow.blocks[index]
        for at in range(block.start, block.stop):
            flag = flow.instructions[at]
            if flag.opcode.mnemonic == "st" and _is_flag(flag):
                ahead = range(at - 1, block.start - 1, -1)
                one = _other(at, ahead, "st", function, facts, flow)
                if one is not None:
                    found.append(one)
    return found


def unacquired(function: Function, facts: Facts) -> list[Unordered]:
    """Each loop that waits for a flag, with the first plain load behind it of what the kernel has
    not read before.
    """
    if not facts.once(function, has_flag_load):
        return []
    flow, nest = facts.once(function, control_flow), facts.once(function, loops)
    found = []
    for branch, waited in facts.once(function, polling_branches).items():
        flags = [at for at in waited if flow.instructions[at].opcode.mnemonic == "ld"]
        loop = nest.innermost(flow.block_of[branch])
        if len(flags) != 1 or len(waited) != 1 or not _is_flag(flow.instructions[flags[0]]):
            continue
        if loop is None:
            continue
        if any(_orders(flow.instructions[at]) for at in flow.places(loop.blocks)):
            continue
        for target in flow.blocks[flow.block_of[branch]].successors:
            if target not in loop:
                behind = _behind(target, flow)
                one = _other(flags[0], behind, "ld", function, facts, flow)
                if one is not None and _awaited(one, function, facts, flow, flags[0]):
                    found.append(one._replace(branch=flow.instructions[branch]))
    return found


def _behind(block: int, flow: ControlFlow) -> Iterator[int]:
    """Instructions from a block on that come one after the other."""
    seen: set[int] = set()
    while block not in seen:
        seen.add(block)
        yield from range(flow.blocks[block].start, flow.blocks[block].stop)
        following = flow.blocks[block].successors
        if len(following) != 1:
            return
        block = following[0]


def _other(
    at: int,
    order: Iterable[int],
    mnemonic: str,
    function: Function,
    facts: Facts,
    flow: ControlFlow,
) -> Unordered | None:
    """The first plain access in ``order`` of another object than the flag's, with nothing that
    orders accesses ahead of it.
    """
    base = _base(at, function, facts, flow)
    if base is None:
        return None
    for each in order:
        data = flow.instructions[each]
        if _orders(data):
            return None
        if data.opcode.mnemonic == mnemonic and _is_data(data):
            other = _base(each, function, facts, flow)
            if other is not None and other is not base:
                return Unordered(flow.instructions[at], data, base, other)
    return None


def _base(at: int, function: Function, facts: Facts, flow: ControlFlow) -> Base | None:
    """The parameter or object of global memory that an access is based on."""
    instruction = flow.instructions[at]
    operand = next((o for o in instruction.operands if type(o) is Address), None)
    base = facts.once(function, pointers).of(at, operand).base if operand is not None else None
    if base is None or base.kind not in ("parameter", "variable"):
        return None
    inside = base.kind == "variable" and base.variable is not None
    return None if inside and base.variable.space != "global" else base  # type: ignore[union-attr]


def _awaited(
    found: Unordered, function: Function, facts: Facts, flow: ControlFlow, flag: int
) -> bool:
    """Whether the data seem to be what is waited for: nothing has read them before; and where this
    kernel sets the flag too, it writes the data too.
    """
    written = set()
    for at, instruction in enumerate(flow.instructions):
        mnemonic = instruction.opcode.mnemonic
        if mnemonic in ("ld", "st", "atom", "red"):
            base = _base(at, function, facts, flow)
            if mnemonic != "ld":
                written.add(base)
            elif at < flag and base is found.data_base:
                return False
    return found.flag_base not in written or found.data_base in written
