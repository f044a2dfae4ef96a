"""Pieces of IR out of forms: variables, parameters, initialisers, directives, section rows.

Pure but for the scope that an initialiser's names are looked up in; ``build`` enters what is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from .constants import literal, unary, whole
from .grammar import Form
from .ir import (
    Data,
    Difference,
    Directive,
    InitialiserList,
    Integer,
    Label,
    Offset,
    Operand,
    Property,
    SectionItem,
    Symbol,
    Variable,
)
from .makers import compile_operand
from .scope import Scope

Lexemes = Sequence[str]
SymbolMaker = Callable[[str], Symbol]


def children(form: Form) -> list[Form]:
    """What is inside a form, without its rule's name."""
    return cast("list[Form]", form)[1:]


def text(form: Form, lexemes: Lexemes) -> str:
    """The text of a leaf, or of a word that stands in the form itself."""
    return lexemes[form] if isinstance(form, int) else cast(str, form)


def number(lexeme: str) -> int:
    """The value of an integer literal."""
    return whole(literal(lexeme))


def variables(
    parts: Sequence[Form], lexemes: Lexemes, space: str, scope: Scope, start: int, end: int
) -> list[Variable]:
    """The variables of one ``variable_tail``: all share its words."""
    align, vector, type_ = None, 1, ""
    attributes: list[tuple[str, tuple[int, ...]]] = []
    made: list[Variable] = []
    for part in parts:
        if isinstance(part, str):
            type_ = part[1:]
            continue
        rule, *inside = cast("list[Form]", part)
        if rule == "align":
            align = number(text(inside[0], lexemes))
        elif rule == "vector":
            vector = int(str(inside[0])[2:])
        elif rule == "attribute":
            attributes += attribute(inside, lexemes)
        else:
            variable = Variable(text(inside[0], lexemes), space, type_, start, end)
            variable.align, variable.vector = align, vector
            variable.attributes = tuple(attributes)
            _suffixes(variable, inside[1:], lexemes, scope)
            made.append(variable)
    return made


def parameter(form: Form, lexemes: Lexemes, scope: Scope, start: int, end: int) -> Variable:
    """One parameter of a function or prototype."""
    space, *parts = children(form)
    variable = Variable("", str(space)[1:], "", start, end)
    for part in parts:
        if isinstance(part, int):
            variable.name = lexemes[part]
        elif isinstance(part, str):
            variable.type = part[1:]
        elif part[0] == "align":
            variable.align = number(text(part[1], lexemes))
        elif part[0] == "vector":
            variable.vector = int(str(part[1])[2:])
        elif part[0] == "pointer":
            variable.pointer = _pointer(part[1:], lexemes)
        else:
            _suffixes(variable, [part], lexemes, scope)
    return variable


def _suffixes(variable: Variable, parts: Sequence[Form], lexemes: Lexemes, scope: Scope) -> None:
    """Range, dimensions and initialiser of a declarator."""
    dimensions: list[int | None] = []
    for part in parts:
        rule, *inside = cast("list[Form]", part)
        if rule == "range":
            variable.count = number(text(inside[0], lexemes))
        elif rule == "dimension":
            dimensions.append(number(text(inside[0], lexemes)) if inside else None)
        else:
            variable.initialiser = initialiser(inside[0], lexemes, scope)
    variable.dimensions = tuple(dimensions)


def initialiser(form: Form, lexemes: Lexemes, scope: Scope) -> Operand:
    """What follows ``=``. A leaf that holds commas is a list of numbers that was not cut up."""
    if isinstance(form, list) and form[0] == "property":
        name, value = (text(child, lexemes) for child in form[1:])
        return Property(name, value)
    if isinstance(form, list) and form[0] == "initial_list":
        elements: list[Operand] = []
        for child in form[1:]:
            if isinstance(child, int) and "," in lexemes[child]:
                elements += [_constant(piece) for piece in lexemes[child].split(",")]
            elif isinstance(child, int) and lexemes[child][0] in " \t\r\n-":
                elements.append(_constant(lexemes[child]))
            else:
                elements.append(initialiser(child, lexemes, scope))
        return InitialiserList(tuple(elements))
    made = compile_operand(form)
    if isinstance(made, int):
        return scope[lexemes[made]]
    return made(
        [scope[lexeme] if i in _leaves(form) else _NOTHING for i, lexeme in enumerate(lexemes)]
    )


_NOTHING = Operand()


def _leaves(form: Form) -> set[int]:
    if isinstance(form, list):
        return {leaf for part in form for leaf in _leaves(part)}
    return {form} if isinstance(form, int) else set()


def _constant(piece: str) -> Operand:
    piece = piece.strip()
    return unary("-", literal(piece[1:].strip())) if piece[0] == "-" else literal(piece)


def attribute(items: Sequence[Form], lexemes: Lexemes) -> list[tuple[str, tuple[int, ...]]]:
    """The items of an ``.attribute(…)``: name and numbers of each."""
    made = []
    for item in items:
        name, *numbers = children(item)
        made.append((str(name)[1:], tuple(number(text(n, lexemes)) for n in numbers)))
    return made


def directive(form: Form, lexemes: Lexemes, start: int, end: int) -> Directive:
    """A directive of a function's head."""
    rule, *inside = cast("list[Form]", form)
    if rule == "pragma":
        return Directive("pragma", tuple(text(c, lexemes)[1:-1] for c in inside), start, end)
    numbers = tuple(number(text(c, lexemes)) for c in inside[1:])
    return Directive(str(inside[0])[1:], numbers, start, end)


def _pointer(parts: Sequence[Form], lexemes: Lexemes) -> tuple[str, int | None]:
    space, align = "", None
    for part in parts:
        if isinstance(part, str):
            space = part[1:]
        else:
            align = number(text(children(part)[0], lexemes))
    return space, align


def section_row(
    form: Form, lexemes: Lexemes, at: Sequence[int], symbol: SymbolMaker
) -> SectionItem:
    """A row of a section; ``at`` are the lexemes' offsets in the module's text."""
    rule, head, *values = cast("list[Form]", form)
    if rule == "label":
        index = cast(int, head)
        return Label(lexemes[index], at[index], at[index] + len(lexemes[index]))
    return Data(str(head)[1:], tuple([_section_value(v, lexemes, symbol) for v in values]))


def _section_value(form: Form, lexemes: Lexemes, symbol: SymbolMaker) -> Operand:
    rule, *inside = cast("list[Form]", form)
    if rule == "data_number":
        signed = cast("list[Form]", inside[0])
        value = number(text(signed[-1], lexemes))
        return Integer(-value if signed[0] == "signed_minus" else value)
    texts = [text(child, lexemes) for child in inside]
    if rule == "data_difference":
        return Difference(symbol(texts[0]), symbol(texts[1]))
    named = symbol(texts[0])
    return Offset(named, number(texts[1])) if len(texts) > 1 else named
