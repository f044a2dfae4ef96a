"""Declared memory objects: how large they are and where they may lie."""

from __future__ import annotations

from math import prod

from ..isa.types import SIZES
from ..ptx.ir import Block, Declaration, Function, Variable
from .facts import Facts


def element_size(variable: Variable) -> int | None:
    """Bytes of one element, vectors as a whole; None for opaque types (texref and its like)."""
    size = SIZES.get(variable.type)
    return None if size is None else size * variable.vector


def size_of(variable: Variable) -> int | None:
    """Bytes of the whole object; None where a dimension is left open or the type is opaque."""
    element = element_size(variable)
    if element is None or any(dimension is None for dimension in variable.dimensions):
        return None
    return element * prod(dimension or 0 for dimension in variable.dimensions)


def alignment_of(variable: Variable) -> int:
    """The multiple of bytes that its address is sure to be.

    ``.align`` raises an object's alignment above that of its type, and never lowers it:
    ptxas 13.5 places ``.align 1 .v4 .f32`` at a multiple of 16.
    """
    return max(variable.align or 1, element_size(variable) or 1)


def local_objects(function: Function, facts: Facts) -> bool:
    """Whether a function may have objects in local memory: by its text, at a glance."""
    return facts.module.source.text.find(".local", function.start, function.end) >= 0


def declarations(function: Function, facts: Facts) -> list[Variable]:
    """The variables that a function's body declares, those of its nested scopes included."""
    found: list[Variable] = []
    blocks = [] if function.body is None else [function.body]
    while blocks:
        for statement in blocks.pop().statements:
            if isinstance(statement, Declaration):
                found += statement.variables
            elif isinstance(statement, Block):
                blocks.append(statement)
    return found
