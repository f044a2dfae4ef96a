"""The module, and what was found wrong with it on the way in."""

from __future__ import annotations

from ..source import Source
from .statements import Function, Statement, Variable


class SyntaxProblem:
    """A place where the text is not PTX. ``skipped`` is the span that was left out, if any."""

    __slots__ = ("end", "expected", "kind", "message", "note", "skipped", "start")

    def __init__(
        self,
        start: int,
        end: int,
        message: str,
        expected: tuple[str, ...] = (),
        kind: str = "syntax",
        note: str | None = None,
        skipped: tuple[int, int] | None = None,
    ) -> None:
        self.start = start
        self.end = end
        self.message = message
        self.expected = expected
        self.kind = kind
        self.note = note
        self.skipped = skipped


class NameProblem:
    """A name that is used without, or declared more than once.

    ``kind`` is ``undeclared``, ``early`` (declared only later, at ``other``), ``hidden`` (a label
    of another brace scope, at ``other``), ``duplicate-variable``,
    ``duplicate-label`` or ``duplicate-function``; ``other`` is the other declaration.
    """

    __slots__ = ("end", "function", "kind", "name", "other", "start", "statement")

    def __init__(
        self,
        kind: str,
        name: str,
        start: int,
        end: int,
        statement: Statement | None,
        other: Statement | None,
        function: Function | None,
    ) -> None:
        self.kind = kind
        self.name = name
        self.start = start
        self.end = end
        self.statement = statement
        self.other = other
        self.function = function


class Module:
    """One PTX text. ``items`` are its statements in order; the rest are views of them.

    ``version`` is (major, minor) or None; ``targets`` are as written (``sm_80``, ``debug``).
    ``parsed`` is ``full``, ``partial`` or ``failed``; ``unanalysed`` are the offsets left out.
    """

    __slots__ = (
        "address_size",
        "files",
        "functions",
        "items",
        "mnemonics",
        "name_problems",
        "parsed",
        "source",
        "syntax_problems",
        "targets",
        "unanalysed",
        "variables",
        "version",
    )

    def __init__(self, source: Source) -> None:
        self.source = source
        self.version: tuple[int, int] | None = None
        self.targets: tuple[str, ...] = ()
        self.address_size: int | None = None
        self.items: list[Statement] = []
        self.functions: list[Function] = []
        self.variables: list[Variable] = []
        self.files: dict[int, str] = {}
        self.mnemonics: set[str] = set()
        self.syntax_problems: list[SyntaxProblem] = []
        self.name_problems: list[NameProblem] = []
        self.parsed = "full"
        self.unanalysed: list[tuple[int, int]] = []

    @property
    def target(self) -> str | None:
        """The GPU target, ``sm_80`` or ``compute_80``; None where the file names none."""
        return next((t for t in self.targets if t.startswith(("sm_", "compute_"))), None)

    @property
    def kernels(self) -> list[Function]:
        """The entries that have a body."""
        return [f for f in self.functions if f.is_kernel and f.body is not None]
