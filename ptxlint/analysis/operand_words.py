"""Operands in words, and where they stand: what the rules on operands share."""

from __future__ import annotations

from ..isa.operands import Spec
from ..isa.special_registers import type_of
from ..model import Label, Span
from ..ptx.ir import (
    Address,
    Element,
    Float,
    Instruction,
    Integer,
    Offset,
    Operand,
    Pair,
    Prefixed,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Variable,
    Vector,
)
from .facts import Facts

_RARE = frozenset({"f16x2"})  # passes as a 32-bit integer too, which nobody means
_OPEN, _CLOSED = "[{(", "]})"


def operand_at(instruction: Instruction, index: int, element: int | None = None) -> Operand:
    """The operand, or that element of it."""
    operand = instruction.operands[index]
    if element is not None and isinstance(operand, Vector):
        return operand.elements[element]
    return operand


def place_of(instruction: Instruction, index: int, facts: Facts) -> Span:
    """Where an operand stands; the whole instruction where that can't be told or is further down.

    The assembler names the line on which the statement begins.
    """
    text = facts.module.source.text[instruction.start : instruction.end]
    whole = facts.span(instruction)
    at = text.find(str(instruction.opcode))
    if at < 0 or "/" in text:
        return whole
    start, depth, pieces = at + len(str(instruction.opcode)), 0, []
    for position in range(start, len(text)):
        character = text[position]
        depth += (character in _OPEN) - (character in _CLOSED)
        if character in ",;" and depth == 0:
            pieces.append((start, position))
            start = position + 1
    if len(pieces) != len(instruction.operands):
        return whole
    first, last = pieces[index]
    piece = text[first:last]
    first += len(piece) - len(piece.lstrip())
    last -= len(piece) - len(piece.rstrip())
    span = facts.text_span(instruction.start + first, instruction.start + last)
    return span if span.start.line == whole.start.line else whole


def described(operand: Operand) -> str:
    """``%rd3`` as `` `%rd3`, a .b64 register``; a number as ``the number 1``."""
    if isinstance(operand, Register):
        vector = f".v{operand.variable.vector} " if operand.variable.vector > 1 else ""
        return f"`{operand.name}`, a {vector}.{operand.variable.type} register"
    if isinstance(operand, SpecialRegister):
        kind = type_of(operand.name)
        return f"`{operand.name}`, a special register" + (f" of .{kind}" if kind else "")
    if isinstance(operand, Symbol):
        target = operand.target
        what = f"a .{target.space} variable" if isinstance(target, Variable) else named(operand)
        return f"`{operand.name}`, {what}"
    if isinstance(operand, Integer):
        return f"the integer {operand.value}"
    if isinstance(operand, Prefixed):
        return f"`{operand.operator}` and {described(operand.operand)}"
    if isinstance(operand, Element) and isinstance(operand.base, Register):
        return f"`{operand.base.name}.{operand.selector}`, of .{operand.base.variable.type}"
    return named(operand)


def named(operand: Operand) -> str:
    """The kind of an operand in words: ``an address``."""
    if isinstance(operand, Vector):
        return f"a vector of {len(operand.elements)}"
    if isinstance(operand, Symbol):
        return "a label" if type(operand.target).__name__ == "Label" else "a function"
    words = {
        Register: "a register", SpecialRegister: "a special register", Integer: "an integer",
        Float: "a floating-point number", Address: "an address", Offset: "a symbol's address",
        Pair: "a pair", Sink: "the sink `_`",
    }  # fmt: skip
    return words.get(type(operand), "an operand of another kind")


def declaration(operand: Operand, facts: Facts) -> tuple[Label, ...]:
    """A label at the declaration of the register or variable that an operand names."""
    if isinstance(operand, (Prefixed, Element)):
        return declaration(
            operand.operand if isinstance(operand, Prefixed) else operand.base, facts
        )
    if isinstance(operand, Address) and operand.base is not None:
        return declaration(operand.base, facts)
    variable: object = None
    if isinstance(operand, Register):
        variable = operand.variable
    elif isinstance(operand, Symbol):
        variable = operand.target
    if not isinstance(variable, Variable):
        return ()
    count = f"<{variable.count}>" if variable.count is not None else ""
    space = f".{variable.space} " if variable.space != "reg" else ""
    text = f"`{variable.name}{count}` is declared {space}.{variable.type} here"
    return (Label(facts.span(variable), text),)


def listed(types: frozenset[str]) -> str:
    """Types as ``.b32, .s32 or .u32``, narrow ones first."""
    order = sorted(types, key=lambda t: (int("".join(c for c in t if c.isdigit())[:3] or 0), t))
    names = [f".{type}" for type in order]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def needed(spec: Spec) -> str:
    """What an operand must be: ``a register of .b32, .s32 or .u32``."""
    if spec.kind == "vector":
        return f"a vector of {spec.length} .{spec.type} registers in braces"
    if spec.kind == "address":
        return "an address in brackets"
    if spec.kind == "constant":
        return "a constant"
    if spec.kind == "pair":
        return "a pair `d|p`"
    if spec.accepted is None or not spec.accepted.registers:
        return "a register"
    return f"a register of {listed(spec.accepted.registers - {'f16x2'})}"
