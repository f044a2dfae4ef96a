"""The store of statement shapes: each distinct masked text is parsed by Lark once.

A key is the text between the lexemes, joined, and the kinds of the lexemes. The commonest shapes
ship in ``ptx/data/shapes.json`` (made by ``ship``), so that Lark is loaded only for a new one.
"""

from __future__ import annotations

import json
from functools import cache
from typing import NamedTuple, cast

from ..resources import read_text
from .grammar import Form, parse_form
from .lexical import Kinds, normalised, split_directive, split_operands
from .makers import Shape

_MAX = 50_000  # noise must not fill the memory; real files have some thousand shapes


class Masked(NamedTuple):
    """A directive's form with the lexemes of one instance."""

    form: list[Form]
    lexemes: list[str]


def key_of(literals: list[str], kinds: str) -> str:
    """One string for a shape."""
    return "\0".join(literals) + kinds


class Shapes:
    """Shapes of operands, of calls' operands, and of directives by the rule they start from."""

    def __init__(self, shipped: bool = True) -> None:
        self.kinds = Kinds()
        self.operands: dict[str, Shape] = {}
        self.calls: dict[str, Shape] = {}
        # By the rule they start from, then by key.
        self.directives: dict[str, dict[str, list[Form]]] = {}
        # What Lark was asked, as (rule, key) -> form: what `ship` keeps.
        self.learnt: dict[tuple[str, str], list[Form]] = {}
        for rule, forms in shipped_shapes().items() if shipped else ():
            if rule in ("operands", "calls"):
                table = self.operands if rule == "operands" else self.calls
                for key, form in forms.items():
                    table[key] = _Lazy(form)
            else:
                self.directives[rule] = dict(forms)

    def learn_operands(
        self, statement: str, operands_at: int, operand_text: str, key: str, is_call: bool
    ) -> tuple[Shape, list[str]]:
        """Shape and lexemes of a statement's operands; raises ``SyntaxFault``.

        ``operands_at`` is where ``operand_text`` begins in ``statement``; ``key`` is its key.
        """
        table = self.calls if is_call else self.operands
        parts = split_operands(operand_text)
        words = parts[1::2]
        kinds = "".join([self.kinds[w] for w in words])
        plain = key_of(normalised(parts[::2]), kinds)
        shape = table.get(plain) if "x" not in kinds else None
        if shape is None:
            parse = parse_form(statement, "statement")
            forms = _operand_forms(parse.form)
            skipped = _leaves_before(parse.form)
            lexemes, places = parse.lexemes[skipped:], parse.places[skipped:]
            forms = [_shift(form, skipped) for form in forms]
            shape = Shape(forms)
            if "x" in kinds or not _aligned(parts, operands_at, lexemes, places):
                return shape, lexemes
            self._keep(table, plain, shape)
            self.learnt["calls" if is_call else "operands", plain] = forms
        self._keep(table, key, shape)
        return shape, words

    def directive(self, text: str, start: str) -> Masked:
        """Form and lexemes of a directive, from the rule ``start``; raises ``SyntaxFault``."""
        table = self.directives.setdefault(start, {})
        parts = split_directive(text)
        words = parts[1::2]
        kinds = "".join([self.kinds[w] for w in words])
        key = key_of(parts[::2], kinds)
        form = table.get(key)
        if form is None:
            plain = key_of(normalised(parts[::2]), kinds)
            form = table.get(plain)
            if form is None:
                parse = parse_form(text, start)
                if "x" in kinds or not _aligned(parts, 0, parse.lexemes, parse.places):
                    return Masked(parse.form, parse.lexemes)
                form = parse.form
                self._keep(table, plain, form)
                self.learnt[start, plain] = form
            self._keep(table, key, form)
        return Masked(form, words)

    @staticmethod
    def _keep(table: dict, key: str, value: object) -> None:  # type: ignore[type-arg]
        if len(table) >= _MAX:
            table.clear()
        table[key] = value


class _Lazy(Shape):
    """A shipped shape, compiled when it is first filled."""

    __slots__ = ("_form",)

    def __init__(self, form: list[Form]) -> None:
        self._form = form
        self.flat = form == list(range(len(form)))
        self.makers = ()

    def fill(self, leaves):  # type: ignore[no-untyped-def]
        """As ``Shape.fill``."""
        if not self.makers and self._form:
            self.makers = Shape(self._form).makers
        return Shape.fill(self, leaves)


def _operand_forms(form: list[Form]) -> list[Form]:
    last = form[-1]
    if isinstance(last, list) and last[0] in ("operands", "call_operands"):
        return last[1:]
    return []


def _leaves_before(form: list[Form]) -> int:
    """How many lexemes the guard and the opcode take."""
    return sum(_count(part) for part in form[1:] if _is_head(part))


def _is_head(part: Form) -> bool:
    return isinstance(part, list) and part[0] in ("guard", "opcode", "call_opcode")


def _count(form: Form) -> int:
    if isinstance(form, list):
        return sum(_count(part) for part in form)
    return int(isinstance(form, int))


def _shift(form: Form, by: int) -> Form:
    if isinstance(form, list):
        return [_shift(part, by) for part in form]
    return form - by if isinstance(form, int) else form


def _aligned(parts: list[str], offset: int, lexemes: list[str], places: list[int | None]) -> bool:
    """Whether the pieces that were cut out are just the lexemes of the parse, in place."""
    if parts[1::2] != lexemes:
        return False
    at = offset
    for index, place in enumerate(places):
        at += len(parts[2 * index])
        if place != at:
            return False
        at += len(parts[2 * index + 1])
    return True


@cache
def shipped_shapes() -> dict[str, dict[str, list[Form]]]:
    """The shapes that ship with the package, by rule and key."""
    text = read_text("ptx", "data", "shapes.json")
    return cast("dict[str, dict[str, list[Form]]]", json.loads(text))
