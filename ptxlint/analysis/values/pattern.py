"""The pattern of a value: what all threads share, and how they differ."""

from __future__ import annotations

from ...ptx.ir import Variable
from .assumed import texts
from .symbols import GRID, Symbol
from .vectors import Exact, Vector

Terms = tuple[tuple[Symbol, int], ...]
Lanes = tuple[tuple[Symbol, Vector], ...]


class Pattern:
    """A value, modulo 2^``width``, as a sum: of ``terms`` (symbol x factor), ``const``, ``lanes``
    (symbol x thread vector: rows of an unknown stride) and ``vector`` (exact, by thread).

    Holds in every thread that executes the instruction it was asked for, in the schedule where
    lanes meet again at immediate post-dominators, under ``assumptions``. ``scope`` says how far
    the symbols are shared; ``loops`` is the set of loops whose turns change them. ``zeros`` counts
    the low bits that are 0 in all that is symbolic (``width`` where nothing is). Two patterns of
    one function that are alike in all of this are one object.

    ``is_exact``: whether nothing in it is symbolic: each thread's value is known. ``is_uniform``:
    whether all threads within ``scope`` hold the same value. ``is_constant``: whether it is one
    number, in all threads.
    """

    __slots__ = (
        "assumptions",
        "const",
        "is_constant",
        "is_exact",
        "is_uniform",
        "lanes",
        "loops",
        "scope",
        "terms",
        "vector",
        "width",
        "zeros",
    )

    def __init__(
        self,
        width: int,
        terms: Terms,
        lanes: Lanes,
        const: int,
        vector: Vector | None,
        assumptions: int,
    ) -> None:
        self.width = width
        self.terms = terms
        self.lanes = lanes
        self.const = const
        self.vector = vector
        self.assumptions = assumptions
        self.is_exact = not terms and not lanes
        self.is_uniform = vector is None and not lanes
        self.is_constant = vector is None and self.is_exact
        scope, loops, zeros = GRID, 0, width
        for symbol, factor in terms:
            if symbol.scope > scope:
                scope = symbol.scope
            loops |= symbol.loops
            low = symbol.zeros + (factor & -factor).bit_length() - 1
            if low < zeros:
                zeros = low
        for symbol, steps in lanes:
            scope = max(scope, symbol.scope)
            loops |= symbol.loops
            zeros = min(zeros, symbol.zeros + steps.zeros)
        self.scope = scope
        self.loops = loops
        self.zeros = zeros

    @property
    def exact(self) -> Exact:
        """The part without symbols."""
        return Exact(self.const, self.vector)

    @property
    def object(self) -> Variable | None:
        """The one declared object that an address counts from, whatever else is in it."""
        objects = [symbol.origin for symbol, _ in self.terms if symbol.kind == "base"]
        found = objects[0] if len(objects) == 1 else None
        return found if isinstance(found, Variable) else None

    @property
    def has_strides(self) -> bool:
        """Whether threads differ by multiples of something unknown."""
        return bool(self.lanes)

    @property
    def assumed(self) -> tuple[str, ...]:
        """The assumptions in words."""
        return texts(self.assumptions)

    @property
    def symbols_assumed(self) -> int:
        """What the properties of its symbols (``zeros`` among them) rest on, as bits."""
        bits = 0
        for symbol, _ in self.terms:
            bits |= symbol.assumptions
        for symbol, _ in self.lanes:
            bits |= symbol.assumptions
        return bits

    def __repr__(self) -> str:
        parts = [f"{factor}*{symbol!r}" for symbol, factor in self.terms]
        parts += [f"{symbol!r}*{list(steps.values[:33])}" for symbol, steps in self.lanes]
        if self.vector is not None:
            parts.append(f"{list(self.vector.values[:33])}")
        return f"Pattern({' + '.join([*parts, str(self.const)])}, .b{self.width})"


def alike(a: Pattern, b: Pattern) -> bool:
    """Whether two patterns of one function are the same, whatever they rest on."""
    return a is b or (
        a.vector is b.vector
        and a.const == b.const
        and a.width == b.width
        and a.terms == b.terms
        and a.lanes == b.lanes
    )
