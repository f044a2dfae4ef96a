"""Where ``activemask`` says who takes part, though it only says who happens to be there."""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function, Instruction, Operand, Register, SpecialRegister
from ..facts import Facts
from ..flow.ssa import Values, values
from .operations import needed_operands

ACTIVEMASK = frozenset({"activemask"})
_PASSES = frozenset({"mov", "and", "selp", "cvt"})
_COUNTS = frozenset({"popc", "bfind", "brev", "clz"})


class ActiveMask(NamedTuple):
    """Instruction ``at`` is the activemask, ``uses`` those that take it for their member mask."""

    at: int
    uses: tuple[int, ...]


def active_masks(function: Function, facts: Facts) -> list[ActiveMask]:
    """Those that are nothing but member masks.

    Silent where one is also counted, compared, searched for a leader or stored, or where that is
    done with a mask that ``vote`` or ``match`` makes of it: there the code asks who is there
    (opportunistic groups).
    """
    if not facts.of_mnemonics(function, ACTIVEMASK):
        return []
    masks = _Masks(function, facts)
    found = []
    for at, instruction in enumerate(function.instructions):
        if instruction.opcode.mnemonic in ACTIVEMASK:
            uses = masks.uses(at)
            if uses:
                found.append(ActiveMask(at, tuple(sorted(uses))))
    return found


class _Masks:
    def __init__(self, function: Function, facts: Facts) -> None:
        self._instructions = function.instructions
        self._known: Values = facts.once(function, values)
        self._takes = needed_operands(function, facts)
        self._opened: dict[int, list[int]] = {}
        for each in self._known.all:
            for operand in each.operands:
                self._opened.setdefault(operand, []).append(each.index)

    def uses(self, at: int) -> set[int]:
        """The operations that have a mask for their members; none if it serves for more."""
        users: set[int] = set()
        made: list[int] = []
        for reader, value in self._readers(list(self._known.writes[at][:1])):
            instruction = self._instructions[reader]
            if not self._names_members(instruction, reader, value):
                return set()
            users.add(reader)
            if instruction.opcode.mnemonic == "match" or "ballot" in instruction.opcode.modifiers:
                made += self._known.writes[reader][:1]
        counted = any(_counts(self._instructions[reader]) for reader, _ in self._readers(made))
        return set() if counted else users

    def _readers(self, start: list[int]) -> list[tuple[int, int]]:
        """The instructions that do more than pass one of these values on, and which they read."""
        seen, pending, found = set(start), start, []
        while pending:
            value = pending.pop()
            following = list(self._opened.get(value, ()))
            for reader in self._known.readers(value):
                if _passes(self._instructions[reader]):
                    following += self._known.writes[reader]
                else:
                    found.append((reader, value))
            pending += [each for each in following if each not in seen]
            seen.update(following)
        return found

    def _names_members(self, instruction: Instruction, reader: int, value: int) -> bool:
        """Whether an instruction reads a value as its member mask, and as nothing else."""
        if instruction.opcode not in self._takes:
            return False
        *others, mask = instruction.operands
        return self._is(mask, reader, value) and not any(
            self._is(o, reader, value) for o in others[1:]
        )

    def _is(self, operand: Operand, reader: int, value: int) -> bool:
        return isinstance(operand, Register) and self._known.value_of(reader, operand) == value


def _passes(instruction: Instruction) -> bool:
    return instruction.opcode.mnemonic in _PASSES and not _counts(instruction)


def _counts(instruction: Instruction) -> bool:
    """Whether lanes are counted, or those before each lane are picked out."""
    return instruction.opcode.mnemonic in _COUNTS or any(
        isinstance(o, SpecialRegister) and o.name.startswith("%lanemask")
        for o in instruction.operands
    )
