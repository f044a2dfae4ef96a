"""Claims of the flow analyses: edges, what can't be reached, liveness, reaching definitions."""

from __future__ import annotations

import random

from ptxlint.analysis.flow.graph import ControlFlow, control_flow
from ptxlint.analysis.flow.liveness import liveness
from ptxlint.analysis.flow.registers import CARRY, register_use
from ptxlint.analysis.flow.ssa import values
from ptxlint.execute.builder import CARRY as CARRY_SLOT
from ptxlint.ptx.ir import Function

from .base import LATE, Claim, Moment, Subject, Tally, lanes


class Edges(Claim):
    """A lane goes from one instruction to the next of its block or along an edge of the graph;
    what the graph can't reach never runs."""

    kind = "edges"

    def before(self, moment: Moment) -> None:
        flow = moment.flow
        if not flow.resolved:
            return
        self.claimed(moment.function.name, moment.pc)
        if not flow.reached >> flow.block_of[moment.pc] & 1:
            self.wrong(moment.function, moment.instruction, "runs, and was held unreachable")
        if moment.entering and moment.pc:
            self.wrong(moment.function, moment.instruction, "is where a call begins")
        for pc in moment.came:
            if not self._follows(flow, pc, moment.pc):
                self.wrong(moment.function, moment.instruction, f"comes after instruction {pc}")

    @staticmethod
    def _follows(flow: ControlFlow, pc: int, here: int) -> bool:
        block = flow.blocks[flow.block_of[pc]]
        if pc + 1 < block.stop:
            return here == pc + 1
        return any(flow.blocks[s].start == here for s in block.successors)


class Dying:
    """Where each register of a function stops to matter, as liveness says: after an instruction,
    or on the edge into a block."""

    def __init__(self, function: Function, subject: Subject) -> None:
        flow = subject.facts.once(function, control_flow)
        use = subject.facts.once(function, register_use)
        self.live = live = subject.facts.once(function, liveness)
        self.after: dict[int, tuple[int, ...]] = {}
        everything = (1 << len(use.registers)) - 1
        self.at_entry = tuple(lanes(everything & ~live.live_in[0]))
        for index in flow.order:
            after = list(live.after(flow.blocks[index]))  # the last instruction first
            before = [state for _, state in after[1:]] + [live.live_in[index]]
            for (pc, later), earlier in zip(after, before, strict=False):
                for register in use.writes[pc]:
                    earlier |= 1 << register
                self.after[pc] = tuple(lanes(earlier & ~later))

    def on_edge(self, source: int, target: int) -> tuple[int, ...]:
        """Registers that live out of one block and not into the next."""
        return tuple(lanes(self.live.live_out[source] & ~self.live.live_in[target]))


class Liveness(Claim):
    """A register that is held dead at a point is not read before it is written again."""

    kind = "liveness"

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._dying: dict[Function, Dying] = {}
        self._dead: dict[object, dict[int, int]] = {}

    def before(self, moment: Moment) -> None:
        function, pc = moment.function, moment.pc
        dying = self._dying.get(function)
        if dying is None:
            dying = self._dying[function] = Dying(function, self.subject)
        use = self.subject.facts.once(function, register_use)
        dead = self._dead.setdefault(moment.frame, {})
        self._arrive(dying, dead, moment)
        for register in use.reads[pc]:
            mask = moment.arriving if register == use.guards[pc] >> 1 else moment.active
            if mask:
                self.claimed(function.name, pc, register)
            if wrong := dead.get(register, 0) & mask:
                name = use.name(register)
                detail = f"reads {name}, held dead; lanes {wrong:x}"
                self.wrong(function, moment.instruction, detail)
        for register in use.writes[pc]:
            dead[register] = dead.get(register, 0) & ~moment.active
        for register in dying.after.get(pc, ()):
            dead[register] = dead.get(register, 0) | moment.arriving

    @staticmethod
    def _arrive(dying: Dying, dead: dict[int, int], moment: Moment) -> None:
        if moment.entering:
            for register in dead:
                dead[register] &= ~moment.entering
            for register in dying.at_entry:
                dead[register] = dead.get(register, 0) | moment.entering
        flow = moment.flow
        block = flow.blocks[flow.block_of[moment.pc]]
        if moment.pc == block.start:
            for before, mask in moment.came.items():
                for register in dying.on_edge(flow.block_of[before], block.index):
                    dead[register] = dead.get(register, 0) | mask


class Reaching(Claim):
    """The last write that a lane's read sees is among the definitions behind the value."""

    kind = "reaching definitions"

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._writers: dict[object, dict[int, dict[int, int]]] = {}
        self._behind: dict[tuple[Function, int], frozenset[int]] = {}

    def before(self, moment: Moment) -> None:
        function, pc = moment.function, moment.pc
        ssa = self.subject.facts.once(function, values)
        use = ssa.use
        writers = self._writers.setdefault(moment.frame, {})
        if moment.entering:
            for known in writers.values():
                _forget(known, moment.entering)
        for register, value in zip(use.reads[pc], ssa.reads[pc], strict=False):
            mask = moment.arriving if register == use.guards[pc] >> 1 else moment.active
            allowed = self._behind.get((function, value))
            if allowed is None:
                found = frozenset(each.at for each in ssa.reaching(value))
                allowed = self._behind[function, value] = found
            self.claimed(function.name, pc, register)
            for writer, written in writers.get(register, {}).items():
                if written & mask and writer not in allowed:
                    detail = f"{use.name(register)} was written at {writer}"
                    self.wrong(function, moment.instruction, detail)
                mask &= ~written
            if mask and -1 not in allowed:
                detail = f"{use.name(register)} was not written; lanes {mask:x}"
                self.wrong(function, moment.instruction, detail)
        for register in use.writes[pc]:
            known = writers.setdefault(register, {})
            _forget(known, moment.active)
            if moment.active:
                known[pc] = moment.active | known.get(pc, 0)


def _forget(writers: dict[int, int], mask: int) -> None:
    for writer in list(writers):
        writers[writer] &= ~mask
        if not writers[writer]:
            del writers[writer]


class Writes(Claim):
    """A step changes no register that its instruction is not said to write.

    All registers in all lanes are compared before and after the first step at each place; in
    later launches at one place in four.
    """

    kind = "registers written"

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._places: set[tuple[Function, int]] = set()
        self._before: list[tuple[int, ...]] | None = None
        self._draw = random.Random(subject.launch)

    def before(self, moment: Moment) -> None:
        self._before = None
        place = (moment.function, moment.pc)
        if place in self._places or moment.instruction.opcode.mnemonic in LATE:
            return
        self._places.add(place)
        known = (self.subject.kernel.name, moment.function.name, moment.pc) in self.tally.claims
        if not known or self._draw.random() < 0.25:
            self._before = list(map(tuple, moment.frame.values))

    def after(self, moment: Moment) -> None:
        if self._before is None:
            return
        use = self.subject.facts.once(moment.function, register_use)
        self.claimed(moment.function.name, moment.pc)
        slots = moment.frame.code.slots.of
        numbers = {slots.get(use.registers[n]): n for n in use.writes[moment.pc]}
        after = moment.frame.values
        kinds = moment.frame.code.slots.kinds
        for slot, old in enumerate(self._before):
            if kinds[slot] is not None or old == tuple(after[slot]):
                continue
            changed = {i for i, (a, b) in enumerate(zip(old, after[slot], strict=True)) if a != b}
            outside = changed - set(lanes(moment.active))
            if outside or not self._allowed(moment, slot, numbers):
                names = [key for key, number in slots.items() if number == slot]
                name = getattr(names[0], "name", str(names[0]))
                detail = f"changes {name} in lanes {sorted(outside or changed)[:4]}"
                self.wrong(moment.function, moment.instruction, detail)

    def _allowed(self, moment: Moment, slot: int, numbers: dict[int | None, int]) -> bool:
        """Whether a slot is of a register that is said to be written, whole or an element."""
        if slot in numbers:
            return True
        use = self.subject.facts.once(moment.function, register_use)
        written = use.writes[moment.pc]
        for key, number in moment.frame.code.slots.of.items():
            if number == slot:
                if key == CARRY_SLOT:
                    return CARRY in written
                if isinstance(key, str):
                    return True  # the interpreter's own
                return isinstance(key, tuple) and use.numbers.get(key[0]) in written
        return False
