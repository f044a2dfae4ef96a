"""Symbols: values that are not known but are the same in all threads of a grid, block or warp."""

from __future__ import annotations

from collections.abc import Hashable

GRID, BLOCK, WARP = range(3)
EVERY_BIT = -1


class Symbol:
    """One unknown integer.

    ``kind`` is ``parameter``, ``special`` (a special register), ``base`` (the address of an
    object), ``window`` (where a state space lies among the generic addresses), ``loop`` (a loop's
    variable), ``load``, ``result`` (any other uniform result) or ``derived`` (of other symbols);
    ``origin`` tells two symbols of a kind apart. ``mask`` has the bits that may be 1: negative
    where there is no upper bound, which counts modulo 2^width. ``loops`` is the set of loops
    whose turns change it, by index; ``scope`` is ``GRID``, ``BLOCK`` or ``WARP``: the threads that
    share it. ``assumptions`` are what ``mask`` rests on.
    """

    __slots__ = ("assumptions", "index", "kind", "loops", "mask", "origin", "scope", "zeros")

    def __init__(
        self,
        index: int,
        kind: str,
        origin: Hashable,
        mask: int,
        loops: int,
        scope: int,
        assumptions: int,
    ) -> None:
        self.index = index
        self.kind = kind
        self.origin = origin
        self.mask = mask
        self.loops = loops
        self.scope = scope
        self.assumptions = assumptions
        self.zeros = (mask & -mask).bit_length() - 1

    def __repr__(self) -> str:
        return f"<{self.kind} {self.index}>"


class SymbolTable:
    """The symbols of a function; asked twice for the same, it gives the same."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Hashable, Symbol] = {}

    def get(
        self,
        kind: str,
        origin: Hashable,
        *,
        mask: int = EVERY_BIT,
        loops: int = 0,
        scope: int = GRID,
        assumptions: int = 0,
    ) -> Symbol:
        """The symbol of that kind, origin and properties."""
        key = (kind, origin, mask, loops, scope, assumptions)
        found = self._known.get(key)
        if found is None:
            found = Symbol(len(self._known), kind, origin, mask, loops, scope, assumptions)
            self._known[key] = found
        return found
