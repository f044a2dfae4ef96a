"""Paths on which an undefined value is observed."""

from __future__ import annotations

from ...isa.effects import effect
from ...ptx.ir import Element, Function, Integer, Operand, Prefixed, Register
from ..facts import Facts
from ..flow.graph import control_flow
from ..flow.liveness import liveness
from ..flow.registers import register_use
from .bits import passed
from .conditions import Conditions
from .masks import full
from .observers import observed
from .undefined import undefined_uses
from .unwritten import unwritten

# Blocks walked for one function: what has more paths is not judged to the end.
_LIMIT = 1500


class Path:
    """A walk from the entry: undefined bits by register, and whose they are."""

    __slots__ = ("block", "conditions", "masks", "origins", "steps")

    def __init__(self, block: int, masks: dict[Register, int]) -> None:
        self.block = block
        self.masks = masks
        self.origins = {register: register for register in masks}
        self.conditions = Conditions()
        self.steps: tuple[int, ...] = ()

    def fork(self, block: int) -> Path:
        """The same walk going on to another block."""
        new = Path(block, dict(self.masks))
        new.origins = dict(self.origins)
        new.conditions = self.conditions.copy()
        new.steps = (*self.steps, self.block)
        return new


class Possible:
    """``register`` is undefined and observed by instruction ``at`` (which ``does`` it) after the
    blocks ``path``.
    """

    __slots__ = ("at", "does", "path", "register")

    def __init__(self, register: Register, at: int, does: str, path: tuple[int, ...]) -> None:
        self.register = register
        self.at = at
        self.does = does
        self.path = path


def possible_uses(function: Function, facts: Facts) -> list[Possible]:
    """The first observation of each register that a path leaves undefined and another does not."""
    candidates = facts.once(function, unwritten)
    if not candidates:
        return []
    always = {observation.register for observation in facts.once(function, undefined_uses)}
    use = facts.once(function, register_use)
    registers = [use.registers[number] for number in candidates]
    wanted = {r: full(r) for r in registers if r is not None and r not in always}
    return _Walk(function, facts).all(wanted) if wanted else []


class _Walk:
    def __init__(self, function: Function, facts: Facts) -> None:
        self.flow = facts.once(function, control_flow)
        self.use = facts.once(function, register_use)
        self.live = facts.once(function, liveness).live_in
        self.found: dict[Register, Possible] = {}
        self.instructions = function.instructions

    def all(self, wanted: dict[Register, int]) -> list[Possible]:
        pending = [Path(0, wanted)]
        seen: set[object] = set()
        for _ in range(_LIMIT):
            if not pending:
                break
            path = pending.pop()
            self._prune(path)
            state = self._state(path)
            if not path.masks or state in seen:
                continue
            seen.add(state)
            pending += self._block(path)
        return sorted(self.found.values(), key=lambda each: each.at)

    def _prune(self, path: Path) -> None:
        live = self.live[path.block]
        for register in list(path.masks):
            if not live >> self.use.numbers[register] & 1 or path.origins[register] in self.found:
                del path.masks[register]

    def _state(self, path: Path) -> object:
        live = self.live[path.block]
        predicates = [
            register
            for number, register in enumerate(self.use.registers)
            if live >> number & 1 and register is not None and register.variable.type == "pred"
        ]
        masks = tuple(sorted((self.use.numbers[r], m) for r, m in path.masks.items()))
        return path.block, masks, path.conditions.state(predicates)

    def _block(self, path: Path) -> list[Path]:
        block = self.flow.blocks[path.block]
        forks = [path]
        for i in range(block.start, block.stop):
            forks = [each for one in forks for each in self._step(one, i)][:8]
        last = self.flow.terminator(block)
        onward = []
        for one in forks:
            for successor in block.successors:
                new = one.fork(successor)
                if last is None or last.guard is None or len(block.successors) == 1:
                    onward.append(new)
                    continue
                jumps = successor in block.taken
                if new.conditions.assume(last.guard.register, jumps != last.guard.negated):
                    onward.append(new)
        return onward

    def _step(self, path: Path, i: int) -> list[Path]:
        """A path over one instruction: two paths where its guard may go either way and matters."""
        instruction = self.instructions[i]
        guard = instruction.guard
        numbers = self.use.writes[i]
        registers = [r for n in numbers if (r := self.use.registers[n]) is not None]
        touched = any(r in path.masks for r in registers) or any(
            self.use.registers[n] in path.masks for n in self.use.reads[i]
        )
        if guard is None or self._ends(i):
            self._run(path, i, registers, touched)
            return [path]
        known = path.conditions.known(guard.register)
        if known is None and not touched:
            path.conditions.write(instruction, registers, certain=False)
            return [path]
        ways = []
        for holds in (True, False) if known is None else (known,):
            way = path.fork(path.block) if known is None else path
            way.steps = path.steps
            if known is None and not way.conditions.assume(guard.register, holds):
                continue
            if holds != guard.negated:
                self._run(way, i, registers, touched)
            ways.append(way)
        return ways

    def _ends(self, i: int) -> bool:
        return self.flow.blocks[self.flow.block_of[i]].stop == i + 1 and (
            self.instructions[i].opcode.mnemonic in ("bra", "brx", "ret", "exit", "trap")
        )

    def _run(self, path: Path, i: int, registers: list[Register], touched: bool) -> None:
        if touched:
            self._spread(path, i, registers)
        path.conditions.write(self.instructions[i], registers, certain=True)

    def _spread(self, path: Path, i: int, registers: list[Register]) -> None:
        instruction = self.instructions[i]
        read = [self.use.registers[n] for n in self.use.reads[i]]
        origins = [path.origins[r] for r in read if r is not None and r in path.masks]

        def undefined(operand: Operand) -> int:
            if isinstance(operand, Prefixed):
                operand = operand.operand
            if isinstance(operand, Element) or not isinstance(operand, Register):
                return 0
            return path.masks.get(operand, 0)

        if origins:
            does = observed(instruction, undefined, undefined)
            if does is not None and origins[0] not in self.found:
                steps = (*path.steps, path.block)
                self.found[origins[0]] = Possible(origins[0], i, does, steps)
        opcode = instruction.opcode
        results = effect(opcode.mnemonic, opcode.modifiers).results
        made = dict(passed(instruction, results, undefined, _constant))
        for register in registers:
            path.masks.pop(register, None)
            if made.get(register) and origins:
                path.masks[register] = made[register]
                path.origins[register] = origins[0]


def _constant(operand: Operand) -> int | None:
    return operand.value if isinstance(operand, Integer) else None
