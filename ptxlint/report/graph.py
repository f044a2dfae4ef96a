"""What the graph formats share: names, texts of instructions, conditions of edges."""

from __future__ import annotations

from typing import NamedTuple

from ..analysis.dependence.graph import instruction_text
from ..analysis.facts import Facts
from ..analysis.flow.graph import BasicBlock, ControlFlow
from ..engine.demangle import demangle
from ..ptx.ir import Function, Instruction, Register
from .names import shorten

__all__ = [
    "KINDS",
    "Drawn",
    "block_name",
    "condition",
    "instruction_text",
    "labels",
    "line_of",
    "title",
]

KINDS = ("cfg", "dependence")


class Drawn(NamedTuple):
    """One function to draw, with the facts of its module."""

    function: Function
    facts: Facts


def title(function: Function) -> str:
    """``kernel f(int*)``."""
    kind = "kernel" if function.is_kernel else "function"
    return f"{kind} {shorten(demangle(function.name))}"


def line_of(instruction: Instruction, facts: Facts) -> int:
    """Its line in the file."""
    return facts.module.source.line_of(instruction.start)


def condition(flow: ControlFlow, block: BasicBlock, successor: int | None) -> str:
    """When a block goes on to a successor (None: out of the function): ``%p1``, ``!%p1``,
    ``%r3 selects``; "" where it always does, or nothing in the text says when.
    """
    last = flow.terminator(block)
    if last is None or (successor in block.taken and successor == block.following):
        return ""
    if last.guard is not None and isinstance(last.guard.register, Register):
        negated = last.guard.negated != (successor is not None and successor == block.following)
        return ("!" if negated else "") + last.guard.register.name
    if last.opcode.mnemonic == "brx" and isinstance(last.operands[0], Register):
        return f"{last.operands[0].name} selects"
    return ""


def labels(function: Function) -> dict[int, list[str]]:
    """The labels that stand before each instruction, by its index; not those of jump tables."""
    found: dict[int, list[str]] = {}
    for label, place in function.label_places().items():
        if label.directive is None:
            found.setdefault(place, []).append(label.name)
    return found


def block_name(block: BasicBlock, names: dict[int, list[str]]) -> str:
    """``block 3 $L__BB0_2``."""
    own = names.get(block.start, []) if len(block) else []
    return " ".join((f"block {block.index}", *own))
