"""Neighbouring scalar accesses of global memory that one vector access could do."""

from __future__ import annotations

from typing import NamedTuple

from ...isa.memory import WRITE
from ...ptx.ir import Address, Function, Instruction, Opcode
from ..facts import Facts
from ..flow.graph import control_flow
from ..flow.registers import RegisterUse
from ..flow.ssa import Values, values
from ..values.congruence import Congruent
from .access import CALL, Access
from .accesses import accesses
from .bases import Anchor

_ELEMENTS = (4, 2)
_MOST = 16  # bytes of a vector access on all targets
# What vector access comes to memory in order with.
_OUTSIDE = frozenset({"global", "generic", "fabric"})


class Neighbours(NamedTuple):
    """``vectors``: for each vector that could be, its accesses of ``element`` bytes, side by side,
    by address; they start at a multiple of all of them together. All are of one run of accesses
    alike. ``assumptions``: what that rests on, in words.
    """

    vectors: tuple[tuple[Access, ...], ...]
    element: int
    assumptions: tuple[str, ...]

    @property
    def first(self) -> Access:
        """The first in the text."""
        return min((a for vector in self.vectors for a in vector), key=lambda a: a.index)


class _Group:
    """Accesses alike in opcode, guard and anchor with nothing in between that forbids to move
    them together.
    """

    __slots__ = ("members", "writes")

    def __init__(self, writes: bool) -> None:
        self.writes = writes
        self.members: list[Access] = []


# Opcode, anchor, value of the guard and whether it is negated.
_Key = tuple[Opcode, Anchor, "int | None", int]


def neighbours(function: Function, facts: Facts) -> list[Neighbours]:
    """All of a function, in order; each access in one of them at most.

    Addresses are told apart by their anchors; what lies elsewhere may be the same memory, so that
    any access in between that writes, or is next to a store, ends a group.
    """
    by_instruction: dict[int, list[Access]] = {}
    for access in facts.once(function, accesses):
        by_instruction.setdefault(access.index, []).append(access)
    found = []
    for block in facts.once(function, control_flow).blocks:
        walk = _Walk(function, facts)
        for index in range(block.start, block.stop):
            walk.step(index, by_instruction.get(index, ()))
        walk.close()
        for group in walk.closed:
            found += _vectors(group.members)
    return sorted(found, key=lambda each: each.first.index)


class _Walk:
    """One block, instruction by instruction."""

    def __init__(self, function: Function, facts: Facts) -> None:
        self._instructions = function.instructions
        self._ssa: Values = facts.once(function, values)
        self._use: RegisterUse = self._ssa.use
        self._open: dict[_Key, _Group] = {}
        self._touched: dict[int, int] = {}  # register -> last instruction that names it
        self._changed: dict[int, int] = {}  # register -> last instruction that writes it
        self.closed: list[_Group] = []

    def step(self, index: int, here: list[Access] | tuple[Access, ...]) -> None:
        """Take the next instruction."""
        instruction = self._instructions[index]
        key = self._key(instruction, here)
        effect = here[0].memory if here else None
        if key is None:
            if _orders(instruction, effect is not None and effect.order != "weak"):
                self.close()
            for access in here:
                self._close_for(access)
        else:
            self._enter(key, here[0])
        for register in self._use.reads[index]:
            self._touched[register] = index
        for register in self._use.writes[index]:
            self._touched[register] = self._changed[register] = index

    def close(self) -> None:
        """End all groups."""
        self.closed += self._open.values()
        self._open = {}

    def _key(
        self, instruction: Instruction, here: list[Access] | tuple[Access, ...]
    ) -> _Key | None:
        """What has to be alike; None for what can't be part of a vector access."""
        if len(here) != 1:
            return None
        access, opcode = here[0], instruction.opcode
        if opcode.mnemonic not in ("ld", "st") or access.effect.space != "global":
            return None
        if access.elements != 1 or access.order != "weak" or access.element is None:
            return None
        if type(access.operand) is not Address or 2 * access.element > _MOST:
            return None
        guard, value = self._use.guards[access.index], None
        if guard >= 0:
            value = self._ssa.read(access.index, guard >> 1)
            if value is None:
                return None
        return None if access.anchor is None else (opcode, access.anchor, value, guard & 1)

    def _enter(self, key: _Key, access: Access) -> None:
        writes = access.kind == WRITE
        self._close_for(access, key)
        group = self._open.get(key)
        if group is not None and not self._fits(group, access):
            self.closed.append(self._open.pop(key))
            group = None
        if group is None:
            group = self._open[key] = _Group(writes)
        group.members.append(access)

    def _close_for(self, access: Access, key: _Key | None = None) -> None:
        """End the groups that an access may not be moved past."""
        if access.effect.space not in _OUTSIDE and access.kind != CALL:
            return
        for other in [k for k, g in self._open.items() if k != key and (g.writes or access.writes)]:
            self.closed.append(self._open.pop(other))

    def _fits(self, group: _Group, access: Access) -> bool:
        """Whether registers let it be done together with those before: loads at the first's place,
        stores at the last's.
        """
        if any(m.displacement == access.displacement for m in group.members):
            return False
        if group.writes:
            return all(
                self._changed.get(register, -1) < member.index
                for member in group.members
                for register in self._use.reads[member.index]
            )
        first = group.members[0].index
        return all(
            self._touched.get(register, -1) < first for register in self._use.writes[access.index]
        )


def _orders(instruction: Instruction, ordered: bool) -> bool:
    """Whether accesses keep to their side of it."""
    mnemonic = instruction.opcode.mnemonic
    return ordered or mnemonic in ("bar", "barrier", "fence", "membar", "call", "griddepcontrol")


def _vectors(members: list[Access]) -> list[Neighbours]:
    """The vectors that the members of a group make, from the lowest address on, by length."""
    found: dict[int, list[tuple[Access, ...]]] = {}
    assumptions: dict[str, None] = {}
    left = sorted(members, key=lambda access: access.displacement)
    element = left[0].element or 1
    while len(left) > 1:
        step = 1
        for count in _ELEMENTS:
            known = _vector(left[:count], count, element)
            if known is not None:
                found.setdefault(count, []).append(tuple(left[:count]))
                assumptions.update(dict.fromkeys(known.assumptions))
                step = count
                break
        left = left[step:]
    return [Neighbours(tuple(v), element, tuple(assumptions)) for v in found.values()]


def _vector(members: list[Access], count: int, element: int) -> Congruent | None:
    """What is known of the address of a vector of these; None where they make none."""
    first, whole = members[0].displacement, count * element
    if len(members) < count or whole > _MOST:
        return None
    if any(m.displacement != first + i * element for i, m in enumerate(members)):
        return None
    known = members[0].congruence
    if known is None or 1 << known.bits < whole:
        return None
    residues = known.residues if isinstance(known.residues, tuple) else (known.residues,)
    return None if any(residue % whole for residue in residues) else known
