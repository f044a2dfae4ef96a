"""mbarriers that one thread initialises and another uses, with nothing to wait for in between."""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function, Instruction, Variable
from ..barriers.exchanges import unordered
from ..facts import Facts, by_opcode
from ..flow.graph import control_flow
from ..memory.access import Access
from ..memory.accesses import accesses
from ..values.lanes import Threads
from ..values.patterns import Patterns, patterns


class TooEarly(NamedTuple):
    """``use`` of the mbarrier at ``offset`` of ``variable`` in thread ``user`` of a block, which
    ``init`` in thread ``owner`` need not have come before.
    """

    init: Instruction
    use: Instruction
    variable: Variable
    offset: int
    owner: int
    user: int


def has_init(function: Function, facts: Facts) -> bool:
    """Whether a function initialises an mbarrier."""
    return any(
        opcode.mnemonic == "mbarrier" and opcode.modifiers[:1] == ("init",)
        for opcode in facts.once(function, by_opcode)
    )


def too_early(function: Function, facts: Facts) -> list[TooEarly]:
    """For each ``mbarrier.init`` of a kernel whose block is told, the first such use."""
    flow, known = facts.once(function, control_flow), facts.once(function, patterns)
    if not (function.is_kernel and facts.once(function, has_init) and known.space.exact):
        return []
    if not flow.resolved:
        return []
    placed = []
    for access in facts.once(function, accesses):
        if access.role == "mbarrier" and access.space == "shared":
            place, threads = _place(access, known), known.threads(access.index)
            if place is not None and threads is not None:
                placed.append((access, place, threads))
    found = []
    for init, place, owners in placed:
        if init.instruction.opcode.modifiers[:1] != ("init",) or not owners.bits:
            continue
        for use, where, users in placed:
            others = users.bits & ~owners.bits
            if (
                use.index > init.index
                and where == place
                and others
                and use.instruction.opcode.modifiers[:1] not in (("init",), ("inval",))
                and unordered(init.index, use.index, function, facts, flow, fences=False)
            ):
                pair = _lowest(owners), (others & -others).bit_length() - 1
                found.append(TooEarly(init.instruction, use.instruction, *place, *pair))
                break
    return found


def _place(access: Access, known: Patterns) -> tuple[Variable, int] | None:
    """The object and the offset in it, the same for all threads."""
    pattern = access.pattern
    if pattern is None or pattern.lanes or pattern.vector is not None or len(pattern.terms) != 1:
        return None
    variable = pattern.object
    return None if variable is None else (variable, pattern.const)


def _lowest(threads: Threads) -> int:
    return (threads.bits & -threads.bits).bit_length() - 1
