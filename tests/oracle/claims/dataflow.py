"""Undefined values that rules report, and garbage in what is held dead."""

from __future__ import annotations

import random

from ptxlint.analysis.dataflow.dead import dead_chains
from ptxlint.analysis.dataflow.undefined import undefined_uses
from ptxlint.analysis.flow.registers import register_use
from ptxlint.execute import Observer, Result, Step
from ptxlint.ptx.ir import Function, Register

from .base import LATE, Claim, Moment, Places, Subject, Tally, lanes
from .flow import Dying


class Undefined(Claim):
    """Where an undefined value is held to be observed, what is read there is undefined, each time
    and in each lane. Observed ones that nothing reports are counted as assumed."""

    kind = "undefined values"

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._reported: dict[Function, set[int]] = {}

    def before(self, moment: Moment) -> None:
        function = moment.function
        reported = self._reported.get(function)
        if reported is None:
            found = self.subject.facts.once(function, undefined_uses)
            reported = self._reported[function] = {each.at for each in found}
        if moment.pc not in reported:
            return
        self.claimed(function.name, moment.pc)
        use = self.subject.facts.once(function, register_use)
        warp = moment.warp
        for lane in lanes(moment.active):
            read = [use.registers[number] for number in use.reads[moment.pc]]
            if not any(r is not None and warp.undefined(r, lane) for r in read):
                self.wrong(function, moment.instruction, f"lane {lane} reads defined values only")
                return

    def finish(self, result: Result) -> None:
        functions = {f.name: f for f in self.subject.module.functions if f.body is not None}
        for name, pc in result.undefined_branches:
            function = functions[name]
            if pc not in self._reported.get(function, ()):
                detail = "a guard is undefined here, and nothing says so"
                self.wrong(function, function.instructions[pc], detail, None)


class Garbage(Observer):
    """Overwrites, in the lanes that came by, what is held dead: a register after its last use or
    on the edge where it dies, and results that nothing uses."""

    def __init__(self, subject: Subject, seed: int) -> None:
        self._subject = subject
        self._random = random.Random(seed)
        self._places = Places(subject.facts)
        self._dying: dict[Function, Dying] = {}
        self._results: dict[Function, dict[int, tuple[Register, ...]]] = {}
        self.claims: set[tuple[object, ...]] = set()
        self.count = 0

    def before(self, step: Step) -> None:
        moment = self._places.moment(step)
        if moment.pc != moment.flow.blocks[moment.flow.block_of[moment.pc]].start:
            return
        dying = self._of(step.function)
        for before, mask in moment.came.items():
            source = moment.flow.block_of[before]
            for number in dying.on_edge(source, moment.flow.block_of[moment.pc]):
                self._spoil(step, number, mask)

    def after(self, step: Step) -> None:
        if step.instruction.opcode.mnemonic in LATE or step.instruction.opcode.mnemonic == "brx":
            return  # their operands are read only now
        for number in self._of(step.function).after.get(step.pc, ()):
            self._spoil(step, number, step.arriving)
        for register in self._results[step.function].get(step.pc, ()):
            use = self._subject.facts.once(step.function, register_use)
            self._spoil(step, use.numbers[register], step.active)

    def _of(self, function: Function) -> Dying:
        found = self._dying.get(function)
        if found is None:
            found = self._dying[function] = Dying(function, self._subject)
            chains = dead_chains(function, self._subject.facts)
            self._results[function] = {chain.last: chain.results for chain in chains}
        return found

    def _spoil(self, step: Step, number: int, mask: int) -> None:
        register = self._subject.facts.once(step.function, register_use).registers[number]
        storage = step.warp.storage
        if register is None or storage is None or register.variable.vector > 1:
            return
        slot = storage.code.slots.of.get(register)
        if slot is None:
            return
        width = storage.code.slots.widths[slot]
        column = list(storage.values[slot])
        for lane in lanes(mask):
            column[lane] ^= self._random.getrandbits(width) | 1
        storage.values[slot] = column
        self.claims.add((step.function.name, step.pc, number))
        self.count += 1


class Dead(Claim):
    """Garbage in what is held dead changes nothing: neither how the run ends nor the buffers."""

    kind = "dead values"

    def compare(self, plain: Result, spoilt: Result, garbage: Garbage) -> None:
        """Two runs of one launch, the second with garbage."""
        if plain.undefined_branches or plain.unsupported:
            return
        self.tally.claims |= {(self.subject.kernel.name, *claim) for claim in garbage.claims}
        self.tally.checks += garbage.count
        kernel = self.subject.kernel
        if (plain.status, plain.steps) != (spoilt.status, spoilt.steps):
            detail = (
                f"{plain.status} after {plain.steps} steps, {spoilt.status} after {spoilt.steps}"
            )
            self.wrong(kernel, kernel.instructions[0], detail)
            return
        for name, (data, marks) in plain.buffers.items():
            for place in _differences(data, spoilt.buffers[name][0]):
                if not marks[place]:
                    self.wrong(kernel, kernel.instructions[0], f"byte {place} of {name} differs")
                    return


def _differences(one: bytes, other: bytes) -> list[int]:
    if one == other:
        return []
    return [i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]
