"""Calls: who is called, with what, and what the callee's declaration says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..isa.types import SIZES
from ..ptx.ir import (
    Arguments,
    Directive,
    Function,
    Instruction,
    Label,
    Module,
    Operand,
    Prototype,
    Register,
    Symbol,
    Variable,
)
from .facts import Facts, by_opcode
from .objects import alignment_of, size_of


class Call(NamedTuple):
    """One call. ``signature`` is the callee, or the prototype of an indirect call; None unknown."""

    instruction: Instruction
    target: Operand
    results: tuple[Operand, ...]
    arguments: tuple[Operand, ...]
    signature: Function | Prototype | None


def calls(function: Function, facts: Facts) -> list[Call]:
    """The calls of a function, in order."""
    opcodes = facts.once(function, by_opcode)
    found = [
        _call(instruction)
        for opcode, instructions in opcodes.items()
        if opcode.mnemonic == "call"
        for instruction in instructions
    ]
    return sorted(found, key=lambda call: call.instruction.start)


def _call(instruction: Instruction) -> Call:
    operands = list(instruction.operands)
    results: tuple[Operand, ...] = ()
    if isinstance(operands[0], Arguments):
        results = operands.pop(0).children()
    target = operands.pop(0)
    arguments = operands.pop(0).children() if operands else ()
    signature: Function | Prototype | None = None
    if isinstance(target, Symbol) and isinstance(target.target, Function):
        signature = target.target
    elif operands and isinstance(label := operands[0], Symbol) and isinstance(label.target, Label):
        directive = label.target.directive
        signature = directive if isinstance(directive, Prototype) else None
    return Call(instruction, target, results, arguments, signature)


def aliased(module: Module, facts: Facts) -> frozenset[str]:
    """The functions that an ``.alias`` gives a definition of another name."""
    return frozenset(
        str(item.arguments[0])
        for item in module.items
        if isinstance(item, Directive) and item.name == "alias"
    )


class Mismatch(NamedTuple):
    """Why a call does not fit, and the formal parameter that it does not fit (None: the count)."""

    message: str
    formal: Variable | None


def mismatches(call: Call) -> Iterator[Mismatch]:
    """What differs between a call and its callee's declaration; nothing where that is unknown."""
    signature = call.signature
    if signature is None:
        return
    if isinstance(signature, Function) and signature.is_kernel:
        yield Mismatch(f"`{signature.name}` is a kernel: only device functions can be called", None)
        return
    for what, given, formal in (
        ("result", call.results, signature.returns),
        ("argument", call.arguments, signature.parameters),
    ):
        if len(given) != len(formal):
            plural = "" if len(formal) == 1 else "s"
            yield Mismatch(f"takes {len(formal)} {what}{plural}, {len(given)} given", None)
            continue
        for operand, variable in zip(given, formal, strict=True):
            if message := _differs(operand, variable):
                yield Mismatch(message, variable)


def _differs(operand: Operand, formal: Variable) -> str | None:
    wanted = size_of(formal)
    if wanted is None or wanted == 0:
        return None  # an open array takes what comes
    if isinstance(operand, Register):
        variable = operand.variable
        size = SIZES.get(variable.type)
        if size is None or variable.vector > 1 or formal.dimensions or size == wanted:
            return None
        return f"`{operand.name}` has {size} bytes, `{formal.name}` has {wanted}"
    if not isinstance(operand, Symbol) or not isinstance(operand.target, Variable):
        return None
    given = operand.target
    if given.space != "param" or formal.space != "param":
        return None
    size = size_of(given)
    if size is not None and size != wanted:
        return f"`{given.name}` has {size} bytes, `{formal.name}` has {wanted}"
    if alignment_of(given) != alignment_of(formal):
        return (
            f"`{given.name}` is aligned to {alignment_of(given)},"
            f" `{formal.name}` to {alignment_of(formal)}"
        )
    return None
