"""What the claims share: their subject, the moments of a run, the record of contradictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ptxlint.analysis.facts import Facts
from ptxlint.analysis.flow.graph import ControlFlow, control_flow
from ptxlint.execute import Result, Step
from ptxlint.execute.storage import Storage
from ptxlint.ptx.ir import Function, Instruction, Module

_KEPT = 4
"""Places of one kind and run whose contradictions are written out; the rest are counted."""
ALL_LANES = (1 << 32) - 1
LATE = frozenset({"call", "bar", "barrier"})
"""Their results are not there yet after the step."""


@dataclass(frozen=True)
class Contradiction:
    """A claim that an execution disproves."""

    kind: str
    kernel: str
    function: str
    line: int
    instruction: str
    launch: str
    detail: str

    def __str__(self) -> str:
        return (
            f"{self.kind}: {self.kernel[:60]} line {self.line} `{self.instruction[:100]}` "
            f"({self.launch}): {self.detail}"
        )


@dataclass
class Tally:
    """Counts over any number of runs: ``claims`` are distinct, ``checks`` are comparisons.

    ``assumed`` are contradictions to claims that say what they assume, where the launch can't
    tell whether that held.
    """

    claims: set[tuple[object, ...]] = field(default_factory=set)
    checks: int = 0
    wrong: int = 0
    contradictions: list[Contradiction] = field(default_factory=list)
    assumed: int = 0
    examples: list[Contradiction] = field(default_factory=list)


@dataclass
class Subject:
    """A kernel in one launch, with the facts that were computed for its block or for none.

    ``buffers`` are the parameters (``name``, ``name+8``) that hold 256-byte aligned pointers.
    """

    module: Module
    kernel: Function
    facts: Facts
    launch: str
    block: tuple[int, int, int]
    schedule: str = "reconverge"
    buffers: frozenset[str] = frozenset()

    def met(self, assumption: str) -> bool | None:
        """Whether an assumption holds in this launch; None where that can't be told."""
        x, y, z = self.block
        if assumption == "the block is one-dimensional":
            return y == z == 1
        if assumption == "blockDim.x is a multiple of 32":
            return x % 32 == 0
        if assumption == "blockDim.x is 16":
            return x == 16
        if assumption.startswith("the block is "):
            return f" {x}x{y}x{z} threads" in assumption
        if assumption.startswith(("the lanes of a warp", "lanes of a warp")):
            return self.schedule == "reconverge"
        if "is 256-byte aligned" in assumption or "as its .ptr .align says" in assumption:
            return assumption.split("`")[1] in self.buffers
        if "as declared here" in assumption:
            return True
        return None


class Moment:
    """A step, and where its lanes come from.

    ``frame`` names the call; ``entering`` are the lanes that begin it here; ``came`` has the
    others by the instruction that each of them executed before in this call.
    """

    __slots__ = (
        "active", "arriving", "came", "entering", "flow", "frame", "function", "instruction",
        "pc", "step", "warp",
    )  # fmt: skip

    def __init__(self, step: Step, flow: ControlFlow, last: list[int]) -> None:
        self.step = step
        self.flow = flow
        self.function = step.function
        self.pc = pc = step.pc
        self.instruction = step.instruction
        self.arriving = step.arriving
        self.active = step.active
        self.warp = step.warp
        assert step.warp.storage is not None
        self.frame: Storage = step.warp.storage
        self.entering = 0
        self.came: dict[int, int] = {}
        for lane in lanes(step.arriving):
            before = last[lane]
            last[lane] = pc
            if before < 0 or (pc == 0 and flow.blocks[flow.block_of[before]].leaves):
                self.entering |= 1 << lane
            else:
                self.came[before] = self.came.get(before, 0) | 1 << lane


class Places:
    """Where each lane is in each call of a run."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._last: dict[object, list[int]] = {}

    def moment(self, step: Step) -> Moment:
        """The moment of a step that is about to be executed."""
        flow = self._facts.once(step.function, control_flow)
        last = self._last.setdefault(step.warp.storage, [-1] * 32)
        moment = Moment(step, flow, last)
        if step.instruction.opcode.mnemonic == "ret":
            for lane in lanes(step.active):
                last[lane] = -1
        return moment


class Claim:
    """One kind of claim about one kernel, checked while it runs."""

    kind = ""

    def __init__(self, subject: Subject, tally: Tally) -> None:
        self.subject = subject
        self.tally = tally
        self._seen: set[tuple[object, ...]] = set()
        self._met: dict[tuple[str, ...], bool | None] = {}

    def before(self, moment: Moment) -> None:
        """Before a warp executes an instruction."""

    def after(self, moment: Moment) -> None:
        """After it."""

    def finish(self, result: Result) -> None:
        """At the end of the run."""

    def met(self, assumptions: tuple[str, ...]) -> bool | None:
        """Whether all hold here: False if one does not, None if one can't be told."""
        if assumptions not in self._met:
            answers = [self.subject.met(text) for text in assumptions]
            known: bool | None = None if None in answers else True
            self._met[assumptions] = False if False in answers else known
        return self._met[assumptions]

    def claimed(self, *place: object) -> None:
        """One comparison of the claim that ``place`` names."""
        self.tally.claims.add((self.subject.kernel.name, *place))
        self.tally.checks += 1

    def wrong(
        self, function: Function, instruction: Instruction, detail: str, sure: bool | None = True
    ) -> None:
        """The execution disproves a claim at an instruction; ``sure`` is what ``met`` said."""
        tally = self.tally
        if sure:
            tally.wrong += 1
        else:
            tally.assumed += 1
        place = (function.name, instruction.start, sure)
        if place in self._seen or len(self._seen) >= _KEPT:
            return
        self._seen.add(place)
        source = self.subject.module.source
        text = " ".join(source.text[instruction.start : instruction.end].split())
        (tally.contradictions if sure else tally.examples).append(
            Contradiction(
                self.kind,
                self.subject.kernel.name,
                function.name,
                source.line_of(instruction.start),
                text,
                self.subject.launch,
                detail,
            )
        )


def lanes(mask: int) -> Iterator[int]:
    """The members of a mask, lowest first."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def grouped(values: Mapping[int, object]) -> str:
    """``{lane: value}`` in few words."""
    shown = ", ".join(f"{lane}: {value}" for lane, value in list(values.items())[:4])
    return shown + (" …" if len(values) > 4 else "")
