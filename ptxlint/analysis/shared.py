"""Which shared objects a kernel holds for as long as a block of it runs."""

from __future__ import annotations

from collections.abc import Iterator

from ..ptx.ir import Address, Function, Operand, Register, Symbol, SymbolTarget, Variable
from .facts import Facts
from .named import named_operands
from .objects import alignment_of, declarations, size_of


def static_shared_objects(kernel: Function, facts: Facts) -> list[Variable]:
    """The static shared objects that ptxas lays out for ``kernel``, in the order of the text.

    As ptxas 13.5 counts: every object that the body declares, used or not; every object of the
    module that an instruction names, reachable or not; the same of each function that is called
    or whose address is taken. Extern objects are the launch's, and not counted.
    """
    found: dict[int, Variable] = {}
    seen: set[int] = set()
    waiting: list[SymbolTarget] = [kernel]
    while waiting:
        target = waiting.pop()
        if id(target) in seen:
            continue
        seen.add(id(target))
        if isinstance(target, Variable):
            if target.space == "shared" and target.linkage != "extern":
                found[id(target)] = target
            elif target.initialiser is not None:  # a table of functions
                waiting += _targets(target.initialiser)
        elif isinstance(target, Function) and target.body is not None:
            waiting += [v for v in facts.once(target, declarations) if v.space == "shared"]
            waiting += facts.once(target, named_symbols)
    return sorted(found.values(), key=lambda variable: variable.start)


def named_symbols(function: Function, facts: Facts) -> list[SymbolTarget]:
    """The objects and functions that a function's instructions name."""
    named: dict[int, SymbolTarget] = {}
    for operand in facts.once(function, named_operands):
        if type(operand) is Address and type(operand.base) is Register and not operand.rest:
            continue
        for target in _targets(operand):
            named[id(target)] = target
    return list(named.values())


def static_shared_bytes(kernel: Function, objects: list[Variable]) -> int:
    """Bytes that ptxas gives ``objects``, those of ``kernel``, or less; never more.

    Exact where the kernel's body declares them all: then they lie in the order of the text.
    Otherwise the padding between them is left out, for the order is not known.
    """
    if not all(kernel.start <= variable.start < kernel.end for variable in objects):
        return sum(size_of(variable) or 0 for variable in objects)
    at = 0
    for variable in objects:
        align = alignment_of(variable)
        at = -(-at // align) * align + (size_of(variable) or 0)
    return at


def _targets(operand: Operand) -> Iterator[SymbolTarget]:
    if isinstance(operand, Symbol):
        if operand.target is not None:
            yield operand.target
    else:
        for child in operand.children():
            yield from _targets(child)
