"""Where a module uses what is no instruction and yet has a first version or target."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ..isa.gates import Feature
from ..ptx.ir import (
    Address,
    Data,
    Declaration,
    Difference,
    Directive,
    Function,
    Generic,
    Instruction,
    Label,
    Loc,
    Masked,
    Module,
    Offset,
    Operand,
    Pair,
    Prototype,
    Section,
    SectionItem,
    Statement,
    Targets,
    Variable,
)
from .objects import alignment_of, size_of

Place = tuple[int, int]
OLD_PARAMETER_LIMIT = 4352


def places(feature: Feature, module: Module) -> list[Place]:
    """The places where the module uses a feature, as offsets, in order."""
    if feature.needle and feature.needle not in module.source.text:
        return []
    return sorted(set(_FINDERS[feature.kind](feature.name, module)))


def _at(statement: Statement) -> Place:
    return statement.start, statement.end


def _statements(module: Module) -> Iterator[Statement]:
    for item in module.items:
        yield item
        if isinstance(item, Function):
            yield from item.directives
            yield from item.walk()


def _variables(module: Module) -> Iterator[Variable]:
    for statement in _statements(module):
        if isinstance(statement, Declaration):
            yield from statement.variables
        elif isinstance(statement, Function):
            yield from (*statement.returns, *statement.parameters)
        elif isinstance(statement, Label) and isinstance(statement.directive, Prototype):
            yield from (*statement.directive.returns, *statement.directive.parameters)


def _header(function: Function, word: str, module: Module) -> Place:
    """Where a word of a function's header stands."""
    end = function.body.start if function.body is not None else function.end
    match = re.search(rf"\.{word}\b", module.source.text[function.start : end])
    if match is None:
        return function.start, function.start + 1
    return function.start + match.start(), function.start + match.end()


def _directives(name: str, module: Module) -> Iterator[Place]:
    for function in module.functions:
        if function.directives and function.directive(name) is not None:
            yield _header(function, name, module)


def _pragmas(name: str, module: Module) -> Iterator[Place]:
    for function in module.functions:
        if any(_is_pragma(directive, name) for directive in function.directives):
            yield _header(function, "pragma", module)
    for statement in _statements(module):
        if isinstance(statement, Function):
            continue
        pragma = isinstance(statement, Directive) and _is_pragma(statement, name)
        if pragma and not any(statement in f.directives for f in module.functions):
            yield _at(statement)


def _is_pragma(directive: Directive, name: str) -> bool:
    return directive.name == "pragma" and any(
        isinstance(text, str) and text.strip('" ').startswith(name) for text in directive.arguments
    )


def _linkage(name: str, module: Module) -> Iterator[Place]:
    for variable in module.variables:
        if variable.linkage == name:
            yield _at(variable)
    for function in module.functions:
        if function.linkage == name:
            yield _header(function, name, module)


def _of_module(name: str, module: Module) -> Iterator[Place]:
    for item in module.items:
        if isinstance(item, Directive) and item.name == name:
            yield _at(item)


def _attributes(name: str, module: Module) -> Iterator[Place]:
    for variable in module.variables:
        if any(attribute[0].lstrip(".") == name for attribute in variable.attributes):
            yield _at(variable)


def _pointers(_: str, module: Module) -> Iterator[Place]:
    for function in module.functions:
        if function.is_kernel:
            yield from (_at(p) for p in function.parameters if p.pointer is not None)


def _tables(name: str, module: Module) -> Iterator[Place]:
    for statement in _statements(module):
        if isinstance(statement, Label) and statement.directive is not None:
            table = statement.directive
            kind = table.kind if isinstance(table, Targets) else "callprototype"
            if kind == name:
                yield _at(table)


def _sections(_: str, module: Module) -> Iterator[Place]:
    yield from (_at(item) for item in module.items if isinstance(item, Section))


def _section_labels(_: str, module: Module) -> Iterator[Place]:
    for item in module.items:
        if isinstance(item, Section):
            yield from (_at(row) for row in item.items if isinstance(row, Label))


def _section_rows(kind: type[Operand], shape: str) -> Callable[[str, Module], Iterator[Place]]:
    """The first row with such a value in each section: rows have no place of their own."""
    pattern = re.compile(shape)

    def find(_: str, module: Module) -> Iterator[Place]:
        for item in module.items:
            if isinstance(item, Section) and any(_has(row, kind) for row in item.items):
                place = pattern.search(module.source.text, item.start, item.end)
                yield _at(item) if place is None else place.span()

    return find


def _has(row: SectionItem, kind: type[Operand]) -> bool:
    return isinstance(row, Data) and any(isinstance(value, kind) for value in row.values)


def _inlined(_: str, module: Module) -> Iterator[Place]:
    for statement in _statements(module):
        if isinstance(statement, Loc) and statement.inlined_at is not None:
            yield _at(statement)


def _modes(name: str, module: Module) -> Iterator[Place]:
    for item in module.items:
        if isinstance(item, Directive) and item.name == "target" and name in item.arguments:
            yield _at(item)


def _initialisers(kind: type[Operand]) -> Callable[[str, Module], Iterator[Place]]:
    def find(_: str, module: Module) -> Iterator[Place]:
        for variable in module.variables:
            if variable.initialiser is not None and _holds(variable.initialiser, kind):
                yield _at(variable)

    return find


def _holds(operand: Operand, kind: type[Operand]) -> bool:
    return isinstance(operand, kind) or any(_holds(child, kind) for child in operand.children())


def _open_parameters(_: str, module: Module) -> Iterator[Place]:
    for function in module.functions:
        yield from (_at(p) for p in function.parameters if None in p.dimensions)


def _types(name: str, module: Module) -> Iterator[Place]:
    yield from (_at(v) for v in _variables(module) if v.type == name)


def _parameters(_: str, module: Module) -> Iterator[Place]:
    for function in module.functions:
        if function.is_kernel and parameter_bytes(function.parameters) > OLD_PARAMETER_LIMIT:
            yield function.end - 1, function.end  # where ptxas says it: at the closing brace


def parameter_bytes(parameters: Iterable[Variable]) -> int:
    """The bytes of a kernel's parameters, each at its alignment."""
    end = 0
    for parameter in parameters:
        alignment = max(alignment_of(parameter), 1)
        end = -(-end // alignment) * alignment + (size_of(parameter) or 0)
    return end


def _resident(_: str, module: Module) -> Iterator[Place]:
    if module.mnemonics.isdisjoint(_TEXTURE):
        return
    for function in module.functions:
        for instruction in function.instructions:
            if instruction.opcode.mnemonic in _TEXTURE and _is_resident(instruction):
                yield _at(instruction)


def _is_resident(instruction: Instruction) -> bool:
    operands = instruction.operands
    return (
        bool(operands)
        and isinstance(operands[0], Pair)
        and any(isinstance(operand, Address) for operand in operands)
    )


_TEXTURE = frozenset({"tex", "tld4"})
_FINDERS: dict[str, Callable[[str, Module], Iterator[Place]]] = {
    "directive": _directives,
    "pragma": _pragmas,
    "linkage": _linkage,
    "module": _of_module,
    "attribute": _attributes,
    "pointer": _pointers,
    "table": _tables,
    "section": _sections,
    "section-label": _section_labels,
    "section-difference": _section_rows(Difference, r"[\w$]+[ \t]*-[ \t]*[A-Za-z_$][\w$]*"),
    "section-offset": _section_rows(Offset, r"[A-Za-z_$.][\w$.]*[ \t]*\+[ \t]*\d"),
    "inlined": _inlined,
    "mode": _modes,
    "generic": _initialisers(Generic),
    "mask": _initialisers(Masked),
    "open-parameter": _open_parameters,
    "type": _types,
    "parameters": _parameters,
    "resident": _resident,
}
