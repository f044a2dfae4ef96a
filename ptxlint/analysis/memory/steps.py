"""How one instruction makes an address of others: the rules of the pointer analysis."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Union

from ...isa.types import signed
from ...ptx.ir import Instruction, Integer, Offset, Operand, Register, Vector
from ..objects import alignment_of
from .bases import (
    AMBIGUOUS,
    ANYTHING,
    BOTTOM,
    INTEGER,
    NOTHING,
    NUMBER,
    STRONG,
    SUM,
    UNKNOWN,
    WEAK,
    Mark,
    join,
    minus,
    plus,
    scaled,
)

Source = Union[int, Mark]
Rule = Callable[[list[Mark]], Mark]
Sources = Callable[[Operand], Source]
Operands = tuple[Operand, ...]
Modifiers = tuple[str, ...]
_WORDS = {"u32": 4, "s32": 4, "b32": 4, "u64": 8, "s64": 8, "b64": 8}
_SMALL = 4096  # less than this of an address is no address any more


class Step(NamedTuple):
    """A value's ``rule`` over its ``sources`` (values by number, or what is known at once).

    ``distance``: where the value is its one source and so many bytes more; None elsewhere.
    """

    rule: Rule
    sources: tuple[Source, ...]
    distance: int | None = None


def first(marks: list[Mark]) -> Mark:
    """The source itself."""
    return marks[0]


def either(marks: list[Mark]) -> Mark:
    """One of the sources."""
    found = marks[0]
    for mark in marks[1:]:
        found = join(found, mark)
    return found


def _added(marks: list[Mark]) -> Mark:
    return plus(marks[0], marks[1])


def _subtracted(marks: list[Mark]) -> Mark:
    return minus(marks[0], marks[1])


def _negated(marks: list[Mark]) -> Mark:
    return minus(NUMBER, marks[0])


def _multiply_added(marks: list[Mark]) -> Mark:
    return plus(scaled(marks[:2]), marks[2])


def _widened(marks: list[Mark]) -> Mark:
    return NUMBER if marks[0].state in (AMBIGUOUS, WEAK) else marks[0]


def _masked_high(marks: list[Mark]) -> Mark:
    """Rounded down: still in the object, or what lies before it was never to be accessed."""
    return marks[0]


def _masked_low(marks: list[Mark]) -> Mark:
    return NOTHING if marks[0].state == BOTTOM else NUMBER


def _with_bits(marks: list[Mark]) -> Mark:
    return plus(marks[0], marks[1]) if NUMBER in marks else _mixed(marks)


def _mixed(marks: list[Mark]) -> Mark:
    """Of anything else: no object can be told, and from addresses an address may come."""
    states = {mark.state for mark in marks}
    if BOTTOM in states:
        return NOTHING
    if states & {STRONG, UNKNOWN}:
        return ANYTHING
    return NUMBER if states <= {INTEGER} else SUM


def _to_generic(space: str) -> Rule:
    def rule(marks: list[Mark]) -> Mark:
        mark = marks[0]
        if mark.base is not None:
            return Mark(STRONG, mark.base, f"generic:{space}")
        return mark if mark.state == BOTTOM else Mark(UNKNOWN, None, f"generic:{space}")

    return rule


def _to_space(space: str) -> Rule:
    def rule(marks: list[Mark]) -> Mark:
        mark = marks[0]
        if mark.base is not None:
            return Mark(STRONG, mark.base, space)
        return mark if mark.state == BOTTOM else Mark(UNKNOWN, None, space)

    return rule


def _flipped(bits: int) -> Rule:
    """``xor`` with a constant below the object's alignment stays in its first bytes."""

    def rule(marks: list[Mark]) -> Mark:
        mark = marks[0]
        if mark.state <= INTEGER:
            return mark
        base = mark.base
        if base is not None and base.variable is not None and base.kind in ("variable", "stack"):
            variable = base.variable
            if variable.linkage != "extern" and 0 <= bits < alignment_of(variable):
                return mark
        return ANYTHING if mark.state >= STRONG else SUM

    return rule


_CVTA: dict[tuple[bool, str], Rule] = {
    (to, space): (_to_space if to else _to_generic)(space)
    for to in (False, True)
    for space in ("global", "shared", "local", "const", "param")
}


def step_of(made: Instruction, source: Sources) -> Step | None:
    """The step of an arithmetic instruction; None for what makes no address of an address.

    ``source`` gives what an operand is.
    """
    operands, mnemonic = made.operands, made.opcode.mnemonic
    modifiers = made.opcode.modifiers
    if len(operands) < 2:
        return None
    make = _MAKERS.get(mnemonic)
    if make is not None:
        return make(operands, modifiers, source)
    if mnemonic in _SCALES:
        return Step(scaled, tuple(source(o) for o in operands[1:]))
    return None


def _copy(operands: Operands, modifiers: Modifiers, source: Sources) -> Step | None:
    if type(operands[0]) is not Register or type(operands[1]) is Vector:
        return None  # packed or unpacked
    return Step(first, (source(operands[1]),), _written(operands[1]))


def _cvta(operands: Operands, modifiers: Modifiers, source: Sources) -> Step | None:
    space = next((m.partition("::")[0] for m in modifiers if m not in ("to", "u32", "u64")), "")
    rule = _CVTA.get(("to" in modifiers, space))
    return None if rule is None else Step(rule, (source(operands[1]),), _written(operands[1]))


def _cvt(operands: Operands, modifiers: Modifiers, source: Sources) -> Step | None:
    widths = [_WORDS.get(modifier) for modifier in modifiers]
    if len(widths) != 2 or widths[0] is None or widths[1] is None:
        return Step(scaled, (source(operands[1]),))
    rule = _widened if widths[0] > widths[1] else first
    return Step(rule, (source(operands[1]),), 0)


def _add(operands: Operands, modifiers: Modifiers, source: Sources) -> Step | None:
    if len(operands) != 3 or modifiers[-1:] == () or modifiers[-1] not in _WORDS:
        return Step(scaled, tuple(source(o) for o in operands[1:]))
    left, right = operands[1], operands[2]
    if type(left) is Integer:
        left, right = right, left
    if type(right) is Integer:
        return Step(first, (source(left),), signed(right.value, 8 * _WORDS[modifiers[-1]]))
    return Step(_added, (source(left), source(right)))


def _sub(operands: Operands, modifiers: Modifiers, source: Sources) -> Step | None:
    if len(operands) != 3 or modifiers[-1:] == () or modifiers[-1] not in _WORDS:
        return Step(scaled, tuple(source(o) for o in operands[1:]))
    right = operands[2]
    if type(right) is Integer:
        return Step(first, (source(operands[1]),), -signed(right.value, 8 * _WORDS[modifiers[-1]]))
    return Step(_subtracted, (source(operands[1]), source(right)))


def _mad(operands: Operands, modifiers: Modifiers, source: Sources) -> Step | None:
    if len(operands) != 4:
        return None
    return Step(_multiply_added, tuple(source(o) for o in operands[1:]))


def _and(operands: Operands, modifiers: Modifiers, source: Sources) -> Step | None:
    mask = operands[2] if len(operands) == 3 else None
    if type(mask) is Integer and modifiers[-1:] and modifiers[-1] in _WORDS:
        value = signed(mask.value, 8 * _WORDS[modifiers[-1]])
        if value < 0:
            return Step(_masked_high, (source(operands[1]),))
        if value < _SMALL:
            return Step(_masked_low, (source(operands[1]),))
    return Step(scaled, tuple(source(o) for o in operands[1:]))


def _or(operands: Operands, modifiers: Modifiers, source: Sources) -> Step | None:
    if len(operands) != 3:
        return None
    return Step(_with_bits, (source(operands[1]), source(operands[2])))


def _xor(operands: Operands, modifiers: Modifiers, source: Sources) -> Step | None:
    if len(operands) == 3 and type(mask := operands[2]) is Integer:
        return Step(_flipped(mask.value), (source(operands[1]),))
    return Step(_mixed, tuple(source(o) for o in operands[1:]))


def _selp(operands: Operands, modifiers: Modifiers, source: Sources) -> Step | None:
    return Step(either, (source(operands[1]), source(operands[2]))) if len(operands) == 4 else None


def _neg(operands: Operands, modifiers: Modifiers, source: Sources) -> Step | None:
    return Step(_negated, (source(operands[1]),))


_MAKERS: dict[str, Callable[[Operands, Modifiers, Sources], Step | None]] = {
    "mov": _copy,
    "cvta": _cvta,
    "cvt": _cvt,
    "add": _add,
    "sub": _sub,
    "mad": _mad,
    "mad24": _mad,
    "and": _and,
    "or": _or,
    "xor": _xor,
    "selp": _selp,
    "neg": _neg,
    "not": _neg,
}
_SCALES = frozenset({"mul", "mul24", "shl", "shr", "div", "rem", "bfe", "popc", "clz", "bfind"})


def _written(operand: Operand) -> int:
    """The distance in ``symbol+8``."""
    return operand.offset if isinstance(operand, Offset) else 0


def mixed_step(sources: tuple[Source, ...]) -> Step:
    """The step of an instruction that does something else to what it reads."""
    return Step(_mixed, sources) if sources else Step(first, (NUMBER,))
