"""A function's normal form: its statements as lines whose names are still to be numbered.

Left out of it: names of registers, labels, parameters and objects that no other file can see,
comments and white space, line information, the order and the counts of ``.reg``, labels that
nothing jumps to, braces, and how a constant is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Union

from ..ptx.ir import (
    Address,
    Arguments,
    Declaration,
    Difference,
    Directive,
    Element,
    Float,
    Function,
    Generic,
    InitialiserList,
    Instruction,
    Integer,
    Label,
    Masked,
    Offset,
    Operand,
    Pair,
    Prefixed,
    Property,
    Prototype,
    Register,
    Sink,
    SpecialRegister,
    Statement,
    Subscript,
    Symbol,
    Targets,
    Variable,
    Vector,
)
from .constant_forms import UNTYPED, constant_text, integer_value, long_list, types_of

_SEEN = frozenset({"visible", "weak", "common", "extern"})
_FILE_NAME = re.compile(r"(\d+)(?=(_GLOBAL__N_|_INTERNAL_)_?[0-9a-f]{8}_)")


class Name(NamedTuple):
    """A name that a text may choose: what it is a name of, and of which one."""

    kind: str
    of: object


Piece = Union[str, Name]
Line = tuple[Piece, ...]


class Normal(NamedTuple):
    """A function's normal form: what it is, what it declares and names, what it does.

    ``fixed`` spells the names that are not numbered by use.
    """

    head: list[Line]
    objects: list[Line]
    body: list[Line]
    fixed: dict[Name, str]


def normal_form(function: Function) -> Normal:
    """The normal form of a function."""
    return _Writer(function).normal()


def stable_name(name: str) -> str:
    """A mangled name without what the compiler made of the source file's name in it."""
    parts = []
    at = 0
    for match in _FILE_NAME.finditer(name):
        end = match.end() + int(match[1])
        if match.start() >= at and end <= len(name):
            parts += [name[at : match.start()], match[2]]
            at = end
    return "".join(parts) + name[at:]


def directive_text(directive: Directive) -> str:
    """``.maxntid 128, 1, 1``."""
    return f".{directive.name} {', '.join(map(str, directive.arguments))}".rstrip()


def _type_words(variable: Variable) -> str:
    """A declaration's words up to the name."""
    words = [variable.linkage, variable.space]
    words += [f"[{variable.bank}]"] if variable.bank is not None else []
    words += [f"{name}{values or ''}" for name, values in variable.attributes]
    words += [f"align {variable.align}"] if variable.align is not None else []
    words += [f"v{variable.vector}"] if variable.vector > 1 else []
    words.append(variable.type)
    if variable.pointer is not None:
        space, align = variable.pointer
        words += ["ptr", space, f"align {align}" if align is not None else ""]
    shape = "".join(f"[{'' if size is None else size}]" for size in variable.dimensions)
    return " ".join(f".{word}" for word in words if word) + shape


def _prototype(prototype: Prototype) -> str:
    """The types of a prototype: its names mean nothing."""
    returns, parameters = (
        ", ".join(map(_type_words, variables))
        for variables in (prototype.returns, prototype.parameters)
    )
    words = [f".callprototype ({returns}) ({parameters})"]
    return " ".join([*words, *map(directive_text, prototype.directives)])


class _Writer:
    """Writes one function's statements as lines."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.out: list[Piece] = []
        self.types = UNTYPED
        self.used: dict[Variable, Name] = {}
        self.fixed: dict[Name, str] = {}
        for kind, variables in (("return", function.returns), ("param", function.parameters)):
            for position, variable in enumerate(variables):
                name = self.used[variable] = Name(kind, variable)
                self.fixed[name] = f"{kind}{position}"

    def normal(self) -> Normal:
        """All lines."""
        body: list[Line] = []
        declared: list[Variable] = []
        targets: set[Name] = set()
        for statement in self.function.walk():
            if isinstance(statement, Declaration):
                declared += [v for v in statement.variables if v.space != "reg"]
            elif isinstance(statement, Label):
                body.append((Name("L", statement), ":"))
            elif line := self._line(statement):
                body.append(line)
                targets.update(p for p in line if isinstance(p, Name) and p.kind == "L")
        body = [line for line in body if line[1:] != (":",) or line[0] in targets]
        return Normal(self._head(), self._objects(declared), body, self.fixed)

    def _head(self) -> list[Line]:
        function = self.function
        kind = ".entry" if function.is_kernel else ".func"
        texts = [f"{function.linkage} {kind}".strip()]
        texts += sorted(f"{name}{values or ''}" for name, values in function.attributes)
        texts += sorted(map(directive_text, function.directives))
        return [(text,) for text in texts]

    def _objects(self, declared: list[Variable]) -> list[Line]:
        """What is declared, by first use; then, by their text, what nothing uses."""
        lines = []
        done: set[Variable] = set()
        while waiting := [v for v in self.used if v not in done]:
            for variable in waiting:
                done.add(variable)
                lines.append((self.used[variable], ": ", *self._declaration(variable)))
        rest = [self._declaration(variable) for variable in declared if variable not in done]
        unused = [("unused: ", *line) for line in rest]
        return lines + sorted(unused, key=lambda line: [p for p in line if isinstance(p, str)])

    def _declaration(self, variable: Variable) -> Line:
        self.out, self.types = [_type_words(variable)], types_of((variable.type,))
        if variable.initialiser is not None:
            self.out.append(" = ")
            self.write(variable.initialiser)
        return tuple(self.out)

    # --- statements -----------------------------------------------------------------------------

    def _line(self, statement: Statement) -> Line:
        """One statement; empty for what says nothing."""
        if isinstance(statement, Directive):
            pragma = statement.name not in ("dwarf", "file")
            return (directive_text(statement),) if pragma else ()
        self.out, self.types = [], UNTYPED
        if isinstance(statement, Targets):
            self._list(f".{statement.kind} ", statement.names, "")
            return tuple(self.out)
        if isinstance(statement, Prototype):
            return (_prototype(statement),)
        if not isinstance(statement, Instruction):
            return ()
        if statement.guard is not None:
            self.out.append("@!" if statement.guard.negated else "@")
            self.write(statement.guard.register)
            self.out.append(" ")
        self.types = types_of(statement.opcode.modifiers)
        self._list(f"{statement.opcode} ", statement.operands, "")
        return tuple(self.out)

    # --- operands -------------------------------------------------------------------------------

    def write(self, operand: Operand) -> None:
        """Append an operand."""
        _OPERANDS[type(operand)](self, operand)

    def _list(self, before: str, operands: Iterable[Operand], after: str) -> None:
        separator = before
        for operand in operands:
            self.out.append(separator)
            self.write(operand)
            separator = ", "
        self.out.append(after if separator != before else before.rstrip() + after)

    def _register(self, operand: Register) -> None:
        variable = operand.variable
        vector = f"v{variable.vector}" if variable.vector > 1 else ""
        self.out.append(Name(f"%{vector}{variable.type}_", (variable, operand.name)))

    def _symbol(self, operand: Symbol) -> None:
        target = operand.target
        if isinstance(target, Label):
            self.out.append(Name("L", target))
        elif isinstance(target, Variable):
            self.out.append(self._variable(target))
        else:
            itself = target is self.function
            self.out.append("itself" if itself else stable_name(operand.name))

    def _variable(self, variable: Variable) -> Name:
        known = self.used.get(variable)
        if known is None:
            public = variable.linkage in _SEEN and variable.space != "shared"
            kind = "argument" if variable.space == "param" else variable.space
            known = self.used[variable] = Name(kind, variable)
            if public:
                self.fixed[known] = stable_name(variable.name)
        return known

    def _address(self, operand: Address) -> None:
        self.out.append("[")
        if operand.base is not None:
            self.write(operand.base)
        if operand.offset or operand.base is None:
            self.out.append(f"{integer_value(operand.offset):+d}")
        if operand.rest:
            self._list(", ", operand.rest, "")
        self.out.append(f"]{operand.suffix}")

    def _plus(self, base: Operand, offset: int) -> None:
        self.write(base)
        if offset:
            self.out.append(f"{integer_value(offset):+d}")

    def _initialiser(self, operand: InitialiserList) -> None:
        text = long_list(operand, self.types)
        if text is None:
            self._list("{", operand.elements, "}")
        else:
            self.out.append(text)

    def _constant(self, operand: Integer | Float) -> None:
        self.out.append(constant_text(operand, self.types))

    def _around(self, *pieces: str | Operand) -> None:
        for piece in pieces:
            if isinstance(piece, str):
                self.out.append(piece)
            else:
                self.write(piece)


_OPERANDS: dict[type, Callable[[_Writer, Any], None]] = {
    Register: _Writer._register,
    SpecialRegister: lambda to, o: to.out.append(o.name),
    Symbol: _Writer._symbol,
    Integer: _Writer._constant,
    Float: _Writer._constant,
    Sink: lambda to, _: to.out.append("_"),
    Element: lambda to, o: to._around(o.base, f".{o.selector}"),
    Address: _Writer._address,
    Offset: lambda to, o: to._plus(o.base, o.offset),
    Subscript: lambda to, o: to._around(o.base, f"[{o.index}]"),
    Vector: lambda to, o: to._list("{", o.elements, "}"),
    Pair: lambda to, o: to._around(o.first, "|", o.second),
    Prefixed: lambda to, o: to._around(o.operator, o.operand),
    Arguments: lambda to, o: to._list("(", o.elements, ")"),
    Generic: lambda to, o: to._around("generic(", o.base, f"){integer_value(o.offset):+d}"),
    Masked: lambda to, o: to._around(f"0x{o.mask:X}(", o.operand, ")"),
    Difference: lambda to, o: to._around(o.left, "-", o.right),
    InitialiserList: _Writer._initialiser,
    Property: lambda to, o: to.out.append(f"{o.name} = {o.value}"),
}
