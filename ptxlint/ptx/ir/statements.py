"""Statements: anything with a place of its own in the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Union

from .operands import Operand


class Statement:
    """Anything with a place of its own in the text."""

    __slots__ = ("end", "start")
    start: int
    end: int


class Opcode:
    """``ld.global.v4.f32``: mnemonic and modifiers as written; one object per spelling."""

    __slots__ = ("mnemonic", "modifiers")

    def __init__(self, mnemonic: str, modifiers: tuple[str, ...]) -> None:
        self.mnemonic = mnemonic
        self.modifiers = modifiers

    def __str__(self) -> str:
        return "".join((self.mnemonic, *("." + modifier for modifier in self.modifiers)))


class Guard:
    """``@p`` or ``@!p`` before an instruction."""

    __slots__ = ("negated", "register")

    def __init__(self, register: Operand, negated: bool) -> None:
        self.register = register
        self.negated = negated


class Instruction(Statement):
    """One instruction; ``loc`` is the ``.loc`` in force."""

    __slots__ = ("guard", "loc", "opcode", "operands")

    def __init__(
        self,
        opcode: Opcode,
        guard: Guard | None,
        operands: tuple[Operand, ...],
        start: int,
        end: int,
        loc: Loc | None,
    ) -> None:
        self.opcode = opcode
        self.guard = guard
        self.operands = operands
        self.start = start
        self.end = end
        self.loc = loc


class Label(Statement):
    """``name:``; ``directive`` is the jump table, call table or prototype that it names."""

    __slots__ = ("directive", "name")

    def __init__(self, name: str, start: int, end: int) -> None:
        self.name = name
        self.start = start
        self.end = end
        self.directive: Targets | Prototype | None = None


class Loc(Statement):
    """``.loc file line column``, with the function and place it was inlined into."""

    __slots__ = ("column", "file", "function", "function_offset", "inlined_at", "line")

    def __init__(
        self,
        file: int,
        line: int,
        column: int,
        function: Operand | None,
        function_offset: int,
        inlined_at: tuple[int, int, int] | None,
        start: int,
        end: int,
    ) -> None:
        self.file = file
        self.line = line
        self.column = column
        self.function = function
        self.function_offset = function_offset
        self.inlined_at = inlined_at
        self.start = start
        self.end = end


class Variable(Statement):
    """A declared register, parameter or memory object.

    ``space`` is ``reg``, ``local``, ``shared``, ``param``, ``global``, ``const`` or ``tex``;
    ``count`` is N of a register range ``name<N>``; ``dimensions`` are array sizes (None where
    left open); ``align`` is what the declaration says, in bytes; ``pointer`` is ``.ptr`` of a
    kernel parameter as (space or "", align or None).
    """

    __slots__ = (
        "align",
        "attributes",
        "bank",
        "count",
        "dimensions",
        "initialiser",
        "linkage",
        "name",
        "pointer",
        "space",
        "type",
        "vector",
    )

    def __init__(self, name: str, space: str, type: str, start: int, end: int) -> None:
        self.name = name
        self.space = space
        self.type = type
        self.start = start
        self.end = end
        self.linkage = ""
        self.align: int | None = None
        self.vector = 1
        self.count: int | None = None
        self.dimensions: tuple[int | None, ...] = ()
        self.initialiser: Operand | None = None
        self.pointer: tuple[str, int | None] | None = None
        self.bank: int | None = None
        self.attributes: tuple[tuple[str, tuple[int, ...]], ...] = ()


class Declaration(Statement):
    """One declaring statement and the variables of it."""

    __slots__ = ("variables",)

    def __init__(self, variables: tuple[Variable, ...], start: int, end: int) -> None:
        self.variables = variables
        self.start = start
        self.end = end


class Directive(Statement):
    """``.maxntid 128, 1, 1`` and its like: a name and what follows it, by value."""

    __slots__ = ("arguments", "name")

    def __init__(self, name: str, arguments: tuple[int | str, ...], start: int, end: int) -> None:
        self.name = name
        self.arguments = arguments
        self.start = start
        self.end = end


class Targets(Statement):
    """``.branchtargets`` or ``.calltargets``: the names that an indirect jump or call may reach."""

    __slots__ = ("kind", "names")

    def __init__(self, kind: str, names: tuple[Operand, ...], start: int, end: int) -> None:
        self.kind = kind
        self.names = names
        self.start = start
        self.end = end


class Prototype(Statement):
    """``.callprototype``: the shape of the functions that an indirect call may reach."""

    __slots__ = ("directives", "name", "parameters", "returns")

    def __init__(
        self,
        name: str,
        returns: tuple[Variable, ...],
        parameters: tuple[Variable, ...],
        directives: tuple[Directive, ...],
        start: int,
        end: int,
    ) -> None:
        self.name = name
        self.returns = returns
        self.parameters = parameters
        self.directives = directives
        self.start = start
        self.end = end


class Block(Statement):
    """``{ … }``: a scope of its own for names."""

    __slots__ = ("statements",)

    def __init__(self, start: int) -> None:
        self.statements: list[Statement] = []
        self.start = start
        self.end = start


class Section(Statement):
    """``.section .debug_info { … }``: rows of data and labels."""

    __slots__ = ("items", "name")

    def __init__(self, name: str, items: tuple[SectionItem, ...], start: int, end: int) -> None:
        self.name = name
        self.items = items
        self.start = start
        self.end = end


class Data:
    """One row of a section: ``.b8 1, 2``. Rows of the same text are one object."""

    __slots__ = ("type", "values")

    def __init__(self, type: str, values: tuple[Operand, ...]) -> None:
        self.type = type
        self.values = values


class Function(Statement):
    """An ``.entry`` (a kernel) or a ``.func``; ``body`` is None for a declaration.

    ``instructions`` are all of the body in order, those of nested scopes included.
    """

    __slots__ = (
        "attributes",
        "body",
        "directives",
        "instructions",
        "is_kernel",
        "linkage",
        "name",
        "parameters",
        "returns",
    )

    def __init__(self, name: str, is_kernel: bool, start: int, end: int) -> None:
        self.name = name
        self.is_kernel = is_kernel
        self.start = start
        self.end = end
        self.linkage = ""
        self.returns: tuple[Variable, ...] = ()
        self.parameters: tuple[Variable, ...] = ()
        self.directives: tuple[Directive, ...] = ()
        self.attributes: tuple[tuple[str, tuple[int, ...]], ...] = ()
        self.body: Block | None = None
        self.instructions: list[Instruction] = []

    def directive(self, name: str) -> Directive | None:
        """The first performance-tuning directive of that name (without the dot), or None."""
        return next((d for d in self.directives if d.name == name), None)

    def label_places(self) -> dict[Label, int]:
        """The index of the instruction that each label stands before; at the end, their number."""
        places: dict[Label, int] = {}
        count = 0

        def visit(statements: list[Statement]) -> None:
            nonlocal count
            for statement in statements:
                kind = type(statement)  # cheaper than isinstance, and most are instructions
                if kind is Instruction:
                    count += 1
                elif isinstance(statement, Label):
                    places[statement] = count
                elif isinstance(statement, Block):
                    visit(statement.statements)

        if self.body is not None:
            visit(self.body.statements)
        return places

    def walk(self) -> Iterator[Statement]:
        """All statements of the body in order, a block before what is in it."""
        stack = [iter(self.body.statements)] if self.body is not None else []
        while stack:
            for statement in stack[-1]:
                yield statement
                if isinstance(statement, Block):
                    stack.append(iter(statement.statements))
                    break
            else:
                stack.pop()


SymbolTarget = Union[Variable, Function, Label]
SectionItem = Union[Data, Label]
