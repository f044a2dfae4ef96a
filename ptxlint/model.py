"""What every room speaks of: places in a text, findings, rules. Imports nothing of ours.

Lines and columns count from 1, the end of a span is exclusive (as editors and SARIF count).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple


class Severity(str, Enum):
    """How bad a finding is. An ``error`` is never a false alarm."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for info, 1 for warning, 2 for error: for comparisons."""
        return ("info", "warning", "error").index(self.value)


class Confidence(str, Enum):
    """How sure a finding is: ``high`` where it is decided, lower where it rests on a guess."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Position(NamedTuple):
    """A place in a text: line and column, both from 1."""

    line: int
    column: int


class Span(NamedTuple):
    """From ``start`` up to, not including, ``end``."""

    start: Position
    end: Position


class SourceLine(NamedTuple):
    """A line of the language that the PTX was made from (``.loc``): CUDA, Triton, Numba."""

    file: str
    line: int
    column: int


class Label(NamedTuple):
    """Another place that matters to a finding, and what it has to do with it."""

    span: Span
    message: str


class Edit(NamedTuple):
    """Replace the text of ``span`` by ``text``."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that mend a finding; ``safe`` when they can't change what right code does."""

    message: str
    edits: tuple[Edit, ...]
    safe: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing found: what, where, why, what to do.

    A rule fills in what it knows; the engine adds ``kernel``, ``source`` and ``suppressed``.
    ``message`` is one line that quotes the register or instruction; ``notes`` say why, with
    numbers; ``help`` says what to do; ``assumptions`` is what the finding rests on.
    """

    code: str
    name: str
    severity: Severity
    confidence: Confidence
    message: str
    span: Span
    kernel: str | None = None
    kernel_demangled: str | None = None
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    fix: Fix | None = None
    assumptions: tuple[str, ...] = ()
    witness: dict[str, Any] | None = None
    data: dict[str, Any] = field(default_factory=dict)
    source: tuple[SourceLine, ...] = ()
    fingerprint: str = ""
    suppressed: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """What a rule is: its code and name (stable once shipped) and how it speaks.

    ``mnemonics`` is the rule's trigger: its module is loaded only for a file that holds one of
    these instructions; empty means always. ``screen`` is a quick look at a function, named as
    ``module:function`` below ``ptxlint.analysis``: where its result is empty there is nothing to
    find, and the rule is not loaded, nor what it builds on. ``default`` is whether it runs without
    ``--preview``.
    """

    code: str
    name: str
    category: str
    severity: Severity
    summary: str
    confidence: Confidence = Confidence.HIGH
    default: bool = True
    mnemonics: frozenset[str] = frozenset()
    screen: str = ""

    def finding(self, message: str, span: Span, **more: Any) -> Finding:
        """A finding of this rule at its usual severity and confidence, unless ``more`` says."""
        more.setdefault("severity", self.severity)
        more.setdefault("confidence", self.confidence)
        return Finding(code=self.code, name=self.name, message=message, span=span, **more)


@dataclass(slots=True)
class FileReport:
    """What came of one file (or one image inside a container, then ``member`` names it).

    ``parsed`` is ``full``, ``partial`` (``unanalysed`` holds the spans left out) or ``failed``;
    ``lines`` are the text's lines, for quoting.
    """

    path: str
    parsed: str
    findings: list[Finding]
    kernels: list[str]
    member: str | None = None
    unanalysed: list[Span] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Path and member: ``libfoo.so!3.sm_80.ptx``."""
        return self.path if self.member is None else f"{self.path}!{self.member}"
