"""Operands: anything that an instruction, an initialiser or a debug section can name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .statements import SymbolTarget, Variable


class Operand:
    """Anything that an instruction, an initialiser or a debug section can name."""

    __slots__ = ()

    def children(self) -> tuple[Operand, ...]:
        """The operands inside this one."""
        return ()


class Register(Operand):
    """A declared ``.reg`` variable; of a range ``%r<8>``, one member."""

    __slots__ = ("name", "variable")

    def __init__(self, name: str, variable: Variable) -> None:
        self.name = name
        self.variable = variable


class SpecialRegister(Operand):
    """``%tid.x``, ``%laneid``, ``%clock64`` …: the name holds the component."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Symbol(Operand):
    """A declared variable in memory, a function, a label, a prototype or a debug section's label.

    ``target`` is None where nothing of that name is declared (see ``Module.unresolved``).
    """

    __slots__ = ("name", "target")

    def __init__(self, name: str, target: SymbolTarget | None) -> None:
        self.name = name
        self.target = target


class Integer(Operand):
    """An integer constant; constant expressions are folded as PTX does, in 64 bits."""

    __slots__ = ("unsigned", "value")

    def __init__(self, value: int, unsigned: bool = False) -> None:
        self.value = value
        self.unsigned = unsigned


class Float(Operand):
    """A floating constant. ``bits`` are of ``width`` 32 (``0f…``) or 64 (``0d…`` and decimals)."""

    __slots__ = ("bits", "width")

    def __init__(self, bits: int, width: int) -> None:
        self.bits = bits
        self.width = width


class Sink(Operand):
    """``_``: the result is dropped, or the element is not wanted."""

    __slots__ = ()


class Element(Operand):
    """One element of a vector register (``v.x``) or a video selector (``%r1.b0``, ``%r1.h1``)."""

    __slots__ = ("base", "selector")

    def __init__(self, base: Operand, selector: str) -> None:
        self.base = base
        self.selector = selector

    def children(self) -> tuple[Operand, ...]:
        return (self.base,)


class Address(Operand):
    """``[base+offset]``; ``rest`` holds what follows a comma inside (tensor, texture coordinates).

    ``base`` is None for a literal address; ``offset`` counts bytes; ``has_offset`` is whether one
    is written (for ``+0`` ptxas -O0 adds a zero). ``suffix`` is ``.unified``.
    """

    __slots__ = ("base", "has_offset", "offset", "rest", "suffix")

    def __init__(
        self,
        base: Operand | None,
        offset: int = 0,
        has_offset: bool = False,
        rest: tuple[Operand, ...] = (),
        suffix: str = "",
    ) -> None:
        self.base = base
        self.offset = offset
        self.has_offset = has_offset
        self.rest = rest
        self.suffix = suffix

    def children(self) -> tuple[Operand, ...]:
        return self.rest if self.base is None else (self.base, *self.rest)


class Offset(Operand):
    """``symbol+offset`` outside brackets, in bytes: an address as a value."""

    __slots__ = ("base", "offset")

    def __init__(self, base: Operand, offset: int) -> None:
        self.base = base
        self.offset = offset

    def children(self) -> tuple[Operand, ...]:
        return (self.base,)


class Subscript(Operand):
    """``array[index]`` outside brackets; ``index`` counts elements."""

    __slots__ = ("base", "index")

    def __init__(self, base: Operand, index: int) -> None:
        self.base = base
        self.index = index

    def children(self) -> tuple[Operand, ...]:
        return (self.base,)


class Vector(Operand):
    """``{a, b, c, d}``."""

    __slots__ = ("elements",)

    def __init__(self, elements: tuple[Operand, ...]) -> None:
        self.elements = elements

    def children(self) -> tuple[Operand, ...]:
        return self.elements


class Pair(Operand):
    """``d|p``: a result and the predicate that comes with it; either may be a ``Sink``."""

    __slots__ = ("first", "second")

    def __init__(self, first: Operand, second: Operand) -> None:
        self.first = first
        self.second = second

    def children(self) -> tuple[Operand, ...]:
        return (self.first, self.second)


class Prefixed(Operand):
    """``!%p`` (a predicate negated) or ``-%r1.h0`` (a video operand negated)."""

    __slots__ = ("operand", "operator")

    def __init__(self, operator: str, operand: Operand) -> None:
        self.operator = operator
        self.operand = operand

    def children(self) -> tuple[Operand, ...]:
        return (self.operand,)


class Arguments(Operand):
    """``(a, b)``: the results or the arguments of a call."""

    __slots__ = ("elements",)

    def __init__(self, elements: tuple[Operand, ...]) -> None:
        self.elements = elements

    def children(self) -> tuple[Operand, ...]:
        return self.elements


class Generic(Operand):
    """``generic(symbol)`` in an initialiser: the symbol's generic address."""

    __slots__ = ("base", "offset")

    def __init__(self, base: Operand, offset: int = 0) -> None:
        self.base = base
        self.offset = offset

    def children(self) -> tuple[Operand, ...]:
        return (self.base,)


class Masked(Operand):
    """``0xff00(symbol)`` in an initialiser: one byte of an address."""

    __slots__ = ("mask", "operand")

    def __init__(self, mask: int, operand: Operand) -> None:
        self.mask = mask
        self.operand = operand

    def children(self) -> tuple[Operand, ...]:
        return (self.operand,)


class Difference(Operand):
    """``label - label`` in a debug section."""

    __slots__ = ("left", "right")

    def __init__(self, left: Operand, right: Operand) -> None:
        self.left = left
        self.right = right

    def children(self) -> tuple[Operand, ...]:
        return (self.left, self.right)


class InitialiserList(Operand):
    """``{…}`` after ``=``; nested for more than one dimension."""

    __slots__ = ("elements",)

    def __init__(self, elements: tuple[Operand, ...]) -> None:
        self.elements = elements

    def children(self) -> tuple[Operand, ...]:
        return self.elements


class Property(Operand):
    """``key = value`` in the initialiser of a texture or sampler reference."""

    __slots__ = ("name", "value")

    def __init__(self, name: str, value: str) -> None:
        self.name = name
        self.value = value
