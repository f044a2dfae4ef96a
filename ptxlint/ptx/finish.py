"""What is known only at the end of a text: required directives, names in line information.

Apart from ``recovery``, whose patterns a right file never needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .grammar import SyntaxFault
from .ir import Function, Section
from .names import report_pending_initialisers
from .sections import bind_symbols

if TYPE_CHECKING:
    from .parser import Parser


def finish(parser: Parser) -> None:
    """What is known only at the end: required directives, line information's names, the state."""
    module, builder = parser.module, parser.builder
    if parser.unclosed is not None:
        at = parser.unclosed
        _report(parser, SyntaxFault(at, at + 2, "a '/*' that nothing ends", ("'*/'",)))
    _required(parser)
    bind_symbols(builder)
    pending = builder.module_scope.pending
    if pending:
        report_pending_initialisers(module, pending)
    module.syntax_problems.sort(key=lambda problem: problem.start)
    module.unanalysed += [p.skipped for p in module.syntax_problems if p.skipped]
    module.unanalysed.sort()
    if module.syntax_problems:
        read = any(isinstance(i, Function) for i in module.items) or module.version
        module.parsed = "partial" if read else "failed"


def _required(parser: Parser) -> None:
    """``.version`` comes first and ``.target`` second, each once but for ``.target``'s list."""
    module = parser.module
    items = [item for item in module.items if getattr(item, "name", "") != "pragma"]
    names = [getattr(item, "name", "") for item in items[:2]]
    first = len(parser.text) - len(parser.text.lstrip())
    if not names or names[0] != "version":
        if not any(p.start <= first for p in module.syntax_problems):
            fault = SyntaxFault(first, first, "no .version at the start of the file")
            _report(parser, fault, note="PTX begins with .version, .target and .address_size")
    elif len(names) < 2 or names[1] != "target":
        at = items[1].start if len(items) > 1 else len(parser.text)
        if not any(p.start <= at for p in module.syntax_problems):
            _report(parser, SyntaxFault(at, at, "no .target after .version"))
    seen: dict[str, int] = {}
    for item in items:
        name = getattr(item, "name", "")
        if name in ("version", "target", "address_size") and not isinstance(
            item, (Function, Section)
        ):
            if name in seen:
                line = module.source.line_of(seen[name])
                fault = SyntaxFault(item.start, item.end, f"a second .{name}")
                _report(parser, fault, note=f"the first is at line {line}")
            seen.setdefault(name, item.start)


def _report(parser: Parser, fault: SyntaxFault, note: str | None = None) -> None:
    from .recovery import report

    report(parser, fault, note)
