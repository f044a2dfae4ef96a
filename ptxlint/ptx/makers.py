"""Operand forms made into operands: once per shape into a maker, then filled in per statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Union

from . import constants
from .grammar import Form
from .ir import (
    Address,
    Arguments,
    Difference,
    Generic,
    InitialiserList,
    Integer,
    Masked,
    Offset,
    Operand,
    Pair,
    Prefixed,
    Subscript,
    Vector,
)

Leaves = Sequence[Operand]
Maker = Callable[[Leaves], Operand]


class Shape:
    """The operands of one masked statement. ``fill`` takes the operands its names stand for."""

    __slots__ = ("flat", "makers")

    def __init__(self, forms: Sequence[Form]) -> None:
        self.flat = list(forms) == list(range(len(forms)))
        self.makers: tuple[Union[int, Maker], ...] = tuple(compile_operand(f) for f in forms)

    def fill(self, leaves: Leaves) -> tuple[Operand, ...]:
        """The statement's operands."""
        return tuple(
            [leaves[m] if m.__class__ is int else m(leaves) for m in self.makers]  # type: ignore[operator]
        )


def compile_operand(form: Form) -> Union[int, Maker]:
    """A leaf's index, or a function that makes the operand from the leaves."""
    if isinstance(form, int):
        return form
    assert isinstance(form, list) and isinstance(form[0], str), form
    return _COMPILERS[form[0]](form[1:])


def maker(form: Form) -> Maker:
    """As ``compile_operand``, but always a function."""
    compiled = compile_operand(form)
    if isinstance(compiled, int):
        index = compiled
        return lambda leaves: leaves[index]
    return compiled


def _makers(forms: Sequence[Form]) -> list[Maker]:
    return [maker(form) for form in forms]


def _vector(children: list[Form]) -> Maker:
    if children == list(range(first := _index(children[0]), first + len(children))):
        last = first + len(children)
        return lambda leaves: Vector(tuple(leaves[first:last]))
    makers = _makers(children)
    return lambda leaves: Vector(tuple([make(leaves) for make in makers]))


def _index(form: Form) -> int:
    return form if isinstance(form, int) else -1


def _address(children: list[Form]) -> Maker:
    suffix = children[-1] if isinstance(children[-1], str) else ""
    base, rest = children[0], children[1 : len(children) - bool(suffix)]
    if not rest and not suffix:
        return _simple_address(base)
    make = _simple_address(base)
    rests = _makers(rest)

    def full(leaves: Leaves) -> Operand:
        address = make(leaves)
        assert isinstance(address, Address)
        address.rest = tuple([make_rest(leaves) for make_rest in rests])
        address.suffix = suffix
        return address

    return full


def _simple_address(base: Form) -> Maker:
    """``[base]``, ``[base+offset]`` or ``[number]``: one in three operands of real code."""
    if isinstance(base, int):
        only = base
        return lambda leaves: Address(leaves[only])
    assert isinstance(base, list)
    if base[0] == "literal":
        make_offset = _whole(base[1])
        return lambda leaves: Address(None, make_offset(leaves), True)
    name, offset = base[1], base[2]
    assert isinstance(name, int)
    if isinstance(offset, int):
        at = offset

        def based(leaves: Leaves) -> Operand:
            number = leaves[at]
            if number.__class__ is Integer:
                return Address(leaves[name], number.value, True)
            return Address(leaves[name], constants.whole(number), True)

        return based
    make_offset = _whole(offset)
    return lambda leaves: Address(leaves[name], make_offset(leaves), True)


def _whole(form: Form) -> Callable[[Leaves], int]:
    """The integer value of a constant expression."""
    if isinstance(form, int):
        index = form
        return lambda leaves: constants.whole(leaves[index])
    make = maker(form)
    return lambda leaves: constants.whole(make(leaves))


def _pair(children: list[Form]) -> Maker:
    first, second = _makers(children)
    return lambda leaves: Pair(first(leaves), second(leaves))


def _prefixed(children: list[Form]) -> Maker:
    operator, make = str(children[0]), maker(children[1])
    return lambda leaves: Prefixed(operator, make(leaves))


def _offset(children: list[Form]) -> Maker:
    base, offset = maker(children[0]), _whole(children[1])
    return lambda leaves: Offset(base(leaves), offset(leaves))


def _subscript(children: list[Form]) -> Maker:
    base, index = maker(children[0]), _whole(children[1])
    return lambda leaves: Subscript(base(leaves), index(leaves))


def _arguments(children: list[Form]) -> Maker:
    makers = _makers(children)
    return lambda leaves: Arguments(tuple([make(leaves) for make in makers]))


def _list(children: list[Form]) -> Maker:
    makers = _makers(children)
    return lambda leaves: InitialiserList(tuple([make(leaves) for make in makers]))


def _generic(children: list[Form]) -> Maker:
    base = maker(children[0])
    offset = _whole(children[1]) if len(children) > 1 else lambda _: 0
    return lambda leaves: Generic(base(leaves), offset(leaves))


def _masked(children: list[Form]) -> Maker:
    mask, operand = _whole(children[0]), maker(children[1])
    return lambda leaves: Masked(mask(leaves), operand(leaves))


def _difference(children: list[Form]) -> Maker:
    left, right = _makers(children)
    return lambda leaves: Difference(left(leaves), right(leaves))


def _binary(children: list[Form]) -> Maker:
    left, operator, right = maker(children[0]), str(children[1]), maker(children[2])
    return lambda leaves: constants.binary(operator, left(leaves), right(leaves))


def _unary(children: list[Form]) -> Maker:
    operator, make = str(children[0]), maker(children[1])
    return lambda leaves: constants.unary(operator, make(leaves))


def _cast(children: list[Form]) -> Maker:
    type_, make = str(children[0]), maker(children[1])
    return lambda leaves: constants.cast(type_, make(leaves))


def _ternary(children: list[Form]) -> Maker:
    condition, yes, no = maker(children[0]), _whole(children[1]), _whole(children[2])
    return lambda leaves: Integer((yes if constants.truth(condition(leaves)) else no)(leaves))


_COMPILERS: dict[str, Callable[[list[Form]], Maker]] = {
    "vector_operand": _vector,
    "address": _address,
    "pair": _pair,
    "prefixed": _prefixed,
    "offset": _offset,
    "subscript": _subscript,
    "arguments": _arguments,
    "initial_list": _list,
    "generic": _generic,
    "masked": _masked,
    "data_difference": _difference,
    "binary": _binary,
    "unary": _unary,
    "cast": _cast,
    "ternary": _ternary,
}
