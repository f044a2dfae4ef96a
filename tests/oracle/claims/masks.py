"""Warp operations: who takes part, by which mask, whose values are read, and where those go."""

from __future__ import annotations

from collections.abc import Iterator

from ptxlint.analysis.masks.absence import ELSEWHERE, GONE, Absence, Absences
from ptxlint.analysis.masks.faults import UNREAD, MaskFault, mask_faults
from ptxlint.analysis.masks.operations import FULL, WarpOperation, needed_operands
from ptxlint.analysis.masks.participants import Participants, Warp, participants
from ptxlint.analysis.values.assumed import texts
from ptxlint.execute import Result
from ptxlint.isa.effects import effect
from ptxlint.ptx.ir import Instruction, Integer, Operand, Pair, Register

from .base import Claim, Moment, Subject, Tally, lanes


class OfWarps(Claim):
    """Claims about the kernel's own operations, in the schedule where lanes meet again."""

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        takes = needed_operands(subject.kernel, subject.facts)
        self.operations = {
            at: WarpOperation(at, each, each.operands[-1])
            for at, each in enumerate(subject.kernel.instructions)
            if takes.get(each.opcode) == len(each.operands)
        }

    def spoken(self, moment: Moment) -> bool:
        """Whether the claims speak of this step."""
        return moment.function is self.subject.kernel and self.subject.schedule == "reconverge"


class Members(OfWarps):
    """The lanes that execute an operation, their masks, and the lanes that they read.

    Named lanes that are not there: those held to be gone have exited; those held to be elsewhere
    came to the branch that is said to part them, and never to the operation.
    """

    kind = "members of masks"

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._known: dict[int, Participants | None] = {}
        self._absences: dict[tuple[int, int], Absence] = {}
        self._values: dict[int, list[int]] = {}
        self._came: dict[tuple[int, int], int] = {}
        self._elsewhere: list[tuple[Moment, int, Absence, bool | None]] = []

    def participants(self, at: int) -> Participants | None:
        """What is known of an operation."""
        if at not in self._known:
            self._known[at] = participants(
                self.subject.kernel, self.subject.facts, self.operations[at]
            )
        return self._known[at]

    def before(self, moment: Moment) -> None:
        if not self.spoken(moment):
            return
        place = (moment.pc, moment.warp.index)
        self._came[place] = self._came.get(place, 0) | moment.arriving
        found = self._warp(moment)
        if found is None:
            return
        among, warp, met = found
        self.claimed(moment.function.name, moment.pc)
        there = moment.active & ~self._missing(warp.there)
        if among.sure and there != warp.executing & self._existing(moment):
            detail = f"lanes {there:x} take part, held to be {warp.executing:x}"
            self.wrong(moment.function, moment.instruction, detail, met)
        self._masks(moment, warp, met)
        if warp.sources:
            self._values[id(moment)] = _values(moment, moment.instruction.operands[1])
        if among.sure:
            self._absent(moment, among, warp, met)

    @staticmethod
    def _missing(there: int) -> int:
        return ~there & FULL

    def _existing(self, moment: Moment) -> int:
        x, y, z = self.subject.block
        return (1 << x * y * z) - 1 >> 32 * moment.warp.index & FULL

    def _warp(self, moment: Moment) -> tuple[Participants, Warp, bool | None] | None:
        if moment.pc not in self.operations or not moment.active:
            return None
        among = self.participants(moment.pc)
        if among is None:
            return None
        met = self.met(texts(among.assumptions))
        number = moment.warp.index if among.known.space.whole else 0
        warp = next((w for w in among.warps if w.number == number), None)
        return None if warp is None or met is False else (among, warp, met)

    def _masks(self, moment: Moment, warp: Warp, met: bool | None) -> None:
        actual = _values(moment, moment.instruction.operands[-1])
        for lane in lanes(moment.active):
            if lane in warp.masks and warp.masks[lane] & FULL != actual[lane] & FULL:
                detail = f"lane {lane} has mask {actual[lane]:x}, held to be {warp.masks[lane]:x}"
                self.wrong(moment.function, moment.instruction, detail, met)

    def _absent(self, moment: Moment, among: Participants, warp: Warp, met: bool | None) -> None:
        absences = Absences(self.subject.kernel, self.subject.facts, among.known)
        for lane in lanes(warp.named & self._existing(moment) & ~warp.executing):
            thread = 32 * warp.number + lane
            key = (moment.pc, thread)
            if key not in self._absences:
                self._absences[key] = absences.of(among.operation, thread)
            absence = self._absences[key]
            if absence.what == GONE and moment.warp.live >> lane & 1:
                detail = f"lane {lane} is alive, held to have left"
                self.wrong(moment.function, moment.instruction, detail, met)
            elif absence.what == ELSEWHERE:
                self._elsewhere.append((moment, lane, absence, met))

    def after(self, moment: Moment) -> None:
        values = self._values.pop(id(moment), None)
        found = self._warp(moment) if values is not None else None
        if values is None or found is None:
            return
        _, warp, met = found
        target = moment.instruction.operands[0]
        results = _values(moment, target.first if isinstance(target, Pair) else target)
        for lane in lanes(moment.active):
            source = warp.sources.get(lane, lane)
            if moment.active >> source & 1 and results[lane] != values[source]:
                detail = f"lane {lane} got {results[lane]:x}, not that of lane {source}"
                self.wrong(moment.function, moment.instruction, detail, met)

    def finish(self, result: Result) -> None:
        for moment, lane, absence, met in self._elsewhere:
            at = moment.pc if absence.branch is None else absence.branch
            passed = self._came.get((at, moment.warp.index), 0) >> lane & 1
            if not passed:
                detail = f"lane {lane} never came to where it is held to part from the others"
                self.wrong(moment.function, moment.instruction, detail, met)


class Unread(OfWarps):
    """What a lane reads from one that is not there is undefined where it is said to be used."""

    kind = "values of absent lanes"

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._faults = [f for f in self.faults() if f.kind == UNREAD]
        self._executed: dict[tuple[int, int], Moment] = {}
        self._used: dict[int, set[int]] = {}
        self._undefined: set[tuple[int, int]] = set()

    def faults(self) -> list[MaskFault]:
        """The faults that the analysis finds."""
        return self.subject.facts.once(self.subject.kernel, mask_faults)

    def before(self, moment: Moment) -> None:
        if not self.spoken(moment):
            return
        for number, fault in enumerate(self._faults):
            if moment.pc == fault.operation.at and moment.active:
                self._executed[number, moment.warp.index] = moment
            if moment.pc == fault.use and (number, moment.warp.index) in self._executed:
                self._used.setdefault(number, set()).add(moment.warp.index)
                if any(
                    moment.warp.undefined(register, lane)
                    for register in _registers(_read(moment.instruction))
                    for lane in lanes(moment.active)
                ):
                    self._undefined.add((number, moment.warp.index))

    def finish(self, result: Result) -> None:
        for number, warps in self._used.items():
            fault = self._faults[number]
            met = self.met(fault.assumptions)
            if met is False or fault.warp not in warps:
                continue
            self.claimed(self.subject.kernel.name, fault.operation.at)
            if (number, fault.warp) not in self._undefined:
                moment = self._executed[number, fault.warp]
                detail = f"instruction {fault.use} uses nothing undefined"
                self.wrong(moment.function, moment.instruction, detail, met)


def _values(moment: Moment, operand: Operand) -> list[int]:
    """An operand of the step in all lanes."""
    if isinstance(operand, Register):
        return moment.warp.registers(operand)
    return [operand.value if isinstance(operand, Integer) else 0] * 32


def _read(instruction: Instruction) -> tuple[Operand, ...]:
    """The operands that are not written."""
    opcode = instruction.opcode
    return instruction.operands[effect(opcode.mnemonic, opcode.modifiers).results :]


def _registers(operands: tuple[Operand, ...]) -> Iterator[Register]:
    for operand in operands:
        if isinstance(operand, Register):
            yield operand
        else:
            yield from _registers(operand.children())
