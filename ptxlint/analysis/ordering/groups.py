"""Groups of asynchronous copies (cp.async): waits that come ahead of every commit."""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function, Instruction, Opcode
from ..facts import Facts, by_opcode
from ..flow.graph import ControlFlow, control_flow


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


def has_groups(function: Function, facts: Facts) -> bool:
    """Whether a function commits groups of such copies."""
    return any(_is_group(opcode, "commit_group") for opcode in facts.once(function, by_opcode))


def idle_waits(function: Function, facts: Facts) -> list[IdleWait]:
    """Each ``cp.async.wait_group`` that no commit can come before, where copies do and a commit can
    follow; whatever the conditions are.
    """
    if not function.is_kernel or "call" in facts.module.mnemonics:
        return []  # others may commit
    if not has_groups(function, facts):
        return []
    flow = facts.once(function, control_flow)
    if not flow.resolved:
        return []
    copies, waits, commits = list[int](), list[int](), list[int]()
    for block in sorted(flow.order):
        for at in range(flow.blocks[block].start, flow.blocks[block].stop):
            opcode = flow.instructions[at].opcode
            if is_copy(opcode):
                copies.append(at)
            elif _is_group(opcode, "wait_group"):
                waits.append(at)
            elif _is_group(opcode, "commit_group"):
                commits.append(at)
    found = []
    for wait in waits:
        if any(_leads(commit, wait, flow) for commit in commits):
            continue
        before = [copy for copy in copies if _leads(copy, wait, flow)]
        behind = [commit for commit in commits if _leads(wait, commit, flow)]
        if before and behind:
            code = flow.instructions
            found.append(IdleWait(code[wait], code[before[-1]], code[behind[0]]))
    return found


def _leads(first: int, second: int, flow: ControlFlow) -> bool:
    start, end = flow.block_of[first], flow.block_of[second]
    return (start == end and first < second) or bool(flow.following(start) >> end & 1)
