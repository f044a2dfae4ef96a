"""Static single assignment: each definition a value of its own, each use the value that it sees.

Pruned (a phi only where its register is live), after Cytron et al. (1991). A guarded definition
keeps the old value in the lanes where the guard is false: such a value has the old one as operand.
"""

from __future__ import annotations

from ...ptx.ir import Function, Register
from ..bitset import members
from ..facts import Facts
from .dominance import dominators, frontiers
from .graph import ControlFlow, control_flow
from .liveness import Liveness, liveness
from .registers import CARRY, RegisterUse, register_use

ENTRY, DEFINITION, GUARDED, PHI = range(4)


class Value:
    """One value of a register.

    ``kind`` is ``DEFINITION`` or ``GUARDED`` (at instruction ``at``), ``PHI`` (at the head of
    block ``at``) or ``ENTRY`` (what the register holds before anything was written; ``at`` is
    -1). ``operands`` are values by number: of a phi, one for each reached predecessor of the
    block in ``predecessors``' order; of a guarded definition, the old value.
    """

    __slots__ = ("at", "index", "kind", "operands", "register")

    def __init__(self, index: int, register: int, kind: int, at: int) -> None:
        self.index = index
        self.register = register
        self.kind = kind
        self.at = at
        self.operands: tuple[int, ...] = ()


class Values:
    """All values of a function, by number.

    ``reads[i]`` and ``writes[i]`` are values, parallel to those of ``RegisterUse``; of an
    instruction that can't be reached, empty. ``phis[b]`` are those at the head of block *b*.
    """

    __slots__ = ("_entries", "_kernel", "_users", "all", "phis", "reads", "use", "writes")

    def __init__(self, use: RegisterUse, instructions: int, blocks: int, kernel: bool) -> None:
        self.use = use
        self._kernel = kernel
        self.all: list[Value] = []
        self.reads: list[tuple[int, ...]] = [()] * instructions
        self.writes: list[tuple[int, ...]] = [()] * instructions
        self.phis: list[list[Value]] = [[] for _ in range(blocks)]
        self._users: list[list[int]] | None = None
        self._entries: dict[int, int] = {}

    def new(self, register: int, kind: int, at: int) -> Value:
        """A fresh value."""
        value = Value(len(self.all), register, kind, at)
        self.all.append(value)
        return value

    def entry(self, register: int) -> int:
        """The value that a register holds before anything was written to it."""
        if register not in self._entries:
            self._entries[register] = self.new(register, ENTRY, -1).index
        return self._entries[register]

    def undefined(self, index: int) -> bool:
        """Whether a value is what a register of a kernel holds before anything is written.

        A kernel has no parameters in registers; another function may be given them.
        """
        value = self.all[index]
        return value.kind == ENTRY and self._kernel and value.register != CARRY

    def read(self, instruction: int, register: int) -> int | None:
        """The value of a register that an instruction reads; None where it reads no such."""
        numbers, known = self.use.reads[instruction], self.reads[instruction]
        return known[numbers.index(register)] if known and register in numbers else None

    def value_of(self, instruction: int, register: Register) -> int | None:
        """The value of a register that an instruction names and reads; None if it does not."""
        number = self.use.numbers.get(register)
        return None if number is None else self.read(instruction, number)

    def written(self, instruction: int, register: int) -> int | None:
        """The value that an instruction gives to a register; None where it gives none."""
        numbers, known = self.use.writes[instruction], self.writes[instruction]
        return known[numbers.index(register)] if known and register in numbers else None

    def readers(self, value: int) -> list[int]:
        """The instructions that read a value."""
        if self._users is None:
            self._users = [[] for _ in self.all]
            for instruction, read in enumerate(self.reads):
                for each in read:
                    self._users[each].append(instruction)
        return self._users[value]

    def reaching(self, value: int) -> list[Value]:
        """The definitions (and entry values) behind a value: phis and kept old values opened."""
        seen, stack, found = {value}, [value], []
        while stack:
            each = self.all[stack.pop()]
            if each.kind != PHI:
                found.append(each)
            for operand in each.operands:
                if operand not in seen:
                    seen.add(operand)
                    stack.append(operand)
        found.sort(key=lambda each: each.at)
        return found


def values(function: Function, facts: Facts) -> Values:
    """The function in SSA form."""
    flow = facts.once(function, control_flow)
    use = facts.once(function, register_use)
    found = Values(use, len(flow.instructions), len(flow.blocks), function.is_kernel)
    if not flow.blocks:
        return found
    tree = facts.once(function, dominators)
    _place_phis(found, flow, use, facts.once(function, liveness), frontiers(flow, tree))
    current: list[int] = [-1] * len(use.registers)
    # Down the dominator tree; on the way up what a block changed is put back.
    stack: list[tuple[int, list[tuple[int, int]] | None]] = [(0, None)]
    while stack:
        block, changed = stack.pop()
        if changed is not None:
            for register, old in reversed(changed):
                current[register] = old
            continue
        stack.append((block, _rename(found, flow, use, block, current)))
        stack.extend((child, None) for child in tree.children[block])
    return found


def _place_phis(
    found: Values,
    flow: ControlFlow,
    use: RegisterUse,
    live: Liveness,
    frontier: list[list[int]],
) -> None:
    sites: dict[int, list[int]] = {}
    live_in = 0
    for index in flow.order:
        live_in |= live.live_in[index]
    crossing = set(members(live_in))
    for index in flow.order:
        block = flow.blocks[index]
        for written in use.writes[block.start : block.stop]:
            for register in written:
                if register in crossing:
                    where = sites.setdefault(register, [])
                    if not where or where[-1] != index:
                        where.append(index)
    for register, blocks in sites.items():
        placed, pending = set[int](), list(blocks)
        while pending:
            for index in frontier[pending.pop()]:
                if index not in placed and live.live_in[index] >> register & 1:
                    placed.add(index)
                    found.phis[index].append(found.new(register, PHI, index))
                    pending.append(index)


def _rename(
    found: Values, flow: ControlFlow, use: RegisterUse, index: int, current: list[int]
) -> list[tuple[int, int]]:
    """Number what a block reads and writes; gives what it changed, to be put back."""
    changed: list[tuple[int, int]] = []
    block = flow.blocks[index]
    for phi in found.phis[index]:
        changed.append((phi.register, current[phi.register]))
        current[phi.register] = phi.index
    all_, reads, writes = found.all, found.reads, found.writes
    for i in range(block.start, block.stop):
        if read := use.reads[i]:
            seen = tuple([current[r] for r in read])
            reads[i] = seen if -1 not in seen else tuple([_seen(found, r, current) for r in read])
        if written := use.writes[i]:
            guarded = use.guards[i] >= 0
            made = []
            for register in written:
                number = len(all_)
                value = Value(number, register, GUARDED if guarded else DEFINITION, i)
                all_.append(value)
                if guarded:
                    value.operands = (_seen(found, register, current),)
                changed.append((register, current[register]))
                current[register] = number
                made.append(number)
            writes[i] = tuple(made)
    for successor in block.successors:
        if not (phis := found.phis[successor]):
            continue
        predecessors = flow.reached_predecessors(successor)
        place = predecessors.index(index)
        for phi in phis:
            if not phi.operands:
                phi.operands = (-1,) * len(predecessors)
            operands = list(phi.operands)
            operands[place] = _seen(found, phi.register, current)
            phi.operands = tuple(operands)
    return changed


def _seen(found: Values, register: int, current: list[int]) -> int:
    """The value that a register has now; before any definition, its entry value."""
    value = current[register]
    return found.entry(register) if value < 0 else value
