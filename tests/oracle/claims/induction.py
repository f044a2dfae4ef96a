"""Induction variables go up by their step at every turn, and loops run as often as said."""

from __future__ import annotations

from ptxlint.analysis.flow.induction import Induction as Variable
from ptxlint.analysis.flow.induction import induction
from ptxlint.analysis.flow.loops import Loop
from ptxlint.analysis.flow.ssa import values
from ptxlint.isa.types import SIZES
from ptxlint.ptx.ir import Function, Register

from .base import Claim, Moment, Subject, Tally, lanes


class Induction(Claim):
    """At each turn of each lane: initial + turn * step; at the way out: as many turns as said."""

    kind = "induction variables and trips"

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._variables: dict[Function, list[Variable]] = {}
        # By frame and phi: of each lane the turn that it is in and what it came in with.
        self._turns: dict[tuple[object, int], tuple[list[int], list[int]]] = {}

    def before(self, moment: Moment) -> None:
        function = moment.function
        if function not in self._variables:
            self._variables[function] = self.subject.facts.once(function, induction)
        index = moment.flow.block_of[moment.pc]
        if moment.pc != moment.flow.blocks[index].start:
            return
        for variable in self._variables[function]:
            if variable.loop.header == index:
                self._turn(moment, variable)
            elif index not in variable.loop:
                self._left(moment, variable, variable.loop)

    def _turn(self, moment: Moment, variable: Variable) -> None:
        register = self._register(moment.function, variable)
        mask = (1 << 8 * SIZES[register.variable.type]) - 1
        turns, starts = self._state(moment, variable)
        fresh = moment.entering
        for before, came in moment.came.items():
            if moment.flow.block_of[before] not in variable.loop:
                fresh |= came
        for lane in lanes(moment.arriving):
            value = moment.warp.value(register, lane)
            if fresh >> lane & 1:
                turns[lane], starts[lane] = 0, value
                expected = value if variable.start is None else variable.start & mask
            else:
                turns[lane] += 1
                expected = starts[lane] + turns[lane] * variable.step & mask
            self.claimed(moment.function.name, variable.value)
            if value != expected:
                detail = f"lane {lane}, turn {turns[lane]}: {value}, not {expected}"
                self.wrong(moment.function, moment.instruction, detail)
            elif variable.trips is not None and turns[lane] >= variable.trips:
                detail = f"lane {lane} is in turn {turns[lane]} of {variable.trips}"
                self.wrong(moment.function, moment.instruction, detail)

    def _left(self, moment: Moment, variable: Variable, loop: Loop) -> None:
        if variable.trips is None:
            return
        turns, _ = self._state(moment, variable)
        for before, came in moment.came.items():
            if moment.flow.block_of[before] in loop:
                for lane in lanes(came):
                    self.claimed(moment.function.name, variable.value, "trips")
                    if turns[lane] + 1 != variable.trips:
                        detail = f"lane {lane} made {turns[lane] + 1} turns, not {variable.trips}"
                        self.wrong(moment.function, moment.instruction, detail)

    def _state(self, moment: Moment, variable: Variable) -> tuple[list[int], list[int]]:
        key = (moment.frame, variable.value)
        return self._turns.setdefault(key, ([0] * 32, [0] * 32))

    def _register(self, function: Function, variable: Variable) -> Register:
        known = self.subject.facts.once(function, values)
        register = known.use.registers[known.all[variable.value].register]
        assert register is not None
        return register
