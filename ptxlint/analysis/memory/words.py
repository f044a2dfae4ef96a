"""Addresses in words: ``tile + 128*(tid.x>>3) + 4*(tid.x&7) + 2048*%r9.loop``.

An address is what its ``Pattern`` says, modulo 2^width, written out; nothing is left out of it. A
part that no short expression describes is ``table(tid.x)``: one number for each thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...ptx.ir import Function
from ..facts import Facts
from ..flow.graph import control_flow
from ..flow.ssa import values
from ..values.pattern import Pattern
from ..values.patterns import Patterns, patterns
from ..values.symbols import Symbol
from ..values.threads import WARP_SIZE
from ..values.vectors import Vector, wrap
from .lane_words import LaneWords, joined, lane_words, times, variables

# A derived value is written out up to that length, else named and explained once.
_INLINE = 32
_ROW = "(tid.x>>5)"


class Words(NamedTuple):
    """``text`` is the address; ``table`` whether a part of it is known only number by number."""

    text: str
    table: bool


class Naming:
    """The words of one function: its symbols get names, and ``legend`` what these mean.

    ``short`` makes the names of declared objects shorter (demangles them); two that come out the
    same are told apart by ``#2``.
    """

    def __init__(self, function: Function, facts: Facts, short: Callable[[str], str] = str) -> None:
        self.legend: dict[str, str] = {}
        self.symbols: dict[str, Symbol] = {}
        self._function = function
        self._facts = facts
        self._short = short
        self._known: Patterns = facts.once(function, patterns)
        self._variables = variables(self._known.space)
        self._names: dict[Symbol, str] = {}
        self._lanes: dict[tuple[Vector, int], LaneWords | None] = {}

    def words(self, pattern: Pattern) -> Words:
        """A pattern in words."""
        first: list[str] = []
        last: list[str] = []
        const, lane, table = pattern.const, "", False
        terms = dict(pattern.terms)
        if pattern.vector is not None:
            found = self._lane(pattern.vector, const)
            table = found is None
            if found is None:
                lane = self._table()
            else:
                lane, const = found.text, const - found.const
                lane = self._across_warps(found, terms, pattern.width) or lane
        for symbol, factor in terms.items():
            here = first if symbol.kind in ("base", "window") or _is_pointer(symbol) else last
            here.append(times(factor, self._factor(symbol)))
        rows = []
        for symbol, steps in pattern.lanes:
            text, unknown = self._row(symbol, steps)
            rows.append(text)
            table |= unknown
        parts = [*first, *([lane] if lane else []), *rows, *last]
        const = wrap(const, pattern.width)
        if const or not parts:
            parts.append(str(const))
        return Words(joined(parts), table)

    def _lane(self, vector: Vector, const: int) -> LaneWords | None:
        key = (vector, const)
        if key not in self._lanes:
            self._lanes[key] = lane_words(vector.values, const, self._variables)
        return self._lanes[key]

    def _table(self) -> str:
        return "table(tid)" if self._known.space.whole else "table(laneid)"

    def _across_warps(self, found: LaneWords, terms: dict[Symbol, int], width: int) -> str | None:
        """In rows of 32 threads tid.x is laneid and 32 x what the warp has: together one part."""
        if self._known.space.whole or len(found.parts) != 1 or found.parts[0].bits != "laneid":
            return None
        factor = found.parts[0].factor
        for symbol, times_ in terms.items():
            if _is_row(symbol) and times_ == wrap(WARP_SIZE * factor, width):
                del terms[symbol]
                return times(factor, "tid.x")
        return None

    def _row(self, symbol: Symbol, steps: Vector) -> tuple[str, bool]:
        """Rows of an unknown stride; whether a table says which."""
        name = self._factor(symbol)
        found = self._lane(steps, 0)
        if found is None:
            return f"{name}*{self._table()}", True
        if len(found.parts) == 1:
            part = found.parts[0]
            return times(part.factor, f"{name}*{part.bits}"), False
        return f"{name}*({found.text})", False

    def _factor(self, symbol: Symbol) -> str:
        """A symbol's name, fit to be a factor."""
        name = self.name(symbol)
        return name if _whole(name) else f"({name})"

    def name(self, symbol: Symbol) -> str:
        """The name of a symbol, or, where it is derived from others and short, its expression."""
        name = self._names.get(symbol)
        if name is None:
            name = self._names[symbol] = self._new(symbol)
        return name

    def _new(self, symbol: Symbol) -> str:
        origin = symbol.origin
        if symbol.kind == "parameter" and isinstance(origin, tuple):
            return self._unique(self._parameter(*origin[:2]), symbol)
        if symbol.kind == "special":
            if _is_row(symbol) and not self._known.space.whole:
                return self._unique(_ROW, symbol)
            return self._unique(str(origin).removeprefix("%"), symbol)
        if symbol.kind == "base":
            return self._object(symbol, getattr(origin, "name", str(origin)))
        if symbol.kind == "window":
            name = self._unique(f"{origin}_window", symbol)
            self.legend[name] = f"where {origin} memory lies among the generic addresses"
            return name
        if symbol.kind == "loop" and isinstance(origin, int):
            return self._loop(symbol, origin)
        if symbol.kind == "result" and isinstance(origin, tuple):
            return self._result(symbol, *origin)
        return self._derived(symbol)

    def _object(self, symbol: Symbol, full: str) -> str:
        short = self._short(full)
        name = self._unique(short, symbol)
        if name != short:
            self.legend[name] = full
        return name

    def _parameter(self, name: str, offset: int) -> str:
        short = name.removeprefix(f"{self._function.name}_")
        return f"{short}[{offset}]" if offset else short

    def _loop(self, symbol: Symbol, phi: int) -> str:
        ssa = self._facts.once(self._function, values)
        value = ssa.all[phi]
        flow = self._facts.once(self._function, control_flow)
        register = ssa.use.name(value.register)
        name = self._unique(f"{register}.loop", symbol)
        line = self._line(flow.blocks[value.at].start)
        self.legend[name] = f"what all lanes share of {register} in the loop at line {line}"
        return name

    def _result(self, symbol: Symbol, instruction: int, index: int) -> str:
        use = self._facts.once(self._function, values).use
        written = use.writes[instruction]
        register = use.name(written[min(index, len(written) - 1)])
        name = self._unique(f"{register}@{self._line(instruction)}", symbol)
        opcode = self._function.instructions[instruction].opcode
        self.legend[name] = f"what `{opcode}` gave {register}, the same in all lanes"
        return name

    def _line(self, instruction: int) -> int:
        return self._facts.span(self._function.instructions[instruction]).start.line

    def _derived(self, symbol: Symbol) -> str:
        text, exact = self._expression(symbol)
        if exact and len(text) <= _INLINE:
            return text
        number = sum(name.startswith("u") and name[1:].isdigit() for name in self.legend) + 1
        name = self._unique(f"u{number}", symbol)
        self.legend[name] = text
        return name

    def _expression(self, symbol: Symbol) -> tuple[str, bool]:
        """What a derived symbol is; whether the text stands for exactly that."""
        origin = symbol.origin
        if symbol.kind != "derived" or not isinstance(origin, tuple) or len(origin) < 2:
            return f"a value that all lanes share ({symbol.kind})", False
        what, operands = origin[0], origin[1]
        if what == "widen" and isinstance(operands, Symbol):
            return self.name(operands), True
        if what == "after":
            return f"{self.name(origin[2])} after its loop", False
        if what == "phi":
            return f"one of: {'; '.join(self._texts(origin[2]))}", False
        if what == "interior":
            return f"{self._call(origin[1], origin[2])} as all lanes have it", False
        return self._operation(what, operands)

    def _operation(self, what: object, operands: Sequence[Pattern]) -> tuple[str, bool]:
        texts = self._texts(operands)
        name = what[0] if isinstance(what, tuple) else what
        if name == "mul" and len(texts) == 2:
            return "*".join(map(_grouped, texts)), True
        if name == "sum":
            return texts[0], True
        if name == "shr" and isinstance(what, tuple) and len(texts) == 1:
            return f"{_grouped(texts[0])}>>{what[1]}", True
        if name == "widen" and len(texts) == 1:
            return texts[0], True
        return self._call(what, operands), False

    def _call(self, what: object, operands: Sequence[Pattern]) -> str:
        name = what[0] if isinstance(what, tuple) else what
        return f"{name}({', '.join(self._texts(operands))})"

    def _texts(self, operands: Sequence[Pattern]) -> list[str]:
        return [self.words(operand).text for operand in operands]

    def _unique(self, name: str, symbol: Symbol) -> str:
        chosen, number = name, 1
        while chosen in self.symbols:
            number += 1
            chosen = f"{name}#{number}"
        self.symbols[chosen] = symbol
        return chosen


def _is_pointer(symbol: Symbol) -> bool:
    """Whether it may be a pointer that the launch passes."""
    origin = symbol.origin
    return symbol.kind == "parameter" and isinstance(origin, tuple) and origin[2:] == (64,)


def _is_row(symbol: Symbol) -> bool:
    """Whether it is what a warp adds to laneid in tid.x."""
    return symbol.kind == "special" and symbol.origin == "%tid.x"


def _whole(text: str) -> bool:
    """Whether a text can be a factor as it stands."""
    return not any(sign in text for sign in (" + ", " - ", ">>", "^")) or _enclosed(text)


def _enclosed(text: str) -> bool:
    """Whether one pair of parentheses is around all of a text."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for place, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if not depth and place < len(text) - 1:
            return False
    return True


def _grouped(text: str) -> str:
    return text if _whole(text) else f"({text})"
