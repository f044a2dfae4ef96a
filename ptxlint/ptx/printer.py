"""IR back to PTX text, from the IR's fields alone. What is printed assembles to the same code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from .ir import (
    Address,
    Arguments,
    Block,
    Data,
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
    Loc,
    Masked,
    Module,
    Offset,
    Operand,
    Pair,
    Prefixed,
    Property,
    Prototype,
    Register,
    Section,
    Sink,
    SpecialRegister,
    Statement,
    Subscript,
    Symbol,
    Targets,
    Variable,
    Vector,
)

_SIGN = 1 << 63


def print_module(module: Module) -> str:
    """The module as PTX text."""
    return "\n".join(_module_lines(module)) + "\n"


def print_statement(statement: Statement) -> str:
    """One statement, without what is inside it if it is a block or a function."""
    return _STATEMENTS[type(statement)](statement)


def print_operand(operand: Operand) -> str:
    """One operand."""
    return _OPERANDS[type(operand)](operand)


def _module_lines(module: Module) -> Iterator[str]:
    for item in module.items:
        yield print_statement(item)
        if isinstance(item, Function) and item.body is not None:
            yield "{"
            yield from _body_lines(item)
            yield "}"


def _body_lines(function: Function) -> Iterator[str]:
    """The statements of a body; a stack, since scopes may nest deeper than Python's calls."""
    assert function.body is not None
    stack = [iter(function.body.statements)]
    while stack:
        for statement in stack[-1]:
            if isinstance(statement, Block):
                yield "{"
                stack.append(iter(statement.statements))
                break
            yield "\t" + print_statement(statement)
        else:
            stack.pop()
            if stack:
                yield "}"


# --- operands -----------------------------------------------------------------------------------


def _named(operand: Any) -> str:
    return str(operand.name)


def _join(operands: Sequence[Operand]) -> str:
    return ", ".join([print_operand(operand) for operand in operands])


def _integer(operand: Integer) -> str:
    value = operand.value
    if value >= _SIGN:
        return f"0x{value:X}U"
    return f"{value}U" if operand.unsigned else str(value)


def _float(operand: Float) -> str:
    return f"0f{operand.bits:08X}" if operand.width == 32 else f"0d{operand.bits:016X}"


def _address(operand: Address) -> str:
    if operand.base is None:
        inside = str(operand.offset)
    else:
        inside = print_operand(operand.base)
        if operand.has_offset:
            inside += f"+{operand.offset}"
    if operand.rest:
        inside += ", " + _join(operand.rest)
    return f"[{inside}]{operand.suffix}"


def _plus(base: Operand, offset: int) -> str:
    text = print_operand(base)
    return f"{text}+{offset}" if offset else text


def _generic(operand: Generic) -> str:
    text = f"generic({print_operand(operand.base)})"
    return f"{text}+{operand.offset}" if operand.offset else text


_OPERANDS: dict[type, Callable[[Any], str]] = {
    Register: _named,
    SpecialRegister: _named,
    Symbol: _named,
    Integer: _integer,
    Float: _float,
    Sink: lambda _: "_",
    Element: lambda o: f"{print_operand(o.base)}.{o.selector}",
    Address: _address,
    Offset: lambda o: f"{print_operand(o.base)}+{o.offset}",
    Subscript: lambda o: f"{print_operand(o.base)}[{o.index}]",
    Vector: lambda o: "{" + _join(o.elements) + "}",
    Pair: lambda o: f"{print_operand(o.first)}|{print_operand(o.second)}",
    Prefixed: lambda o: o.operator + print_operand(o.operand),
    Arguments: lambda o: f"({_join(o.elements)})",
    Generic: _generic,
    Masked: lambda o: f"0x{o.mask:X}({print_operand(o.operand)})",
    Difference: lambda o: f"{print_operand(o.left)}-{print_operand(o.right)}",
    InitialiserList: lambda o: "{" + _join(o.elements) + "}",
    Property: lambda o: f"{o.name} = {o.value}",
}


# --- statements ---------------------------------------------------------------------------------


def _instruction(instruction: Instruction) -> str:
    guard = ""
    if instruction.guard is not None:
        negated = "!" if instruction.guard.negated else ""
        guard = f"@{negated}{print_operand(instruction.guard.register)} "
    operands = _join(instruction.operands)
    return (
        f"{guard}{instruction.opcode} {operands};" if operands else f"{guard}{instruction.opcode};"
    )


def _loc(loc: Loc) -> str:
    text = f".loc {loc.file} {loc.line} {loc.column}"
    if loc.function is None or loc.inlined_at is None:
        return text
    file, line, column = loc.inlined_at
    name = _plus(loc.function, loc.function_offset)
    return f"{text}, function_name {name}, inlined_at {file} {line} {column}"


def _declaration(declaration: Declaration) -> str:
    first = declaration.variables[0]
    names = ", ".join([_declarator(variable) for variable in declaration.variables])
    return f"{_type_words(first)} {names};"


def _type_words(variable: Variable) -> str:
    words = ["." + variable.linkage] if variable.linkage else []
    bank = f"[{variable.bank}]" if variable.bank is not None else ""
    words.append(f".{variable.space}{bank}")
    words += _attributes(variable.attributes)
    if variable.align is not None:
        words.append(f".align {variable.align}")
    if variable.vector > 1:
        words.append(f".v{variable.vector}")
    words.append("." + variable.type)
    if variable.pointer is not None:
        space, align = variable.pointer
        words.append(".ptr")
        words += ["." + space] if space else []
        words += [f".align {align}"] if align is not None else []
    return " ".join(words)


def _declarator(variable: Variable) -> str:
    text = variable.name
    if variable.count is not None:
        text += f"<{variable.count}>"
    text += "".join([f"[{'' if d is None else d}]" for d in variable.dimensions])
    if variable.initialiser is not None:
        text += " = " + print_operand(variable.initialiser)
    return text


def _attributes(attributes: tuple[tuple[str, tuple[int, ...]], ...]) -> list[str]:
    if not attributes:
        return []
    inside = [
        f".{name}({', '.join(map(str, values))})" if values else f".{name}"
        for name, values in attributes
    ]
    return [f".attribute({', '.join(inside)})"]


def _directive(directive: Directive) -> str:
    arguments = directive.arguments
    if directive.name == "pragma":
        return ".pragma " + ", ".join([f'"{text}"' for text in arguments]) + ";"
    if directive.name == "dwarf":
        return str(arguments[0])
    if directive.name == "file":
        number, name, *rest = arguments
        return f'.file {number} "{name}"' + "".join([f", {value}" for value in rest])
    words = f".{directive.name} " + ", ".join(map(str, arguments))
    return words.rstrip() + (";" if directive.name == "alias" else "")


def _parameters(variables: tuple[Variable, ...]) -> str:
    return "(" + ", ".join([f"{_type_words(v)} {_declarator(v)}" for v in variables]) + ")"


def _function(function: Function) -> str:
    words = ["." + function.linkage] if function.linkage else []
    words.append(".entry" if function.is_kernel else ".func")
    words += _attributes(function.attributes)
    if function.returns:
        words.append(_parameters(function.returns))
    words.append(function.name)
    words.append(_parameters(function.parameters))
    words += [_directive(directive) for directive in function.directives]
    return " ".join(words) + (";" if function.body is None else "")


def _prototype(prototype: Prototype) -> str:
    words = [".callprototype"]
    if prototype.returns:
        words.append(_parameters(prototype.returns))
    words += [prototype.name, _parameters(prototype.parameters)]
    words += [_directive(directive) for directive in prototype.directives]
    return " ".join(words) + ";"


def _section(section: Section) -> str:
    rows = [
        f"\t.{row.type} {_join(row.values)}" if isinstance(row, Data) else f"{row.name}:"
        for row in section.items
    ]
    return "\n".join([f".section {section.name}", "{", *rows, "}"])


_STATEMENTS: dict[type, Callable[[Any], str]] = {
    Instruction: _instruction,
    Label: lambda label: label.name + ":",
    Loc: _loc,
    Declaration: _declaration,
    Variable: lambda variable: f"{_type_words(variable)} {_declarator(variable)};",
    Directive: _directive,
    Targets: lambda targets: f".{targets.kind} {_join(targets.names)};",
    Prototype: _prototype,
    Block: lambda _: "{ … }",
    Section: _section,
    Function: _function,
}
