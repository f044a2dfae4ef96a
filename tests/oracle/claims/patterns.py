"""Patterns: how threads differ in a value, what they share, which of them take a branch."""

from __future__ import annotations

from collections.abc import Callable

from ptxlint.analysis.facts import Facts
from ptxlint.analysis.flow.loops import loops
from ptxlint.analysis.flow.ssa import values
from ptxlint.analysis.values.assumed import texts
from ptxlint.analysis.values.pattern import Pattern
from ptxlint.analysis.values.patterns import Patterns, patterns, patterns_in_rows_of_16
from ptxlint.analysis.values.symbols import WARP
from ptxlint.ptx.ir import Address, Function, Register

from .base import LATE, Claim, Moment, Subject, Tally, lanes
from .turns import Turns

Analysis = Callable[[Function, Facts], Patterns | None]
_FIRST = 4
"""Steps of a warp at one place that are looked at; and every sixteenth of those that follow."""


class InRows(Claim):
    """The patterns of one analysis: values read and written, addresses, branches.

    They speak of the schedule in which lanes meet again at post-dominators, and of no other.
    """

    analysis: Analysis

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._turns = Turns(subject)
        self._known: dict[tuple[object, ...], Pattern | None] = {}
        self._shared: dict[tuple[object, ...], int] = {}
        self._times: dict[tuple[object, ...], int] = {}
        self._looks = False

    def _patterns(self, function: Function) -> Patterns | None:
        return self.subject.facts.once(function, type(self).analysis)

    def before(self, moment: Moment) -> None:
        if self.subject.schedule != "reconverge":
            return
        self._turns.arrive(moment)
        key = (moment.warp.index, moment.function, moment.pc)
        times = self._times[key] = self._times.get(key, 0) + 1
        self._looks = times <= _FIRST or not times % 16
        if not self._looks:
            return
        ssa = self.subject.facts.once(moment.function, values)
        for number in ssa.use.reads[moment.pc]:
            guard = number == ssa.use.guards[moment.pc] >> 1
            mask = moment.arriving if guard else moment.active
            self._register(moment, number, mask, False)

    def after(self, moment: Moment) -> None:
        if not self._looks or self.subject.schedule != "reconverge":
            return
        if moment.instruction.opcode.mnemonic in LATE:
            return
        ssa = self.subject.facts.once(moment.function, values)
        for number in ssa.use.writes[moment.pc]:
            self._register(moment, number, moment.active, True)
        if moment.step.addresses is not None and moment.step.space:
            self._address(moment)

    def _register(self, moment: Moment, number: int, mask: int, written: bool) -> None:
        register = self.subject.facts.once(moment.function, values).use.registers[number]
        if register is None or register.variable.vector > 1 or not mask:
            return
        pattern = self._pattern(moment, number, register, written)
        if pattern is None or self.met(pattern.assumed) is False:
            return
        warp = moment.warp
        actual = {
            n: warp.value(register, n) for n in lanes(mask) if not warp.undefined(register, n)
        }
        self._compare(moment, pattern, actual, register.name, written)

    def _pattern(
        self, moment: Moment, number: int, register: Register, written: bool
    ) -> Pattern | None:
        key = (moment.function, moment.pc, number, written)
        if key not in self._known:
            known = self._patterns(moment.function)
            found = None
            if known is not None and written:
                ssa = self.subject.facts.once(moment.function, values)
                value = ssa.written(moment.pc, number)
                found = None if value is None else known.of(value)
            elif known is not None:
                found = known.at(moment.pc, register)
            self._known[key] = found
        return self._known[key]

    def _address(self, moment: Moment) -> None:
        operand = next((o for o in moment.instruction.operands if isinstance(o, Address)), None)
        given = moment.step.addresses
        if operand is None or given is None:
            return
        key = (moment.function, moment.pc, "address")
        if key not in self._known:
            known = self._patterns(moment.function)
            self._known[key] = None if known is None else known.address(moment.pc, operand)
        pattern = self._known[key]
        if pattern is None or self.met(pattern.assumed) is False:
            return
        actual = {n: a for n in lanes(moment.active) if (a := given[n]) is not None}
        self._compare(moment, pattern, actual, f"address ({moment.step.space})", False)

    def _compare(
        self, moment: Moment, pattern: Pattern, actual: dict[int, int], name: str, written: bool
    ) -> None:
        if not actual:
            return
        self.claimed(moment.function.name, moment.pc, name, written)
        rest = self._rest(moment, pattern, actual)
        detail = self._disproved(moment, pattern, rest, name, written)
        if detail is not None:
            sure = self.met(pattern.assumed)
            shown = [hex(v) for v in list(actual.values())[:3]]
            text = f"{name}: {detail}; {pattern!r} and lanes {list(actual)[:3]} hold {shown}"
            if sure is None:
                text += f"; assumes {pattern.assumed}"
            self.wrong(moment.function, moment.instruction, text[:700], sure)

    def _rest(self, moment: Moment, pattern: Pattern, actual: dict[int, int]) -> dict[int, int]:
        """What is left of the values without their exact part, by lane."""
        mask = (1 << pattern.width) - 1
        steps = pattern.vector.values if pattern.vector is not None else None
        rest = {}
        for lane, value in actual.items():
            exact = pattern.const + (steps[self._index(moment, lane)] if steps else 0)
            rest[lane] = (value - exact) & mask
        return rest

    def _index(self, moment: Moment, lane: int) -> int:
        known = self._patterns(moment.function)
        assert known is not None
        return 32 * moment.warp.index + lane if known.space.whole else lane

    def _disproved(
        self, moment: Moment, pattern: Pattern, rest: dict[int, int], name: str, written: bool
    ) -> str | None:
        if pattern.is_exact:
            return "not the exact value" if any(rest.values()) else None
        if pattern.lanes:
            return self._strides(moment, pattern, rest)
        if len(set(rest.values())) > 1:
            return "lanes differ otherwise"
        value = next(iter(rest.values()))
        low = (1 << min(pattern.zeros, pattern.width)) - 1
        if value & low and self.met(texts(pattern.symbols_assumed)):
            return f"the shared part {value:#x} has not {pattern.zeros} zero bits"
        return self._across(moment, pattern, value, (name, written), sum(1 << n for n in rest))

    def _across(
        self, moment: Moment, pattern: Pattern, value: int, place: tuple[object, ...], mask: int
    ) -> str | None:
        """The shared part is the same at the same turn of the loops that change it."""
        if not moment.function.is_kernel:
            return None
        nest = self.subject.facts.once(moment.function, loops)
        around = nest.around(moment.flow.block_of[moment.pc])
        inside = sum(1 << loop.index for loop in around)
        changing = pattern.loops if not pattern.loops & ~inside else inside
        group = moment.warp.index if pattern.scope == WARP else -1
        for turn in self._turns.of(moment, mask):
            kept = tuple(
                t for t, loop in zip(turn, around, strict=True) if changing >> loop.index & 1
            )
            key = (moment.pc, *place, group, kept)
            first = self._shared.setdefault(key, value)
            if first != value:
                return f"the shared part is {value:#x} and was {first:#x} (turn {kept})"
        return None

    def _strides(self, moment: Moment, pattern: Pattern, rest: dict[int, int]) -> str | None:
        """With one stride: differences of lanes are as its factors; with more, lanes whose
        factors are equal are equal."""
        mask = (1 << pattern.width) - 1
        rows = {
            lane: tuple(steps.values[self._index(moment, lane)] for _, steps in pattern.lanes)
            for lane in rest
        }
        first = next(iter(rest))
        pairs = [
            (rest[n] - rest[first], tuple(a - b for a, b in zip(rows[n], rows[first], strict=True)))
            for n in rest
        ]
        if len(pattern.lanes) > 1:
            known: dict[tuple[int, ...], int] = {}
            for difference, factors in pairs:
                if known.setdefault(factors, difference & mask) != difference & mask:
                    return "lanes of equal strides differ"
            return None
        odd = min(pairs, key=lambda p: (p[1][0] & -p[1][0]).bit_length() if p[1][0] else 99)
        for difference, (factor,) in pairs:
            if (difference * odd[1][0] - odd[0] * factor) & mask:
                return "lanes differ otherwise than by the stride"
        return None


class InBlock(InRows):
    """Patterns over the block, or over the warps of rows of 32 threads."""

    kind = "patterns"
    analysis = staticmethod(patterns)


class InRowsOf16(InRows):
    """Patterns over the warps of blocks of 16 threads in x."""

    kind = "patterns in rows of 16"
    analysis = staticmethod(patterns_in_rows_of_16)
