"""Uniformity: values, guards and blocks that the lanes of a warp, or all threads, share."""

from __future__ import annotations

from ptxlint.analysis.flow.graph import control_flow
from ptxlint.analysis.flow.ssa import values
from ptxlint.analysis.values.uniformity import CTA_UNIFORM, LANE_DEPENDENT, uniformity
from ptxlint.execute import Result
from ptxlint.ptx.ir import Function, Register

from .base import LATE, Claim, Moment, Subject, Tally, lanes
from .turns import Turns


class Uniformity(Claim):
    """A warp-uniform operand is the same in all lanes that execute its instruction together; a
    CTA-uniform one in all threads at the same turn of every loop. A result where it is made."""

    kind = "uniformity"

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._turns = Turns(subject)
        self._shared: dict[tuple[object, ...], int] = {}
        self._levels: dict[tuple[Function, int, int, bool], tuple[int, bool | None]] = {}

    def before(self, moment: Moment) -> None:
        self._turns.arrive(moment)
        ssa = self.subject.facts.once(moment.function, values)
        for register in ssa.use.reads[moment.pc]:
            guard = register == ssa.use.guards[moment.pc] >> 1
            self._check(moment, register, moment.arriving if guard else moment.active, False)

    def after(self, moment: Moment) -> None:
        if moment.instruction.opcode.mnemonic in LATE:
            return
        ssa = self.subject.facts.once(moment.function, values)
        for register in ssa.use.writes[moment.pc]:
            self._check(moment, register, moment.active, True)

    def _level(
        self, moment: Moment, number: int, register: Register, written: bool
    ) -> tuple[int, bool | None]:
        key = (moment.function, moment.pc, number, written)
        found = self._levels.get(key)
        if found is None:
            known = self.subject.facts.once(moment.function, uniformity)
            if written:
                ssa = self.subject.facts.once(moment.function, values)
                value = ssa.written(moment.pc, number)
                assert value is not None
                level, assumed = known.level(value), known.assumptions(value)
            else:
                level = known.level_at(moment.pc, register)
                assumed = known.assumptions_at(moment.pc, register)
            found = self._levels[key] = (level, self.met(assumed))
        return found

    def _check(self, moment: Moment, number: int, mask: int, written: bool) -> None:
        ssa = self.subject.facts.once(moment.function, values)
        register = ssa.use.registers[number]
        if register is None or register.variable.vector > 1 or not mask:
            return
        level, met = self._level(moment, number, register, written)
        if level >= LANE_DEPENDENT or met is False:
            return
        warp = moment.warp
        seen = {n: warp.value(register, n) for n in lanes(mask) if not warp.undefined(register, n)}
        if not seen:
            return
        self.claimed(moment.function.name, moment.pc, number, written)
        if len(set(seen.values())) > 1:
            several = sorted(set(seen.values()))[:3]
            detail = f"{register.name} is held uniform and holds {[hex(v) for v in several]}"
            self.wrong(moment.function, moment.instruction, detail, met)
        elif level == CTA_UNIFORM and moment.function.is_kernel:
            value = next(iter(seen.values()))
            known = sum(1 << n for n in seen)
            for turn in self._turns.of(moment, known):
                first = self._shared.setdefault((moment.pc, number, written, turn), value)
                if first != value:
                    detail = (
                        f"{register.name} is held uniform in the block and is {value:#x} in warp "
                        f"{warp.index}, elsewhere {first:#x} (turn {turn})"
                    )
                    self.wrong(moment.function, moment.instruction, detail, met)
                    return


class Blocks(Claim):
    """A block that is reached uniformly is reached, at each turn, by all lanes of a warp together
    or by none; or by all threads of the CTA or by none (in runs that end)."""

    kind = "blocks reached together"

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._turns = Turns(subject)
        self._came: dict[int, dict[tuple[int, ...], dict[int, int]]] = {}
        self._lanes: dict[int, int] = {}

    def before(self, moment: Moment) -> None:
        if moment.function is not self.subject.kernel:
            return
        self._turns.arrive(moment)
        warp = moment.warp
        if warp.index not in self._lanes:
            self._lanes[warp.index] = warp.live
        index = moment.flow.block_of[moment.pc]
        if moment.pc != moment.flow.blocks[index].start:
            return
        turns = self._came.setdefault(index, {})
        for turn, mask in self._turns.of(moment, moment.arriving).items():
            there = turns.setdefault(turn, {})
            there[warp.index] = there.get(warp.index, 0) | mask

    def finish(self, result: Result) -> None:
        kernel = self.subject.kernel
        if result.status != "done" or result.unsupported:
            return
        everyone = self._lanes
        for block, turns in self._came.items():
            level, met = self.level(block)
            if level >= LANE_DEPENDENT or met is False:
                continue
            instruction = kernel.instructions[self._first(block)]
            for turn, there in turns.items():
                self.claimed(kernel.name, block)
                for warp, mask in there.items():
                    if mask != everyone[warp]:
                        detail = (
                            f"block {block} is reached by lanes {mask:x} of warp {warp}, not by "
                            f"{everyone[warp] & ~mask:x} (turn {turn})"
                        )
                        self.wrong(kernel, instruction, detail, met)
                if level == CTA_UNIFORM and len(there) != len(everyone):
                    detail = f"block {block} is reached by warps {sorted(there)} (turn {turn})"
                    self.wrong(kernel, instruction, detail, met)

    def level(self, block: int) -> tuple[int, bool | None]:
        """How uniformly a block is held to be reached, and whether what that rests on is met."""
        known = self.subject.facts.once(self.subject.kernel, uniformity)
        return known.block_uniform(block), self.met(known.block_assumptions(block))

    def _first(self, block: int) -> int:
        return self.subject.facts.once(self.subject.kernel, control_flow).blocks[block].start
