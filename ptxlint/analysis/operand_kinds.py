"""What an operand is, as far as its legality depends on it: a key that many operands share."""

from __future__ import annotations

from typing import Union

from ..isa.special_registers import type_of
from ..ptx.ir import (
    Address,
    Element,
    Float,
    Function,
    Integer,
    Label,
    Offset,
    Operand,
    Pair,
    Prefixed,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Variable,
    Vector,
)

# A register is its type (`u32`); `i`, `f`, `d` numbers; `_` a sink; `fn`, `label`; `?` unknown.
# A tuple begins with what it is: `m` a variable and `+` one with an offset (space, role), `s` a
# special register, `w` a vector register, `{` a vector, `[` an address, `|` a pair, `!` and `-`.
Kind = Union[str, tuple["Kind", ...]]

NUMBERS = frozenset("ifd")
UNKNOWN = "?"
UNRESOLVED = "??"  # a name that is declared nowhere
_PLACES = frozenset({"%tid", "%ntid", "%ctaid", "%nctaid"})


class Kinds(dict[Operand, Kind]):
    """The kinds of one function's operands, each found at its first use."""

    def __init__(self, function: Function) -> None:
        self._roles = {id(v): "in" for v in function.parameters}
        self._roles.update((id(v), "out") for v in function.returns)

    def __missing__(self, operand: Operand) -> Kind:
        kind = self[operand] = self._kind(operand)
        return kind

    def _kind(self, operand: Operand) -> Kind:
        what = type(operand)
        if what is Register:
            variable = operand.variable  # type: ignore[attr-defined]
            if variable.vector > 1:
                return ("w", str(variable.vector), variable.type)
            return str(variable.type)
        if what is Integer:
            return "i"
        if what is Address:
            return self._address(operand)  # type: ignore[arg-type]
        if isinstance(operand, Float):
            return "f" if operand.width == 32 else "d"
        if isinstance(operand, Vector):
            return ("{", *map(self.__getitem__, operand.elements))
        if isinstance(operand, Pair):
            return ("|", self[operand.first], self[operand.second])
        if isinstance(operand, Prefixed):
            return (operand.operator, self[operand.operand])
        if isinstance(operand, Sink):
            return "_"
        return self._named(operand)

    def _named(self, operand: Operand) -> Kind:
        if isinstance(operand, Symbol):
            return self._symbol(operand, "m")
        if isinstance(operand, SpecialRegister):
            return _special(operand.name)
        if isinstance(operand, Offset) and isinstance(operand.base, Symbol):
            return self._symbol(operand.base, "+")
        if isinstance(operand, Element) and isinstance(operand.base, Register):
            variable = operand.base.variable
            return variable.type if variable.vector > 1 else UNKNOWN
        return UNKNOWN

    def _symbol(self, symbol: Symbol, sort: str) -> Kind:
        target = symbol.target
        if isinstance(target, Variable):
            return (sort, target.space, self._roles.get(id(target), ""))
        if isinstance(target, Label):
            return "label" if sort == "m" else UNKNOWN
        return UNRESOLVED if target is None else "fn"

    def _address(self, address: Address) -> Kind:
        base = "i" if address.base is None else self[address.base]
        return ("[", base, str(len(address.rest)), address.suffix)


def _special(name: str) -> Kind:
    base, _, component = name.partition(".")
    if base in _PLACES:
        return ("s", "tid" if component else "tids")
    if name == "%gridid":  # read at any width: it was 16, then 32, then 64 bits wide
        return UNKNOWN
    kind = type_of(name)
    width = {"u32": "s32", "b32": "s32", "u64": "s64", "b64": "s64"}.get(kind or "")
    return ("s", width) if width else UNKNOWN
