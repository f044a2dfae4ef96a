"""Shared and local variables that are only stored to."""

from __future__ import annotations

from ...ptx.ir import Address, Function, Instruction, Module, Operand, Symbol, Variable
from ..facts import Facts

_SPACES = frozenset({"shared", "local"})


class Mentions:
    """The plain stores straight to a variable; ``other`` is whether anything else names it."""

    __slots__ = ("function", "other", "stores", "variable")

    def __init__(self, variable: Variable) -> None:
        self.variable = variable
        self.function: Function | None = None
        self.stores: list[Instruction] = []
        self.other = False


def dead_stores(function: Function, facts: Facts) -> list[tuple[Variable, list[Instruction]]]:
    """Variables that nothing but this function's stores names, and those stores."""
    return [
        (each.variable, each.stores)
        for each in facts.of_module(_mentions).values()
        if each.function is function and each.stores and not each.other
    ]


def _mentions(module: Module, facts: Facts) -> dict[int, Mentions]:
    found: dict[int, Mentions] = {}
    if module.parsed != "full":
        return found
    for function in module.functions:
        for instruction in function.instructions:
            for place, operand in enumerate(instruction.operands):
                direct = (
                    instruction.opcode.mnemonic == "st"
                    and "volatile" not in instruction.opcode.modifiers
                    and place == 0
                    and isinstance(operand, Address)
                )
                _enter(found, operand, instruction, function, direct)
    for variable in module.variables:
        if variable.initialiser is not None:
            _taken(found, variable.initialiser)
    return found


def _enter(
    found: dict[int, Mentions],
    operand: Operand,
    instruction: Instruction,
    function: Function,
    direct: bool,
) -> None:
    if isinstance(operand, Symbol):
        if (each := _of(found, operand)) is None:
            return
        each.other |= not direct or each.function not in (None, function)
        each.function = function
        if direct:
            each.stores.append(instruction)
        return
    for child in operand.children():
        _enter(found, child, instruction, function, direct)


def _taken(found: dict[int, Mentions], operand: Operand) -> None:
    if isinstance(operand, Symbol) and (each := _of(found, operand)) is not None:
        each.other = True
    for child in operand.children():
        _taken(found, child)


def _of(found: dict[int, Mentions], symbol: Symbol) -> Mentions | None:
    variable = symbol.target
    if not isinstance(variable, Variable) or variable.space not in _SPACES or variable.linkage:
        return None
    return found.setdefault(id(variable), Mentions(variable))
