"""The fixpoint of the uniformity analysis."""

from __future__ import annotations

from ...isa.types import SIZES
from ...ptx.ir import (
    Address,
    Function,
    Instruction,
    Integer,
    Opcode,
    Operand,
    Register,
    SpecialRegister,
    Symbol,
    Variable,
    Vector,
)
from ..bitset import members
from ..facts import Facts
from ..flow.control import Control, control_dependence
from ..flow.dominance import Tree, dominators
from ..flow.graph import ControlFlow, control_flow
from ..flow.loops import loops
from ..flow.ssa import ENTRY, GUARDED, PHI, Values, values
from .assumptions import Assumptions
from .congruence import Congruence, congruence_of_whole_warps
from .uniformity_opcodes import (
    ACTIVE,
    LOAD,
    OWN,
    PARAMETER_LOAD,
    RED,
    SHUFFLE,
    UNKNOWN,
    VOTE,
    Kind,
)
from .uniformity_sources import Coordinates
from .uniformity_spread import transfer_of
from .uniformity_states import LANES, SHIFT, WARP_VARIES, join, spread, with_spread

CONVERGENCE = (
    "the lanes of a warp come together again where a branch's ways meet, and run shuffles, votes"
    " and loads of one address together"
)
_FULL_CLAMP = 31


class Solver:
    """``states`` of the values, ``branches`` of the blocks' last instructions."""

    def __init__(self, function: Function, facts: Facts) -> None:
        self._function = function
        self._facts = facts
        self._flow: ControlFlow = facts.once(function, control_flow)
        self._values: Values = facts.once(function, values)
        self._use = self._values.use
        self._control: Control = facts.once(function, control_dependence)
        self._dominators: Tree = facts.once(function, dominators)
        self.assumed = Assumptions()
        self._convergence = self.assumed.bit(CONVERGENCE) << SHIFT | WARP_VARIES
        self._coordinates = Coordinates(function, facts, self.assumed)
        self._congruence: Congruence | None = None
        self.states = [0] * len(self._values.all)
        self.branches = [0] * len(self._flow.blocks)
        self._kinds: dict[Opcode, Kind] = {}
        # What the branches whose ways meet at a phi add to it.
        self._choices: dict[int, int] = {}
        # Of values that leave the region of a branch: (region, what its choice adds outside).
        self._escapes: dict[int, dict[tuple[int, int], tuple[int, int]]] = {}
        # The phis and guarded definitions that a value may be what they give.
        self._joins: dict[int, list[int]] = {}
        self._pending: list[int] = []  # values whose state has risen
        self._sweeping = True

    # --- the sweep and the worklist --------------------------------------------------------------

    def run(self) -> None:
        """To the fixpoint."""
        if not self._flow.resolved:
            self.states = [LANES] * len(self.states)
            self.branches = [LANES] * len(self.branches)
            return
        self._first()
        for index in self._flow.order:
            block = self._flow.blocks[index]
            for phi in self._values.phis[index]:
                self._phi(phi.index)
            for i in range(block.start, block.stop):
                if self._values.writes[i]:
                    self._instruction(i)
            self._branch(index)
        self._sweeping = False
        while self._pending:
            value = self._pending.pop()
            for other in self._joins.get(value, ()):
                self._phi(other)
            for i in self._values.readers(value):
                if self._values.writes[i]:
                    self._instruction(i)
                if self._use.guards[i] >= 0 or self._flow.instructions[i].opcode.mnemonic == "brx":
                    block = self._flow.blocks[self._flow.block_of[i]]
                    if i == block.stop - 1:
                        self._branch(block.index)

    def _first(self) -> None:
        doomed = self._control.doomed
        for value in self._values.all:
            if value.kind == ENTRY:
                self.states[value.index] = LANES
            elif value.kind == PHI:
                if doomed >> value.at & 1:
                    self.states[value.index] = LANES
            elif doomed and doomed >> self._flow.block_of[value.at] & 1:
                self.states[value.index] = LANES
            for operand in value.operands:
                self._joins.setdefault(operand, []).append(value.index)

    def _rise(self, value: int, state: int) -> None:
        old = self.states[value]
        if old == LANES:
            return
        new = join(old, state)
        if new == old:
            return
        self.states[value] = new
        # In the sweep only what is read further up was read before.
        if not self._sweeping or value in self._joins or self._values.all[value].kind == PHI:
            self._pending.append(value)

    # --- reading ---------------------------------------------------------------------------------

    def _seen(self, value: int, block: int) -> int:
        """The state of a value as a block reads it."""
        state = self.states[value]
        if value in self._escapes:
            for region, added in self._escapes[value].values():
                if not region >> block & 1:
                    state = join(state, added)
        return state

    def state(self, index: int, operand: Operand) -> int:
        """The state of an operand of an instruction."""
        if type(operand) is Register:
            value = self._values.value_of(index, operand)
            return LANES if value is None else self._seen(value, self._flow.block_of[index])
        if isinstance(operand, SpecialRegister):
            return self._coordinates.special(operand.name)
        if isinstance(operand, Symbol):
            target = operand.target
            if not isinstance(target, Variable):
                return 0
            return 0 if self._in_one_place(target) else LANES
        if type(operand) is Vector:
            return self._packed(index, operand)
        state = 0
        for child in operand.children():
            state = join(state, self.state(index, child))
        return LANES if spread(state) else state

    def _in_one_place(self, variable: Variable) -> bool:
        """Whether all threads of a block mean the same object by a name."""
        if variable.space in ("global", "shared", "const", "tex"):
            return True
        return self._function.is_kernel and variable in self._function.parameters

    def _packed(self, index: int, vector: Vector) -> int:
        elements = [self.state(index, element) for element in vector.elements]
        state, at = 0, 0
        for element, operand in zip(elements, vector.elements, strict=True):
            width = 8 * SIZES.get(operand.variable.type, 8) if type(operand) is Register else 0
            if spread(element):
                if element == LANES or not width:
                    return LANES
                element = with_spread(element, spread(element) + at)
            state = join(state, element)
            at += width
        return state

    def guard(self, index: int) -> int:
        """The state of an instruction's guard; 0 where there is none."""
        if self._use.guards[index] < 0:
            return 0
        guard = self._flow.instructions[index].guard
        return LANES if guard is None else self.state(index, guard.register)

    def low_bits(self, index: int, factors: tuple[Operand, ...], k: int) -> tuple[int, int] | None:
        """The low k bits of a product, if they are known, and what that rests on."""
        if len(factors) == 1 and isinstance(factors[0], Integer):
            return factors[0].value & (1 << k) - 1, 0
        if self._congruence is None:
            self._congruence = self._facts.once(self._function, congruence_of_whole_warps)
        known = self._congruence.product(index, factors)
        if known.bits < k or not isinstance(known.residues, int):
            return None
        bits = 0
        for text in known.assumptions:
            bits |= self.assumed.bit(text)
        return known.residues & (1 << k) - 1, bits << SHIFT

    # --- transfers -------------------------------------------------------------------------------

    def _phi(self, index: int) -> None:
        """A phi, or a guarded definition that keeps an old value."""
        value = self._values.all[index]
        if self.states[index] == LANES:
            return
        if value.kind == GUARDED:
            self._instruction(value.at)
            return
        state = self._choices.get(index, 0)
        sources = self._flow.reached_predecessors(value.at)
        for operand, source in zip(value.operands, sources, strict=True):
            if not self._values.undefined(operand):
                state = join(state, self._seen(operand, source))
                if state == LANES:
                    break
        self._rise(index, state)

    def _instruction(self, i: int) -> None:
        written = self._values.writes[i]
        states = self.states
        for value in written:
            if states[value] != LANES:
                break
        else:
            return
        instruction = self._flow.instructions[i]
        kind = self._kinds.get(instruction.opcode)
        if kind is None:
            kind = self._kinds[instruction.opcode] = Kind(instruction.opcode)
        state = self._own(i, instruction, kind) if kind.how == OWN else self._across(i, kind)
        if spread(state) and len(written) > 1:
            self._parts(i, instruction, state)
            return
        if self._use.guards[i] < 0:
            for value in written:
                self._rise(value, state)
            return
        state = join(state, self.guard(i))
        block = self._flow.block_of[i]
        for value in written:
            (old,) = self._values.all[value].operands
            kept = state if self._values.undefined(old) else join(state, self._seen(old, block))
            self._rise(value, kept)

    def _own(self, i: int, instruction: Instruction, kind: Kind) -> int:
        """A function of each lane's own sources."""
        state = 0
        block = self._flow.block_of[i]
        partly = False
        for value in self._values.reads[i]:
            seen = self._seen(value, block) if value in self._escapes else self.states[value]
            if seen & LANES:
                return LANES
            partly = partly or seen & 0xFE != 0
            state |= seen
        for operand in instruction.operands:
            if type(operand) is not Register and type(operand) is not Integer:
                seen = self._plain(i, operand)
                if seen & LANES:
                    return LANES
                partly = partly or seen & 0xFE != 0
                state |= seen
        if not partly:
            return state
        transfer = transfer_of(kind.mnemonic)
        return LANES if transfer is None else transfer(self, i, instruction)

    def _plain(self, i: int, operand: Operand) -> int:
        """What an operand adds besides the registers in it."""
        if isinstance(operand, (SpecialRegister, Symbol)):
            return self.state(i, operand)
        state = 0
        for child in operand.children():
            if type(child) is not Register:
                state = join(state, self._plain(i, child))
        return state

    def _parts(self, i: int, instruction: Instruction, state: int) -> None:
        """``mov`` of one value whose low bits vary into several registers."""
        result = instruction.operands[0]
        whole = type(result) is Vector and instruction.opcode.mnemonic == "mov"
        guarded = self._use.guards[i] >= 0
        at = 0
        numbers = self._use.numbers
        shares: dict[int, int] = {}
        if whole and not guarded and state != LANES:
            for element in result.children():
                if type(element) is not Register:
                    break
                width = 8 * SIZES.get(element.variable.type, 0)
                k = max(spread(state) - at, 0)
                shares[numbers[element]] = with_spread(state, k if k < width else 64)
                at += width
        for register, value in zip(self._use.writes[i], self._values.writes[i], strict=True):
            self._rise(value, shares.get(register, LANES))

    def _across(self, i: int, kind: Kind) -> int:
        """What other lanes or memory have a part in."""
        instruction = self._flow.instructions[i]
        operands = instruction.operands
        how = kind.how
        if how == UNKNOWN:
            return LANES
        if how in (ACTIVE, RED):
            return self._convergence
        if how in (VOTE, SHUFFLE):
            # The lanes that a mask names together get the same; the source lane must be one.
            clamp = operands[3] if len(operands) > 3 else None
            if how == SHUFFLE and not (isinstance(clamp, Integer) and clamp.value == _FULL_CLAMP):
                return LANES
            state = self._convergence
            for operand in operands[2:]:
                state = join(state, self.state(i, operand))
            return LANES if spread(state) else state
        address = next((o for o in operands if type(o) is Address), None)
        if address is None or address.base is None or address.rest:
            return LANES
        if how == PARAMETER_LOAD and not self._function.is_kernel:
            return LANES
        base = self.state(i, address.base)
        if spread(base):
            return LANES
        return base | self._convergence if how == LOAD else base

    # --- branches --------------------------------------------------------------------------------

    def _branch(self, index: int) -> None:
        """What the choice at a block's end does to values where its ways meet, and beyond."""
        block = self._flow.blocks[index]
        last = self._flow.terminator(block)
        if last is None:
            return
        state = self.guard(block.stop - 1)
        if last.opcode.mnemonic == "brx" and last.operands:
            state = join(state, self.state(block.stop - 1, last.operands[0]))
        state = LANES if spread(state) else state
        old = self.branches[index]
        if state == old:
            return
        self.branches[index] = join(old, state)
        control = self._control
        if len(control.onward[index]) < 2:
            return
        if control.endless >> index & 1:
            self._give_up(index)
            return
        self._mix(index, self.branches[index])
        self._leave(index, self.branches[index])
        meet = control.join(index)
        if meet != control.exit:
            self._meet(index, meet, self.branches[index])

    def _mix(self, branch: int, state: int) -> None:
        """Ways that come together before the join: lanes are there by different ones."""
        for block in members(self._control.mixed(branch)):
            for phi in self._values.phis[block]:
                if len(set(phi.operands)) > 1:
                    self._choices[phi.index] = join(self._choices.get(phi.index, 0), state)
                    self._phi(phi.index)

    def _leave(self, branch: int, state: int) -> None:
        """Lanes may leave a loop at different turns, and do something before they meet again."""
        meet = self._control.join(branch)
        for loop in self._facts.once(self._function, loops).around(branch):
            if meet != self._control.exit and meet in loop:
                return
            for _, way in loop.exits:
                if way is None or way == meet or self._control.doomed >> way & 1:
                    continue
                for phi in self._values.phis[way]:
                    if any(self._defined_in(o, loop.blocks) for o in phi.operands):
                        self._choices[phi.index] = join(self._choices.get(phi.index, 0), state)
                        self._phi(phi.index)
                above = self._dominators.parent[way]
                while above >= 0 and above in loop:
                    for value in self._defined(above):
                        self._escape(value, (branch, loop.index), loop.blocks, state)
                    above = self._dominators.parent[above]

    def _meet(self, branch: int, meet: int, state: int) -> None:
        phis = self._values.phis[meet]
        chain = self._dominators.parent[meet]
        if not phis and chain == branch and not self._in_region(branch):
            return
        region = self._control.region(branch)
        inside = region | 1 << branch
        sources = self._flow.reached_predecessors(meet)
        for phi in phis:
            differ = {o for o, p in zip(phi.operands, sources, strict=True) if inside >> p & 1}
            if len(differ) > 1 or any(self._defined_in(o, region) for o in differ):
                self._choices[phi.index] = join(self._choices.get(phi.index, 0), state)
                self._phi(phi.index)
        while chain >= 0 and region >> chain & 1:
            for value in self._defined(chain):
                self._escape(value, (branch, -1), region, state)
            chain = self._dominators.parent[chain]

    def _in_region(self, branch: int) -> bool:
        return bool(self._control.region(branch) >> branch & 1)

    def _defined_in(self, index: int, region: int) -> bool:
        value = self._values.all[index]
        if value.kind == ENTRY:
            return False
        block = value.at if value.kind == PHI else self._flow.block_of[value.at]
        return bool(region >> block & 1)

    def _defined(self, index: int) -> list[int]:
        found = [phi.index for phi in self._values.phis[index]]
        block = self._flow.blocks[index]
        for i in range(block.start, block.stop):
            found += self._values.writes[i]
        return found

    def _escape(self, value: int, key: tuple[int, int], region: int, state: int) -> None:
        """Outside a branch's region, or a loop around it, a value is that of different turns."""
        if self.states[value] == LANES:
            return
        self._escapes.setdefault(value, {})[key] = (region, state)
        self._pending.append(value)

    def _give_up(self, branch: int) -> None:
        """Nothing leads out of here: where lanes meet again is not known."""
        stack, seen = [branch], set[int]()
        while stack:
            for way in self._control.onward[stack.pop()]:
                if way != self._control.exit and way not in seen:
                    seen.add(way)
                    stack.append(way)
        for index in seen:
            for value in self._defined(index):
                self._rise(value, LANES)
