"""What is declared where: the names that a use could have meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..ptx.ir import Block, Function, Label, Module, Statement, Variable


def in_scope(module: Module, function: Function | None, at: int) -> Iterator[Statement]:
    """Declarations that a name at ``at`` may mean, inner scopes first; labels included."""
    if function is not None and function.body is not None:
        yield from _open(function.body, at)
        yield from (*function.parameters, *function.returns)
    for outer in (module.variables, module.functions):
        yield from (item for item in outer if item.start < at)


def _open(block: Block, at: int) -> Iterator[Statement]:
    """The declarations of ``block`` before ``at``, its labels, and those of a block around at."""
    here: list[Statement] = []
    for statement in block.statements:
        if isinstance(statement, Block):
            if statement.start < at < statement.end:
                yield from _open(statement, at)
        elif isinstance(statement, Label):
            here.append(statement)
        elif statement.start < at:
            here.extend(getattr(statement, "variables", ()))
    yield from here


def scope_of(function: Function, label: Label) -> list[Statement]:
    """What the pair of braces that holds ``label`` declares itself."""
    block = function.body
    inner: Block | None = block
    while inner is not None:
        block = inner
        inner = next(
            (b for b in block.statements if isinstance(b, Block) and b.start < label.start < b.end),
            None,
        )
    statements = block.statements if block is not None else []
    return [v for statement in statements for v in getattr(statement, "variables", ())]


def range_of(name: str, declared: list[Statement]) -> Variable | None:
    """The range that ``name`` would be a member of if it were long enough: ``%r<9>`` for ``%r9``.

    A base that ends in a digit names no range, as in ptxas.
    """
    base = name.rstrip("0123456789")
    digits = name[len(base) :]
    if not digits or (digits[0] == "0" and digits != "0"):
        return None
    for variable in declared:
        if isinstance(variable, Variable) and variable.count is not None and variable.name == base:
            return variable
    return None


def similar(name: str, declared: list[Statement]) -> str | None:
    """The declared name that is most like ``name``; of a range, the member of its number."""
    digits = name[len(name.rstrip("0123456789")) :]
    names = set()
    for statement in declared:
        known = getattr(statement, "name", "")
        if isinstance(statement, Variable) and statement.count is not None:
            if not digits or int(digits) >= statement.count:
                continue
            known += digits
        names.add(known)
    from difflib import get_close_matches  # loaded where there is something to suggest

    close = get_close_matches(name, sorted(names - {name}), n=1, cutoff=0.75)
    return close[0] if close else None


def is_left_out(module: Module, name: str) -> bool:
    """Whether a statement that did not parse names it: it may have been the declaration."""
    if not module.unanalysed:
        return False
    base = name.rstrip("0123456789")
    word = re.compile(rf"(?<![\w$%])(?:{re.escape(name)}(?![\w$])|{re.escape(base)}\s*<)")
    text = module.source.text
    return any(word.search(text, start, end) for start, end in module.unanalysed)
