"""Debug sections: their rows, and the names in line information."""

from __future__ import annotations

import re

from .build import Builder
from .ir import Data, Difference, Integer, Label, Offset, Operand, Section, SectionItem, Symbol
from .lexical import VALUE


def row_item(builder: Builder, row: re.Match[str]) -> SectionItem:
    """The ``Data`` or ``Label`` of a match of ``lexical.ROW``."""
    if row.lastindex == 3:
        return Label(row.group(3), *row.span(3))
    values = [_value(builder, match) for match in VALUE.finditer(row.group(2))]
    return Data(row.group(1), tuple(values))


def _value(builder: Builder, match: re.Match[str]) -> Operand:
    number, name, offset, other = match.groups()
    if number is not None:
        return Integer(_number(number))
    symbol = builder.section_symbol(name)
    if offset is not None:
        return Offset(symbol, _number(offset))
    if other is not None:
        return Difference(symbol, builder.section_symbol(other))
    return symbol


def _number(text: str) -> int:
    digits = text.lstrip("-")
    octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
    value = int(digits, 8) if octal else int(digits.rstrip("U"), 0)
    return -value if text[0] == "-" else value


def bind_symbols(builder: Builder) -> None:
    """Names in line information: labels of any function or section, in any order, or symbols.

    ptxas does not complain of one that is nowhere; it stays without a target.
    """
    if not builder.section_symbols:
        return
    labels: dict[str, Label] = {}
    for item in builder.module.items:
        if isinstance(item, Section):
            labels.update((row.name, row) for row in item.items if isinstance(row, Label))
    for function in builder.module.functions:
        for statement in function.walk():
            if isinstance(statement, Label):
                labels.setdefault(statement.name, statement)
    declared = builder.module_scope.made
    for symbol in builder.section_symbols:
        known = declared.get(symbol.name)
        if symbol.name in labels:
            symbol.target = labels[symbol.name]
        elif isinstance(known, Symbol):
            symbol.target = known.target
