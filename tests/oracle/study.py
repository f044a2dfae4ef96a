"""One kernel, several launches, every claim: what was checked and what was contradicted."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ptxlint.analysis.facts import Facts
from ptxlint.engine.options import Options
from ptxlint.execute import Launch, Observer, Result, Step, Unsupported, run
from ptxlint.execute.code import Code
from ptxlint.execute.layout import Layout
from ptxlint.execute.lower import lower
from ptxlint.ptx.ir import Function, Module

from .claims.base import Claim, Moment, Places, Subject, Tally
from .claims.congruence import Congruence
from .claims.dataflow import Dead, Garbage, Undefined
from .claims.execution import Edges as EdgeLanes
from .claims.execution import Executing
from .claims.flow import Edges, Liveness, Reaching, Writes
from .claims.induction import Induction
from .claims.masks import Members, Unread
from .claims.memory import Accesses
from .claims.patterns import InBlock, InRowsOf16
from .claims.uniformity import Blocks, Uniformity
from .launches import Plan, launch, plans, pointers

OF_FLOW: tuple[type[Claim], ...] = (
    Edges,
    Liveness,
    Reaching,
    Writes,
    Undefined,
    Accesses,
    Dead,
    Induction,
)
OF_SHAPE: tuple[type[Claim], ...] = (
    Congruence,
    Uniformity,
    Blocks,
    InBlock,
    InRowsOf16,
    Executing,
    EdgeLanes,
    Members,
    Unread,
)
"""Claims that may depend on the block's shape: checked with it told and without."""


def meanings(module: Module, kernel: Function) -> list[str]:
    """Of each instruction, what the interpreter makes of it: supported, opaque (its results are
    arbitrary, but defined) or unsupported."""
    try:
        layout = Layout(module, kernel, Launch())
    except Unsupported:
        return ["unsupported"] * len(kernel.instructions)
    code = Code(kernel, layout)
    details = [lower(code, layout, pc).detail for pc in range(len(kernel.instructions))]
    return [d if d in ("opaque", "unsupported") else "supported" for d in map(str, details)]


class OutOfTime(Exception):
    """The kernel's share of time is used up."""


@dataclass
class Report:
    """What the study found out about one kernel."""

    name: str
    instructions: int
    launches: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    steps: int = 0
    lacking: Counter[str] = field(default_factory=Counter)
    arbitrary: Counter[str] = field(default_factory=Counter)
    executed: set[int] = field(default_factory=set)
    supported: int = 0
    opaque: int = 0
    faults: list[str] = field(default_factory=list)
    tallies: dict[str, Tally] = field(default_factory=dict)

    @property
    def contradictions(self) -> int:
        """All of them, those that were only counted included."""
        return sum(tally.wrong for tally in self.tallies.values())


class Watch(Observer):
    """Hands each step to the claims."""

    def __init__(self, claims: Sequence[Claim], facts: Facts, report: Report, until: float) -> None:
        self._claims = claims
        self._places = Places(facts)
        self._report = report
        self._until = until
        self._open: dict[Step, Moment] = {}
        self._count = 0

    def before(self, step: Step) -> None:
        self._count += 1
        if not self._count & 255 and time.process_time() > self._until:
            raise OutOfTime
        self._open[step] = moment = self._places.moment(step)
        if step.function.name == self._report.name:
            self._report.executed.add(step.pc)
        for claim in self._claims:
            claim.before(moment)

    def after(self, step: Step) -> None:
        # Of a barrier, other steps later, and for each group of lanes that met there.
        moment = self._open.pop(step, None)
        if moment is not None:
            for claim in self._claims:
                claim.after(moment)


class Study:
    """The facts of one module, computed once for each block shape, and the claims over them."""

    def __init__(
        self,
        module: Module,
        *,
        launches: int = 6,
        max_steps: int = 3000,
        seconds: float = 20.0,
        of_flow: Sequence[type[Claim]] = OF_FLOW,
        of_shape: Sequence[type[Claim]] = OF_SHAPE,
    ) -> None:
        self.module = module
        self.launches = launches
        self.max_steps = max_steps
        self.seconds = seconds
        self.of_flow = of_flow
        self.of_shape = of_shape
        self._facts: dict[tuple[int, int, int] | None, Facts] = {}

    def facts(self, block: tuple[int, int, int] | None) -> Facts:
        """The module's facts where that block is told, or none."""
        if block not in self._facts:
            self._facts[block] = Facts(self.module, Options(block=block))
        return self._facts[block]

    def kernel(self, kernel: Function) -> Report:
        """All launches of one kernel, within its seconds of processor time."""
        report = Report(kernel.name, len(kernel.instructions))
        meant = Counter(meanings(self.module, kernel))
        report.supported, report.opaque = meant["supported"], meant["opaque"]
        until = time.process_time() + self.seconds
        for plan in plans(kernel, self.launches):
            try:
                result = self._run(kernel, plan, report, until)
                if result.fault is not None and result.fault.kind in ("bounds", "misaligned"):
                    result = self._run(kernel, replace(plan, tame=True), report, until)
            except OutOfTime:
                report.statuses["time"] += 1
                report.launches += 1
                break
            report.statuses[result.status] += 1
            if result.fault is not None:
                report.faults.append(str(result.fault))
            report.launches += 1
        return report

    def _run(self, kernel: Function, plan: Plan, report: Report, until: float) -> Result:
        claims = self._claims(kernel, plan, report)
        watch = Watch(claims, self.facts(None), report, until)
        result = run(self.module, kernel, launch(kernel, plan, self.max_steps), watch)
        for claim in claims:
            claim.finish(result)
        for claim in claims:
            if isinstance(claim, Dead):
                self._spoil(kernel, plan, claim, result)
        report.steps += result.steps
        report.lacking.update(result.unsupported)
        report.arbitrary.update(result.opaque)
        return result

    def _spoil(self, kernel: Function, plan: Plan, claim: Dead, plain: Result) -> None:
        """The same run once more, with garbage in what is held dead."""
        garbage = Garbage(claim.subject, plan.seed)
        spoilt = run(self.module, kernel, launch(kernel, plan, self.max_steps), garbage)
        claim.compare(plain, spoilt, garbage)

    def _claims(self, kernel: Function, plan: Plan, report: Report) -> list[Claim]:
        subject = Subject(
            self.module,
            kernel,
            self.facts(None),
            str(plan),
            plan.block,
            plan.schedule,
            pointers(kernel),
        )
        told = replace(subject, facts=self.facts(plan.block), launch=f"{plan} told")
        pairs = [(kind, subject) for kind in (*self.of_flow, *self.of_shape)]
        pairs += [(kind, told) for kind in self.of_shape]
        return [kind(each, report.tallies.setdefault(kind.kind, Tally())) for kind, each in pairs]
