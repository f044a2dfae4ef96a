"""Congruence: each lane's value, and each address, modulo a power of two."""

from __future__ import annotations

from collections.abc import Sequence

from ptxlint.analysis.flow.ssa import GUARDED, PHI, values
from ptxlint.analysis.values.congruence import Congruent, congruence
from ptxlint.ptx.ir import Address, Function

from .base import LATE, Claim, Moment, Subject, Tally, lanes


class Congruence(Claim):
    """Every defined value that is written (or read, where ways meet) has its residue.

    Without a told shape index *j* stands for the threads whose ``%tid.x`` is *j* modulo 32.
    """

    kind = "congruence"

    def __init__(self, subject: Subject, tally: Tally) -> None:
        super().__init__(subject, tally)
        self._known: dict[tuple[Function, int], Congruent] = {}
        self._addresses: dict[tuple[Function, int], Congruent] = {}

    def before(self, moment: Moment) -> None:
        ssa = self.subject.facts.once(moment.function, values)
        pc = moment.pc
        for register, value in zip(ssa.use.reads[pc], ssa.reads[pc], strict=False):
            if ssa.all[value].kind in (PHI, GUARDED):
                self._value(moment, register, value)

    def after(self, moment: Moment) -> None:
        ssa = self.subject.facts.once(moment.function, values)
        pc = moment.pc
        if moment.instruction.opcode.mnemonic not in LATE:
            for register, value in zip(ssa.use.writes[pc], ssa.writes[pc], strict=False):
                self._value(moment, register, value)
        if moment.step.addresses is not None:
            self._address(moment)

    def _value(self, moment: Moment, register: int, value: int) -> None:
        facts, function = self.subject.facts, moment.function
        known = self._known.get((function, value))
        if known is None:
            known = self._known[function, value] = facts.once(function, congruence).of(value)
        ssa = facts.once(function, values)
        named = ssa.use.registers[register]
        met = self.met(known.assumptions)
        if not known.bits or named is None or named.variable.vector > 1 or met is False:
            return
        self.claimed(function.name, moment.pc, register)
        actual = [(lane, moment.warp.value(named, lane)) for lane in lanes(moment.active)]
        actual = [(n, v) for n, v in actual if not moment.warp.undefined(named, n)]
        self._compare(moment, known, actual, named.name)

    def _address(self, moment: Moment) -> None:
        operand = next((o for o in moment.instruction.operands if isinstance(o, Address)), None)
        if operand is None:
            return
        key = (moment.function, moment.pc)
        known = self._addresses.get(key)
        if known is None:
            found = self.subject.facts.once(moment.function, congruence)
            known = self._addresses[key] = found.address(moment.pc, operand)
        if not known.bits or self.met(known.assumptions) is False:
            return
        self.claimed(moment.function.name, moment.pc, "address")
        given = moment.step.addresses or []
        actual = [(n, a) for n in lanes(moment.active) if (a := given[n]) is not None]
        self._compare(moment, known, actual, "the address")

    def _compare(
        self, moment: Moment, known: Congruent, actual: Sequence[tuple[int, int]], name: str
    ) -> None:
        mask = (1 << min(known.bits, 64)) - 1
        residues = known.residues
        for lane, value in actual:
            expected = (
                residues if isinstance(residues, int) else residues[self._index(moment, lane)]
            )
            if (value ^ expected) & mask:
                detail = (
                    f"{name} is {value:#x} in lane {lane} of warp {moment.warp.index}, "
                    f"held {expected & mask:#x} modulo 2^{known.bits}"
                )
                self.wrong(moment.function, moment.instruction, detail)
                return

    def _index(self, moment: Moment, lane: int) -> int:
        x, y, z = moment.warp.thread(lane)
        if self.subject.facts.once(moment.function, congruence).threads.coordinates is None:
            return x % 32
        across, down, _ = self.subject.block
        return x + across * (y + down * z)
