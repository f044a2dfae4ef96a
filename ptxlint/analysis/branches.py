"""Where branches go, and what stands there instead of a label."""

from __future__ import annotations

from ..ptx.ir import (
    Float,
    Function,
    Instruction,
    Integer,
    Label,
    Offset,
    Operand,
    Register,
    Statement,
    Symbol,
    Targets,
    Variable,
)
from .declared import range_of, scope_of
from .facts import Facts

BRANCHES = frozenset({"bra", "brx"})


def branch_targets(instruction: Instruction) -> tuple[Statement, tuple[Operand, ...]]:
    """The statement that says where a branch may go, and the operands that do.

    That is the ``bra`` itself, or the ``.branchtargets`` that a ``brx`` names.
    """
    index = 0 if instruction.opcode.mnemonic == "bra" else 1
    if len(instruction.operands) != index + 1:
        return instruction, ()
    target = instruction.operands[index]
    if isinstance(target, Symbol) and isinstance(target.target, Label):
        directive = target.target.directive
        if isinstance(directive, Targets):
            return directive, directive.names
    return instruction, (target,)


def instead_of_label(target: Operand, function: Function, facts: Facts) -> str | None:
    """What a branch target is, if no label: ``a register``.

    None for a label, and for a name that is not declared at all.
    """
    if isinstance(target, Register):
        return "a register"
    if isinstance(target, (Integer, Float)):
        return "a number"
    if isinstance(target, Offset):
        return "a sum"
    if not isinstance(target, Symbol):
        return None
    if isinstance(target.target, Variable):
        return "a variable"
    if isinstance(target.target, Function):
        return "a function"
    return _range_member(target, function, facts)


def _range_member(target: Symbol, function: Function, facts: Facts) -> str | None:
    """A label ``%r1`` in the scope of ``%r<9>``: ptxas takes the name for the register."""
    name = target.name
    if not isinstance(target.target, Label) or not name[-1].isdigit():
        return None
    if name.rstrip("0123456789") not in facts.once(function, _range_bases):
        return None
    range_ = range_of(target.name, scope_of(function, target.target))
    if range_ is None or int(name[len(range_.name) :]) >= (range_.count or 0):
        return None
    return f"a register of `{range_.name}<{range_.count}>`"


def _range_bases(function: Function, facts: Facts) -> frozenset[str]:
    """Names that may be the base of a register range of the function: what stands before ``<``."""
    text, found = facts.module.source.text, []
    end = text.find("<", function.start, function.end)
    while end >= 0:
        start = end
        while text[start - 1].isalnum() or text[start - 1] in "_$%":
            start -= 1
        found.append(text[start:end])
        end = text.find("<", end + 1, function.end)
    return frozenset(found)
