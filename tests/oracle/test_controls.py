"""The study can fail: each kind of claim, made wrong in one place, is contradicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ptxlint.analysis.dataflow.undefined import undefined_uses
from ptxlint.analysis.flow.graph import control_flow
from ptxlint.analysis.flow.registers import register_use
from ptxlint.analysis.memory.accesses import accesses
from ptxlint.analysis.memory.bases import Pointer
from ptxlint.analysis.values.congruence import Congruent
from ptxlint.analysis.values.pattern import Pattern
from ptxlint.analysis.values.uniformity import CTA_UNIFORM, WARP_UNIFORM
from ptxlint.analysis.values.vectors import Vector
from ptxlint.ptx import parse

from .claims import dataflow, execution, flow, induction, memory, patterns, uniformity
from .claims.base import Claim
from .claims.congruence import Congruence
from .study import Report, Study

KERNELS = Path(__file__).parent / "kernels"


def study(kind: type[Claim], file: str, name: str) -> Report:
    """A few launches of one kernel of ours, with claims of one kind."""
    module = parse((KERNELS / file).read_text(encoding="utf-8"))
    kernel = next(k for k in module.kernels if k.name == name)
    return Study(module, launches=4, of_flow=(), of_shape=(kind,)).kernel(kernel)


class LostEdge(flow.Edges):
    """The first block leads nowhere."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        graph = self.subject.facts.once(self.subject.kernel, control_flow)
        graph.blocks[0].successors = ()


class EarlyDeath(flow.Liveness):
    """A register is dead as soon as it is written."""

    def before(self, moment: Any) -> None:
        super().before(moment)
        use = self.subject.facts.once(moment.function, register_use)
        self._dying[moment.function].after[moment.pc] = use.writes[moment.pc]


class OneWriterLess(flow.Reaching):
    """The last of the definitions behind a value is left out."""

    def before(self, moment: Any) -> None:
        super().before(moment)
        self._behind = {k: v - {max(v)} if len(v) > 1 else v for k, v in self._behind.items()}


class SilentWrite(flow.Writes):
    """One instruction is not said to write anything."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        use = self.subject.facts.once(self.subject.kernel, register_use)
        use.writes[3] = ()


class AllUndefined(dataflow.Undefined):
    """The first store is held to store an undefined value."""

    def before(self, moment: Any) -> None:
        super().before(moment)
        first = next(
            i for i, each in enumerate(moment.function.instructions) if each.opcode.mnemonic == "st"
        )
        self._reported[moment.function].add(first)


class FourBytesOn(memory.Accesses):
    """Every access with a known place is held to be four bytes further on."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        for each in self.subject.facts.once(self.subject.kernel, accesses):
            pointer = Pointer(each.base, each.anchor, each.displacement + 4, each.form)
            each.place(each.space, pointer)


class OtherSpace(memory.Accesses):
    """Everything global is held to be shared."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        for each in self.subject.facts.once(self.subject.kernel, accesses):
            if each.space == "global":
                each.effect = each.effect._replace(space="shared")


class OneBitMore(Congruence):
    """Every residue is held to be known one bit further."""

    def _compare(self, moment: Any, known: Congruent, *rest: Any) -> None:
        super()._compare(moment, known._replace(bits=known.bits + 1), *rest)


class AllUniform(uniformity.Uniformity):
    """Every value is uniform."""

    def _level(self, *given: Any) -> tuple[int, bool | None]:
        return CTA_UNIFORM, True


class AllUniformInWarps(uniformity.Uniformity):
    """Every value is uniform in its warp."""

    def _level(self, *given: Any) -> tuple[int, bool | None]:
        return WARP_UNIFORM, True


class EveryBlockTogether(uniformity.Blocks):
    """Every block is reached by all threads."""

    def level(self, block: int) -> tuple[int, bool | None]:
        return CTA_UNIFORM, True


class Lane7(patterns.InBlock):
    """Thread 7 is four bytes further on."""

    def _pattern(self, *given: Any) -> Pattern | None:
        return shifted(super()._pattern(*given))


class Lane7InRows(patterns.InRowsOf16):
    """The same in rows of 16."""

    def _pattern(self, *given: Any) -> Pattern | None:
        return shifted(super()._pattern(*given))


def shifted(pattern: Pattern | None) -> Pattern | None:
    """The pattern with thread 7 moved by 4."""
    if pattern is None or pattern.vector is None:
        return pattern
    steps = list(pattern.vector.values)
    steps[7] += 4
    return Pattern(
        pattern.width,
        pattern.terms,
        pattern.lanes,
        pattern.const,
        Vector(tuple(steps)),
        pattern.assumptions,
    )


class Lane3Stays(execution.Executing):
    """Thread 3 is held to execute what it does not, and the other way round."""

    def claim(self, place: tuple[int, ...]) -> Any:
        found = super().claim(place)
        return None if found is None else found._replace(bits=found.bits ^ 8)


class Lane3OtherWay(execution.Edges):
    """Thread 3 takes the other way at every branch."""

    def claim(self, place: tuple[int, ...]) -> Any:
        found = super().claim(place)
        return None if found is None else found._replace(bits=found.bits ^ 8)


class LongerStep(induction.Induction):
    """Every induction variable goes one further at each turn."""

    def _turn(self, moment: Any, variable: Any) -> None:
        variable.step += 1
        super()._turn(moment, variable)
        variable.step -= 1


class OneTripLess(induction.Induction):
    """Every counted loop runs once less."""

    def _turn(self, moment: Any, variable: Any) -> None:
        variable.trips = variable.trips and variable.trips - 1
        super()._turn(moment, variable)
        variable.trips = variable.trips and variable.trips + 1


CONTROLS = [
    (LostEdge, "branches.ptx", "diamond"),
    (EarlyDeath, "arithmetic.ptx", "linear"),
    (OneWriterLess, "branches.ptx", "guarded_definition"),
    (SilentWrite, "arithmetic.ptx", "linear"),
    (AllUndefined, "arithmetic.ptx", "linear"),
    (FourBytesOn, "memory.ptx", "atomics"),
    (OtherSpace, "memory.ptx", "transpose"),
    (OneBitMore, "arithmetic.ptx", "low_bits_only"),
    (AllUniform, "arithmetic.ptx", "linear"),
    (AllUniform, "arithmetic.ptx", "lane_and_warp"),
    (AllUniformInWarps, "loops.ptx", "lane_trip_count"),
    (EveryBlockTogether, "branches.ptx", "diamond"),
    (EveryBlockTogether, "loops.ptx", "grid_stride"),
    (Lane7, "arithmetic.ptx", "linear"),
    (Lane7, "arithmetic.ptx", "row_stride"),
    (Lane7InRows, "shapes.ptx", "two_dimensions"),
    (Lane3Stays, "branches.ptx", "sub_warp"),
    (Lane3OtherWay, "branches.ptx", "sub_warp"),
    (LongerStep, "loops.ptx", "nested"),
    (OneTripLess, "loops.ptx", "downward"),
]


@pytest.mark.parametrize(
    ("kind", "file", "name"), CONTROLS, ids=[f"{kind.__name__}-{n}" for kind, _, n in CONTROLS]
)
def test_a_wrong_claim_is_contradicted(kind: type[Claim], file: str, name: str) -> None:
    assert study(kind, file, name).contradictions
    assert not study(kind.__bases__[0], file, name).contradictions


def test_garbage_in_a_live_register_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not study(dataflow.Dead, "arithmetic.ptx", "linear").contradictions
    honest = dataflow.Garbage._of

    def wrong(self: Any, function: Any) -> flow.Dying:
        dying = honest(self, function)
        dying.after[2] = register_use(function, self._subject.facts).writes[2]
        return dying

    monkeypatch.setattr(dataflow.Garbage, "_of", wrong)
    assert study(dataflow.Dead, "arithmetic.ptx", "linear").contradictions


def test_an_undefined_value_is_reported_where_it_is_read() -> None:
    """The kernel that the claim rests on has such a report at all."""
    module = parse((KERNELS / "widening.ptx").read_text(encoding="utf-8"))
    kernel = next(k for k in module.kernels if k.name == "never_written")
    facts = Study(module).facts(None)
    assert undefined_uses(kernel, facts)
    assert (
        study(dataflow.Undefined, "widening.ptx", "never_written")
        .tallies["undefined values"]
        .claims
    )
