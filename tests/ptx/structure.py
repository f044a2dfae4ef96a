"""An IR as plain data, so that two of them can be compared with a useful difference."""

from __future__ import annotations

from typing import Any

from ptxlint.ptx.ir import (
    Function,
    Label,
    Module,
    Opcode,
    Operand,
    Register,
    Statement,
    Symbol,
)


def structure(module: Module) -> list[Any]:
    """All of a module: statements with their places, operands with what they are bound to."""
    head = [module.version, module.targets, module.address_size, sorted(module.files.items())]
    return [*head, *[_data(item) for item in module.items], sorted(module.mnemonics)]


def _data(value: Any) -> Any:
    if isinstance(value, Register):
        return ("register", value.name, value.variable.start)
    if isinstance(value, Symbol):
        target = value.target
        place = (type(target).__name__, target.start) if target is not None else None
        return ("symbol", value.name, place)
    if isinstance(value, Opcode):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_data(item) for item in value]
    if isinstance(value, (Statement, Operand)) or type(value).__name__ in ("Guard", "Data"):
        fields = sorted(
            {slot for kind in type(value).__mro__ for slot in getattr(kind, "__slots__", ())}
        )
        if isinstance(value, Function):
            fields = [field for field in fields if field != "instructions"]
        if isinstance(value, Label):
            fields = [field for field in fields if field != "directive"]
        return (type(value).__name__, *[(name, _field(value, name)) for name in fields])
    return value


def _field(value: Any, name: str) -> Any:
    if name == "loc":
        return value.loc.start if value.loc is not None else None
    return _data(getattr(value, name))
