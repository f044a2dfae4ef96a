"""Where diverged lanes meet again: immediate post-dominators of an own control-flow graph.

The graph's nodes are instructions. Exits, returns, traps and the end of the body lead to one
virtual exit; so do branches whose targets are not known.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..ptx.ir import Function, Instruction, Label, Operand, Symbol, Targets

_LEAVES = frozenset({"exit", "ret", "trap"})


def targets_of(instruction: Instruction, labels: Mapping[Label, int]) -> list[int]:
    """The places that a ``bra`` or ``brx.idx`` names, in order; unknown names are left out."""
    operands: tuple[Operand, ...] = instruction.operands[-1:]
    if instruction.opcode.mnemonic == "brx" and isinstance(operands[0], Symbol):
        label = operands[0].target
        if isinstance(label, Label) and isinstance(label.directive, Targets):
            operands = label.directive.names
    found = []
    for operand in operands:
        target = operand.target if isinstance(operand, Symbol) else None
        if isinstance(target, Label) and target in labels:
            found.append(labels[target])
    return found


def successors(function: Function, labels: Mapping[Label, int]) -> list[list[int]]:
    """The places after each instruction; their number stands for the exit."""
    end = len(function.instructions)
    found = []
    for pc, instruction in enumerate(function.instructions):
        mnemonic = instruction.opcode.mnemonic
        onward = [pc + 1]
        if mnemonic in ("bra", "brx"):
            onward = targets_of(instruction, labels) or [end]
        elif mnemonic in _LEAVES:
            onward = [end]
        if instruction.guard is not None and pc + 1 not in onward:
            onward.append(pc + 1)
        found.append(onward)
    return found


def reconvergence(function: Function, labels: Mapping[Label, int]) -> dict[int, int]:
    """The immediate post-dominator of each instruction with two ways or more."""
    after = successors(function, labels)
    end = len(after)
    before: list[list[int]] = [[] for _ in range(end + 1)]
    for pc, onward in enumerate(after):
        for place in onward:
            before[place].append(pc)
    number = _number(before, end)
    parents = {end: end}
    changed = True
    ordered = sorted(number, key=number.__getitem__)[1:]
    while changed:
        changed = False
        for pc in ordered:
            known = [place for place in after[pc] if place in parents]
            if not known:
                continue
            best = known[0]
            for place in known[1:]:
                best = _meet(best, place, parents, number)
            if parents.get(pc) != best:
                parents[pc] = best
                changed = True
    return {pc: parents.get(pc, end) for pc in range(end) if len(after[pc]) > 1}


def _number(before: list[list[int]], end: int) -> dict[int, int]:
    """A reverse post-order, from the exit backwards."""
    order: list[int] = []
    seen = {end}
    stack = [(end, iter(before[end]))]
    while stack:
        node, rest = stack[-1]
        for place in rest:
            if place not in seen:
                seen.add(place)
                stack.append((place, iter(before[place])))
                break
        else:
            order.append(node)
            stack.pop()
    return {node: i for i, node in enumerate(reversed(order))}


def _meet(a: int, b: int, parents: Mapping[int, int], number: Mapping[int, int]) -> int:
    while a != b:
        while number[a] > number[b]:
            a = parents[a]
        while number[b] > number[a]:
            b = parents[b]
    return a
