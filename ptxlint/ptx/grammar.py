"""Lark over grammars/ptx.lark: text to forms, and its errors in a person's words.

A *form* is a parse as plain data: ``[rule, child, …]``. A name or a number stands in it as an
integer, the index of its lexeme in a list beside it; everything else (modifiers, operators) as
its text. A form is therefore a template: other lexemes of the same kinds fit it as well.

The LALR tables are made ahead (``python -m ptxlint.ptx.tables``) and read from
``grammars/ptx.tables.json``; a test holds them equal to the grammar.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from ..resources import grammar_text

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

Form = Union[int, str, "list[Form]"]

STARTS = ("module", "statement", "item", "header", "parameter")
_MAX_STATEMENT = 1 << 23  # characters: Lark reads half a million in a second
_MAX_DEPTH = 200  # operators in one another; parentheses don't count

LEAVES = frozenset({"IDENT", "INT", "FLOAT", "BITS", "SINK", "WARP_SZ", "STRING", "VERSION_NUMBER"})

# What a person calls the terminals; the rest are shown as they are written.
_WORDS = {
    "IDENT": "a name",
    "INT": "an integer",
    "FLOAT": "a number",
    "BITS": "a number",
    "STRING": "a string",
    "SINK": "'_'",
    "WARP_SZ": "WARP_SZ",
    "MODIFIER": "a modifier",
    "SELECTOR": "an element",
    "TYPE": "a type",
    "CALL": "an instruction",
    "$END": "the end of the text",
    "VERSION_NUMBER": "a version number",
    "LINKAGE": "'.visible'",
    "VECTOR_SIZE": "'.v2'",
    "ENTRY_DIRECTIVE": "a performance directive",
    "FUNC_DIRECTIVE": "a directive",
    "TARGETS": "'.branchtargets'",
    "DATA_TYPE": "'.b8'",
    "SECTION_NAME": "a section",
    "DWARF_LINE": "'@@DWARF'",
}
# Operators of constant expressions: true, but no help to whoever forgot a comma.
_OPERATORS = frozenset(
    {"PLUS", "MINUS", "STAR", "SLASH", "PERCENT", "BAR", "CARET", "AMPERSAND", "LESS", "GREATER"}
    | {"RELATION", "EQUALITY", "SHIFT", "LOGICAL_OR", "LOGICAL_AND", "QMARK", "TILDE", "NOT"}
    | {"COLON"}
)


class SyntaxFault(Exception):
    """The text is not PTX from ``offset`` (of the text given) on; ``at_end``: it is too short."""

    def __init__(
        self,
        offset: int,
        end: int,
        message: str,
        expected: tuple[str, ...] = (),
        at_end: bool = False,
    ) -> None:
        super().__init__(message)
        self.at_end = at_end
        self.offset = offset
        self.end = end
        self.message = message
        self.expected = expected


class Parse(NamedTuple):
    """A form with its lexemes, and where each lexeme starts (None: not one piece of text).

    ``extents`` has start and end of each ``parameter``, by the form's ``id``.
    """

    form: list[Form]
    lexemes: list[str]
    places: list[int | None]
    extents: dict[int, tuple[int, int]]


@cache
def lark() -> Lark:
    """The parser, from the tables made ahead."""
    from lark import Lark as LarkParser

    tables = _with_integer_keys(json.loads(grammar_text("ptx.tables.json")))
    parser = LarkParser.__new__(LarkParser)
    parser._load({"data": tables["data"], "memo": tables["memo"]})
    return parser


def _with_integer_keys(value: Any) -> Any:
    """JSON turns integer keys into strings; turn them back."""
    if isinstance(value, dict):
        return {
            (int(key) if key.isdigit() else key): _with_integer_keys(item)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_with_integer_keys(item) for item in value]
    return value


def parse_tree(text: str, start: str) -> Tree[Token]:
    """Parse ``text`` from the rule ``start``; raises ``SyntaxFault``."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    if len(text) > _MAX_STATEMENT and start != "module":
        raise SyntaxFault(0, 1, f"no statement ends within {len(text):,} characters", ("';'",))
    try:
        return lark().parse(text, start=start)
    except UnexpectedToken as error:
        token = error.token
        if token.type == "$END":
            end = len(text.rstrip())
            raise SyntaxFault(end, end, "the text ends here", _words(error.accepts), True) from None
        offset = int(token.start_pos or 0)
        raise SyntaxFault(
            offset, offset + len(token), f"unexpected '{shorten(token)}'", _words(error.accepts)
        ) from None
    except UnexpectedCharacters as error:
        offset = int(error.pos_in_stream or 0)
        raise SyntaxFault(
            offset,
            offset + 1,
            f"unexpected character {_character(text[offset])}",
            _words(error.allowed),
        ) from None


def parse_form(text: str, start: str) -> Parse:
    """Parse ``text`` into a form; raises ``SyntaxFault``."""
    return form_of(parse_tree(text, start))


def form_of(tree: Tree[Token] | Token, origin: int = 0) -> Parse:
    """The form of a parse tree; places count from ``origin``."""
    lexemes: list[str] = []
    places: list[int | None] = []
    extents: dict[int, tuple[int, int]] = {}

    def leaf(text: str, place: int | None) -> int:
        lexemes.append(text)
        places.append(place)
        return len(lexemes) - 1

    def convert(node: Any, depth: int = 0) -> Form:
        if depth > _MAX_DEPTH:
            raise SyntaxFault(0, 1, f"nested more than {_MAX_DEPTH} deep")
        if not hasattr(node, "children"):
            if node.type in LEAVES:
                return leaf(str(node), node.start_pos - origin)
            return str(node)
        rule = str(node.data)
        if rule == "element":
            base, selector = node.children
            joined = base.end_pos == selector.start_pos
            return leaf(f"{base}{selector}", base.start_pos - origin if joined else None)
        made: list[Form] = [rule, *(convert(child, depth + 1) for child in node.children)]
        if rule == "parameter":
            extents[id(made)] = (node.meta.start_pos - origin, node.meta.end_pos - origin)
        return made

    form = convert(tree)
    return Parse(form if isinstance(form, list) else ["token", form], lexemes, places, extents)


def _words(terminals: Any) -> tuple[str, ...]:
    """What was expected, in a person's words, sorted, operators left out where there is more."""
    names = set(terminals or ())
    plain = names - _OPERATORS or names
    return tuple(sorted({_word(name) for name in plain}))


def _word(name: str) -> str:
    if name in _WORDS:
        return _WORDS[name]
    for terminal in lark().terminals:
        if terminal.name == name:
            pattern = terminal.pattern
            if pattern.type == "str":
                return f"'{pattern.value}'"
            return "'" + pattern.value.split("(?")[0].replace("\\", "") + "'"
    return name


def shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"


def _character(character: str) -> str:
    if character.isprintable():
        return f"'{character}'"
    return f"U+{ord(character):04X}"
