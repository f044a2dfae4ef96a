"""How far undefined values reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ...isa.effects import effect
from ...ptx.ir import Element, Function, Integer, Operand, Prefixed, Register
from ..facts import Facts
from ..flow.graph import control_flow
from ..flow.ssa import DEFINITION, ENTRY, GUARDED, PHI, values
from .bits import moves, passed
from .masks import Mask, full
from .observers import observed

# A register whose undefined value may reach more values than this is not followed.
_LIMIT = 20_000


class Observation(NamedTuple):
    """An undefined value and what becomes of it: instruction ``read`` reads ``register``, and
    instruction ``at`` observes what came of it: ``does`` says how.
    """

    register: Register
    read: int
    at: int
    does: str


def value_users(function: Function, facts: Facts) -> dict[int, list[int]]:
    """value -> the phis and guarded definitions that it is an operand of."""
    users: dict[int, list[int]] = {}
    for value in facts.once(function, values).all:
        for operand in value.operands:
            users.setdefault(operand, []).append(value.index)
    return users


class Spread:
    """What undefined entry values (``roots``) make undefined.

    ``masks[v]`` are the undefined bits of value *v*. ``computed`` are the values that more than
    moves made of it; others have no undefined bits where a path defines them. ``size`` is how many
    values had to be looked at.
    """

    def __init__(self, function: Function, facts: Facts, roots: Sequence[int]) -> None:
        self.instructions = function.instructions
        self.blocks = facts.once(function, control_flow).blocks
        self.known = facts.once(function, values)
        self.users = facts.once(function, value_users)
        self.roots = tuple(roots)
        self.masks: dict[int, int] = {root: full(self._register(root)) for root in roots}
        self.computed: set[int] = set()
        followed = self._grow()
        self.size = len(self.masks)
        if not followed:
            self.masks = {}
        self._shrink()
        self._mark_computed()
        self._carry_on()

    def observations(self) -> Iterator[Observation]:
        """Where undefined bits are observed, and the read of the root that they come from."""
        for i in sorted({i for v, m in self.masks.items() if m for i in self.known.readers(v)}):
            read = list(self._read(i))
            undefined = _lookup((register, self.masks.get(v, 0)) for register, v in read)
            raw = _lookup(
                (register, self.masks.get(v, 0)) for register, v in read if v not in self.computed
            )
            does = observed(self.instructions[i], undefined, raw)
            if does is not None:
                at, register = self._first_read(i)
                yield Observation(register, at, i, does)

    def _register(self, value: int) -> Register:
        register = self.known.use.registers[self.known.all[value].register]
        assert register is not None
        return register

    def _read(self, instruction: int) -> Iterator[tuple[Register, int]]:
        """The registers that an instruction reads and their values."""
        use, known = self.known.use, self.known
        for number, value in zip(use.reads[instruction], known.reads[instruction], strict=True):
            register = use.registers[number]
            if register is not None:
                yield register, value

    def _made_of(self, value: int) -> list[int]:
        """The values that a value may go into."""
        known = self.known
        found = [w for i in known.readers(value) for w in known.writes[i] if known.all[w].register]
        return found + self.users.get(value, [])

    def _grow(self) -> bool:
        """Reach all that may be undefined, what comes round loops taken to be; False: too much."""
        pending = list(self.roots)
        while pending and len(self.masks) < _LIMIT:
            for each in self._made_of(pending.pop()):
                old = self.masks.get(each, 0)
                mask = self._evaluate(each, hopeful=True) | old
                if mask != old:
                    self.masks[each] = mask
                    pending.append(each)
        return not pending

    def _shrink(self) -> None:
        """Take back what rested on an operand that turned out to be defined."""
        pending = [value for value in self.masks if value not in self.roots]
        while pending:
            value = pending.pop()
            mask = self._evaluate(value, hopeful=False) & self.masks[value]
            if mask != self.masks[value]:
                self.masks[value] = mask
                pending += [u for u in self._made_of(value) if u in self.masks]

    def _mark_computed(self) -> None:
        pending = [index for index, mask in self.masks.items() if mask and self._computes(index)]
        while pending:
            index = pending.pop()
            if index not in self.computed:
                self.computed.add(index)
                pending += [u for u in self._made_of(index) if self.masks.get(u)]

    def _carry_on(self) -> None:
        """Past joins: what is computed from undefined bits is wrong whatever the other path has."""
        pending = list(self.computed)
        while pending:
            index = pending.pop()
            for each in self._made_of(index):
                old = self.masks.get(each, 0)
                if index in self.known.all[each].operands or self._selects(each):
                    mask = self.masks[index] & full(self._register(each))
                else:
                    mask = self._evaluate(each, hopeful=False)
                if mask & ~old and len(self.masks) < _LIMIT:
                    self.masks[each] = old | mask
                    self.computed.add(each)
                    pending.append(each)

    def _computes(self, index: int) -> bool:
        """Whether a value is made of undefined bits by more than moving them."""
        value = self.known.all[index]
        if value.kind not in (DEFINITION, GUARDED):
            return False
        statement = self.instructions[value.at]
        if self._selects(index):
            undefined = _lookup((r, self.masks.get(v, 0)) for r, v in self._read(value.at))
            return bool(undefined(statement.operands[-1]))
        return not moves(statement.opcode)

    def _selects(self, index: int) -> bool:
        value = self.known.all[index]
        return value.kind in (DEFINITION, GUARDED) and (
            self.instructions[value.at].opcode.mnemonic == "selp"
        )

    def _evaluate(self, index: int, hopeful: bool) -> int:
        """The undefined bits of a value by those of its operands.

        An operand that was not reached is defined; ``hopeful``: unless it comes round a loop.
        """
        value = self.known.all[index]
        if value.kind == ENTRY:
            return self.masks.get(index, 0)
        register = self._register(index)
        if value.kind == PHI:
            mask = full(register)
            for operand in value.operands:
                mask &= self.masks.get(
                    operand, -1 if hopeful and self._later(operand, value.at) else 0
                )
            return mask
        made = self._passed(value.at).get(register, 0)
        return made & self.masks.get(value.operands[0], 0) if value.kind == GUARDED else made

    def _later(self, operand: int, block: int) -> bool:
        """Whether a value is made no earlier in the text than a block begins."""
        value = self.known.all[operand]
        if value.kind == PHI:
            return value.at >= block
        return value.at >= self.blocks[block].start

    def _passed(self, instruction: int) -> dict[Register, int]:
        """The undefined bits of what an instruction writes."""
        statement = self.instructions[instruction]
        opcode = statement.opcode
        read = dict(self._read(instruction))

        def constant(operand: Operand) -> int | None:
            if isinstance(operand, Register) and operand in read:
                return self._constant(read[operand])
            return operand.value if isinstance(operand, Integer) else None

        undefined = _lookup((register, self.masks.get(v, 0)) for register, v in read.items())
        results = effect(opcode.mnemonic, opcode.modifiers).results
        return dict(passed(statement, results, undefined, constant))

    def _constant(self, value: int) -> int | None:
        """The constant that a value is moved from."""
        made = self.known.all[value]
        if made.kind != DEFINITION:
            return None
        statement = self.instructions[made.at]
        source = statement.operands[-1] if statement.operands else None
        if statement.opcode.mnemonic != "mov" or not isinstance(source, Integer):
            return None
        return source.value

    def _first_read(self, instruction: int) -> tuple[int, Register]:
        """The nearest instruction behind this one that reads a root's register itself; which."""
        registers = {self.known.all[root].register for root in self.roots}
        pending, seen = [instruction], {instruction}
        for i in pending:
            opened = [v for _, v in self._read(i) if self.masks.get(v)]
            for index in opened:
                value = self.known.all[index]
                if value.register in registers and value.kind in (ENTRY, PHI):
                    return i, self._register(index)
                behind = [value.at] if value.kind in (DEFINITION, GUARDED) else []
                opened += [o for o in value.operands if self.masks.get(o) and o not in opened]
                pending += [each for each in behind if each not in seen]
                seen.update(behind)
        return instruction, self._register(self.roots[0])


def _lookup(undefined: Iterable[tuple[Register, int]]) -> Mask:
    """The mask of an operand: of a part of a register only if all of it is undefined."""
    masks = {register: mask for register, mask in undefined if mask}

    def mask(operand: Operand) -> int:
        if isinstance(operand, Prefixed):
            operand = operand.operand
        if isinstance(operand, Element):
            base = operand.base
            return full(base) if isinstance(base, Register) and masks.get(base) == full(base) else 0
        return masks.get(operand, 0) if isinstance(operand, Register) else 0

    return mask
