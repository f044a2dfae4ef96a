"""Groups of asynchronous copies (cp.async): waits that come ahead of every commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from ...ptx.ir import Function, Instruction, Integer, Opcode
from ..facts import Facts, by_opcode
from ..flow.graph import control_flow

G = TypeVar("G")


class IdleWait(NamedTuple):
    """``wait`` comes ahead of each ``commit_group``; ``commit`` behind it puts ``copy``, which is
    already under way, into a group.
    """

    wait: Instruction
    copy: Instruction
    commit: Instruction


def is_copy(opcode: Opcode) -> bool:
    """Whether it is a ``cp.async`` that copies, and no bulk copy."""
    first, second = (*opcode.modifiers, "", "")[:2]
    return opcode.mnemonic == "cp" and first == "async" and second in ("ca", "cg")


def _is_group(opcode: Opcode, name: str) -> bool:
    return opcode.mnemonic == "cp" and opcode.modifiers == ("async", name)


def in_flight(groups: Sequence[G], wait: Instruction) -> Sequence[G]:
    """The groups, oldest first, that a wait leaves in flight: the youngest, as many as it says."""
    count = wait.operands[0] if wait.operands else None
    left = count.value if isinstance(count, Integer) else 0
    return groups[max(len(groups) - left, 0) :]


def has_groups(function: Function, facts: Facts) -> bool:
    """Whether a function commits groups of such copies."""
    return any(_is_group(opcode, "commit_group") for opcode in facts.once(function, by_opcode))


def idle_waits(function: Function, facts: Facts) -> list[IdleWait]:
    """Each ``cp.async.wait_group`` that no commit can come before, where copies do and a commit can
    follow; whatever the conditions are.
    """
    if not function.is_kernel or "call" in facts.module.mnemonics:
        return []  # others may commit
    if not facts.once(function, has_groups):
        return []
    flow = facts.once(function, control_flow)
    if not flow.resolved:
        return []
    copies, waits, commits = list[int](), list[int](), list[int]()
    for at in flow.places(flow.reached):
        opcode = flow.instructions[at].opcode
        if is_copy(opcode):
            copies.append(at)
        elif _is_group(opcode, "wait_group"):
            waits.append(at)
        elif _is_group(opcode, "commit_group"):
            commits.append(at)
    found = []
    for wait in waits:
        if any(flow.leads(commit, wait) for commit in commits):
            continue
        before = [copy for copy in copies if flow.leads(copy, wait)]
        behind = [commit for commit in commits if flow.leads(wait, commit)]
        if before and behind:
            code = flow.instructions
            found.append(IdleWait(code[wait], code[before[-1]], code[behind[0]]))
    return found
