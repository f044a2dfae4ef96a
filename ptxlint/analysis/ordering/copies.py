"""Asynchronous copies to shared memory (cp.async) that are read before they are waited for.

Only what one block shows from the copy to the read, groups and all, or a kernel that never waits.
"""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function, Instruction, Integer, Variable
from ..facts import Facts, by_opcode
from ..flow.graph import ControlFlow, control_flow
from ..memory.access import Access
from ..memory.accesses import accesses
from ..values.patterns import Patterns, patterns
from ..values.threads import WARP_SIZE
from .groups import idle_waits, in_flight, is_copy

NO_WAIT, NOT_COMMITTED, TOO_WEAK = "no wait", "not committed", "too weak"
_READS = frozenset({"read"})


class EarlyRead(NamedTuple):
    """``read`` takes from ``variable`` (None: somewhere in shared memory) what ``copy`` brings, and
    may come first. ``why``: the kernel has ``no wait``; the copy is ``not committed`` to a group;
    or the ``wait`` before it is ``too weak``: it leaves ``pending`` groups in flight, the copy's
    among them.
    """

    why: str
    read: Instruction
    copy: Instruction
    variable: Variable | None
    wait: Instruction | None
    pending: int


class _Copy(NamedTuple):
    access: Access
    variable: Variable | None  # None: not known
    places: frozenset[int]  # words of the object, of all threads; empty: not known


def has_copies(function: Function, facts: Facts) -> bool:
    """Whether a function has a ``cp.async`` that is no bulk copy."""
    return any(is_copy(opcode) for opcode in facts.once(function, by_opcode))


def early_reads(function: Function, facts: Facts) -> list[EarlyRead]:
    """All such reads of a kernel, each once, in order."""
    if not function.is_kernel or "call" in facts.module.mnemonics:
        return []
    flow = facts.once(function, control_flow)
    if not flow.resolved:
        return []
    known = facts.once(function, patterns)
    if not any(map(_waits, function.instructions)):
        return _never_awaited(function, facts, flow, known)
    idle = {id(each.wait) for each in facts.once(function, idle_waits)}  # PTX507's
    return [each for each in _in_blocks(function, facts, flow, known) if id(each.wait) not in idle]


def _waits(instruction: Instruction) -> bool:
    """cp.async.wait_group, wait_all, or an mbarrier that copies arrive at."""
    opcode = instruction.opcode
    return opcode.mnemonic == "cp" and any(
        name in opcode.modifiers for name in ("wait_group", "wait_all", "mbarrier")
    )


def _copies(function: Function, facts: Facts, known: Patterns) -> dict[int, _Copy]:
    found = {}
    for access in facts.once(function, accesses):
        opcode = access.instruction.opcode
        if access.space == "shared" and access.writes and is_copy(opcode):
            count = access.instruction.operands[2] if len(access.instruction.operands) > 2 else None
            size = count.value if isinstance(count, Integer) else 0
            variable, places = _places(access, known, size)
            found[access.index] = _Copy(access, variable, places)
    return found


def _places(access: Access, known: Patterns, size: int) -> tuple[Variable | None, frozenset[int]]:
    """The object, and the words of it that the block's threads use (of one that is not told, its
    first warp's), where that is known.
    """
    operand = access.operand
    pattern = known.address(access.index, operand) if hasattr(operand, "base") else None  # type: ignore[arg-type]
    if pattern is None or pattern.lanes:
        return None, frozenset()
    variable = pattern.object
    if variable is None or len(pattern.terms) != 1 or not size:
        return variable, frozenset()
    steps = (0,) if pattern.vector is None else pattern.vector.values
    if not known.space.exact:
        steps = steps[:WARP_SIZE]  # what more threads a block has is not known
    words: set[int] = set()
    for step in steps:
        start = pattern.const + step
        words.update(range(start // 4, (start + size - 1) // 4 + 1))
    return variable, frozenset(words)


def _read_places(access: Access, known: Patterns) -> tuple[Variable | None, frozenset[int]]:
    size = 16 if access.instruction.opcode.mnemonic == "ldmatrix" else access.size or 0
    return _places(access, known, size)


def _reads(function: Function, facts: Facts) -> dict[int, Access]:
    return {
        access.index: access
        for access in facts.once(function, accesses)
        if access.space == "shared" and access.kind in _READS and access.role == "data"
        if access.instruction.opcode.mnemonic in ("ld", "ldmatrix")
    }


def _in_blocks(
    function: Function, facts: Facts, flow: ControlFlow, known: Patterns
) -> list[EarlyRead]:
    """Within each block: its copies go into groups, and its waits leave the last few in flight."""
    copies, reads = _copies(function, facts, known), _reads(function, facts)
    found = []
    for index in flow.order:
        block = flow.blocks[index]
        groups: list[list[_Copy]] = []
        loose: list[_Copy] = []
        wait: Instruction | None = None
        flying: list[list[_Copy]] = []  # groups that the last wait left in flight
        for at in range(block.start, block.stop):
            instruction = flow.instructions[at]
            if at in copies:
                loose.append(copies[at])
            elif (
                instruction.opcode.mnemonic == "cp"
                and "commit_group" in instruction.opcode.modifiers
            ):
                groups.append(loose)
                loose = []
            elif _waits(instruction):
                if "wait_all" in instruction.opcode.modifiers:
                    loose = []
                groups = list(in_flight(groups, instruction))
                flying, wait = list(groups), instruction
            elif at in reads and wait is not None:
                one = _read(reads[at], flying, loose, wait, known)
                if one is not None:
                    found.append(one)
    return found


def _read(
    access: Access,
    flying: list[list[_Copy]],
    loose: list[_Copy],
    wait: Instruction,
    known: Patterns,
) -> EarlyRead | None:
    variable, places = _read_places(access, known)
    if variable is None or not places:
        return None
    for why, waiting in (
        (TOO_WEAK, [c for group in flying for c in group]),
        (NOT_COMMITTED, loose),
    ):
        for copy in waiting:
            before = copy.access.index < access.index and copy.access.instruction.start < wait.start
            if before and copy.variable is variable and copy.places & places:
                made = copy.access.instruction
                return EarlyRead(why, access.instruction, made, variable, wait, len(flying))
    return None


def _never_awaited(
    function: Function, facts: Facts, flow: ControlFlow, known: Patterns
) -> list[EarlyRead]:
    """The first read after a copy, of what it brings, in a kernel without any wait."""
    copies, reads = _copies(function, facts, known), _reads(function, facts)
    for at, copy in sorted(copies.items()):
        reached = flow.following(flow.block_of[at])
        for index, access in sorted(reads.items()):
            block = flow.block_of[index]
            after = index > at if block == flow.block_of[at] else reached >> block & 1
            if not after:
                continue
            variable, places = _read_places(access, known)
            known_places = places and copy.places
            same = variable is copy.variable or variable is None or copy.variable is None
            if same and (not known_places or places & copy.places):
                made = copy.access.instruction
                return [EarlyRead(NO_WAIT, access.instruction, made, copy.variable, None, 0)]
    return []


def named(variable: Variable | None) -> str:
    """The object in words."""
    return "shared memory" if variable is None else f"`{variable.name}`"
