"""Instructions whose operands fit no form of their opcode, and what is wrong with them.

Judged once for each opcode and sequence of operand kinds: a file has few of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple, Union

from ..isa.operands import Pattern, Spec, patterns
from ..isa.warp_operands import operands_of
from ..ptx.ir import Function, Instruction
from .facts import Facts, by_opcode
from .operand_address import Opcode
from .operand_kinds import UNRESOLVED, Kind, Kinds
from .operand_match import Mismatch, mismatches


class Count(NamedTuple):
    """So many operands fit no form. ``names`` are those of the nearest one.

    ``missing`` is the place of the operand that is not there, ``extra`` of the one too many;
    both None where that can't be told.
    """

    names: tuple[str, ...]
    given: int
    missing: int | None
    extra: int | None


Verdict = Union[Count, Mismatch]


class Problem(NamedTuple):
    """An instruction and what is wrong with its operands."""

    instruction: Instruction
    verdict: Verdict


def operand_problems(function: Function, facts: Facts) -> list[Problem]:
    """For ``facts.once``: the instructions whose operands fit no form, in order."""
    found = []
    kinds = Kinds(function)
    kind_of = kinds.__getitem__
    for opcode, instructions in facts.once(function, by_opcode).items():
        if not patterns(opcode.mnemonic, opcode.modifiers):
            continue
        judged = _judged(opcode.mnemonic, opcode.modifiers)
        for instruction in instructions:
            key = tuple(map(kind_of, instruction.operands))
            if key not in judged:
                judged[key] = _judge(opcode.mnemonic, opcode.modifiers, key)
            verdict = judged[key]
            if verdict is not None:
                found.append(Problem(instruction, verdict))
    return sorted(found, key=lambda problem: problem.instruction.start)


@cache
def _judged(mnemonic: str, modifiers: tuple[str, ...]) -> dict[tuple[Kind, ...], Verdict | None]:
    """What is known of an opcode's operands, filled by operand_problems."""
    return {}


def _judge(mnemonic: str, modifiers: tuple[str, ...], kinds: tuple[Kind, ...]) -> Verdict | None:
    if any(_unresolved(kind) for kind in kinds):
        return None
    opcode, known = Opcode(mnemonic, modifiers), patterns(mnemonic, modifiers)
    same = [pattern for pattern in known if len(pattern.operands) == len(kinds)]
    if not same:
        return _count(opcode, known, kinds)
    best: list[Mismatch] | None = None
    for pattern in same:
        wrong = list(mismatches(opcode, pattern.operands, kinds))
        if not wrong and not pattern.unreliable:
            return None
        if not wrong:
            wrong = [_unreliable(pattern)]
        if best is None or _badness(wrong) < _badness(best):
            best = wrong
    return best[0] if best else None


def _badness(wrong: list[Mismatch]) -> tuple[int, bool]:
    """The form that was meant has the fewest mismatches, and those of type rather than shape."""
    shape = any(m.reason not in ("type", "vector-element", "vector-mixed", "space") for m in wrong)
    return len(wrong), shape


def _unreliable(pattern: Pattern) -> Mismatch:
    index = next((i for i, spec in enumerate(pattern.operands) if spec.kind == "vector"), 0)
    return Mismatch(index, pattern.operands[index], "vector-narrow")


def _unresolved(kind: Kind) -> bool:
    if isinstance(kind, str):
        return kind == UNRESOLVED
    return any(map(_unresolved, kind))


def _count(opcode: Opcode, known: tuple[Pattern, ...], kinds: tuple[Kind, ...]) -> Count | None:
    needed = operands_of(opcode.mnemonic, opcode.modifiers)
    if needed is not None and len(kinds) < len(needed):
        return None  # missing-member-mask says so
    given = len(kinds)
    if opcode.mnemonic == "red" and "async" in opcode.modifiers:
        return None  # ptxas takes some without the barrier that their modifiers name
    if _takes_more(opcode) and given > min(len(p.operands) for p in known):
        return None
    nearest = min(known, key=lambda pattern: abs(len(pattern.operands) - given)).operands
    distance = len(nearest) - given
    for specs in (p.operands for p in known if len(p.operands) - given == distance):
        place = next(_fitting(opcode, specs, kinds), None)
        if place is not None:
            missing, extra = (place, None) if distance == 1 else (None, place)
            return Count(_names(specs), given, missing, extra)
    return Count(_names(nearest), given, None, None)


def _takes_more(opcode: Opcode) -> bool:
    """Whether ptxas takes operands beyond the table's.

    Optional ones of tcgen05.mma; and of any atom.b32 or .b128 a third source, as if it were cas.
    """
    if opcode.mnemonic == "tcgen05":
        return True
    return opcode.mnemonic == "atom" and not {"b32", "b128"}.isdisjoint(opcode.modifiers)


def _fitting(opcode: Opcode, specs: tuple[Spec, ...], kinds: tuple[Kind, ...]) -> Iterator[int]:
    """Places, from the end, of the one operand that is missing or too many."""
    if len(specs) == len(kinds) + 1:
        for place in range(len(kinds), -1, -1):
            left = specs[:place] + specs[place + 1 :]
            if not any(mismatches(opcode, left, kinds)):
                yield place
    elif len(kinds) == len(specs) + 1:
        for place in range(len(specs), -1, -1):
            if not any(mismatches(opcode, specs, kinds[:place] + kinds[place + 1 :])):
                yield place


def _names(specs: tuple[Spec, ...]) -> tuple[str, ...]:
    return tuple(spec.name or "…" for spec in specs)
