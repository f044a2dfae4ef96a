"""Names that are used and not declared: where, and what may have been meant."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .ir import (
    Function,
    Instruction,
    Label,
    Module,
    NameProblem,
    Operand,
    Statement,
    Symbol,
    Targets,
)


def report_undeclared(module: Module, function: Function, pending: dict[str, list[Symbol]]) -> None:
    """Problems for the names that a function leaves open; one for each use."""
    open_symbols = {id(symbol) for symbols in pending.values() for symbol in symbols}
    labels: dict[str, Label] = {}
    declared: dict[str, Statement] = {}
    for statement in function.walk():
        if isinstance(statement, Label):
            labels.setdefault(statement.name, statement)
        for variable in getattr(statement, "variables", ()):
            declared.setdefault(variable.name, variable)
    for statement in function.walk():
        for symbol in _symbols(statement):
            if id(symbol) not in open_symbols:
                continue
            other: Statement | None = labels.get(symbol.name)
            kind = "hidden" if other else "undeclared"
            if other is None and (other := declared.get(symbol.name)) is not None:
                kind = "early" if other.start > statement.start else "hidden"
            start = _place(module.source.text, symbol.name, statement)
            end = start + len(symbol.name)
            module.name_problems.append(
                NameProblem(kind, symbol.name, start, end, statement, other, function)
            )


def report_pending_initialisers(module: Module, pending: dict[str, list[Symbol]]) -> None:
    """Problems for the names that module variables' initialisers leave open."""
    text = module.source.text
    for variable in module.variables:
        if variable.initialiser is None:
            continue
        for symbol in _walk(variable.initialiser):
            if isinstance(symbol, Symbol) and symbol.target is None and symbol.name in pending:
                start = _place(text, symbol.name, variable)
                end = start + len(symbol.name)
                module.name_problems.append(
                    NameProblem("undeclared", symbol.name, start, end, variable, None, None)
                )


def _symbols(statement: Statement) -> Iterator[Symbol]:
    if isinstance(statement, Instruction):
        operands: tuple[Operand, ...] = statement.operands
        if statement.guard is not None:
            operands = (statement.guard.register, *operands)
    elif isinstance(statement, Targets):
        operands = statement.names
    else:
        return
    for operand in operands:
        for inner in _walk(operand):
            if isinstance(inner, Symbol):
                yield inner


def _walk(operand: Operand) -> Iterator[Operand]:
    yield operand
    for child in operand.children():
        yield from _walk(child)


def _place(text: str, name: str, statement: Statement) -> int:
    """Where a statement names it: a whole word, not the opcode's."""
    pattern = re.compile(r"(?<![\w$%.])" + re.escape(name) + r"(?![\w$])")
    match = pattern.search(text, statement.start, statement.end)
    return match.start() if match else statement.start
