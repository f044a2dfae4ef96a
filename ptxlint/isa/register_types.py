"""Which registers, constants and names ptxas takes at an operand."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ..resources import isa_data


class Accepted(NamedTuple):
    """``registers`` are types of registers, or of a vector's elements or an address's base.

    ``others`` names what else fits. A scalar: ``i`` integer, ``f`` and ``d`` floats of 32 and 64
    bits, ``tid``, ``s32`` and ``s64`` special registers, ``m`` a variable's name, ``+`` with an
    offset, ``fn`` a function, ``!`` a negated predicate, ``v`` a vector, ``w`` a vector register,
    ``vv`` one of two or more,
    ``|`` a pair, ``[`` an address, ``_`` a sink. A vector: the same of its elements after ``e``,
    and ``r`` a scalar register. An address: the spaces of symbols; ``[i`` a number.
    """

    registers: frozenset[str]
    others: frozenset[str]


@cache
def accepted(mnemonic: str, operand: str, pattern: str) -> Accepted | None:
    """What fits an operand of that pattern; None: unknown.

    ``operand`` is ``d:u32`` (a scalar), ``d:u32*`` (a vector), ``a[]`` (an address) or ``n=``.
    """
    table = _table()
    operands = table["operands"].get(mnemonic, {})
    indices = operands.get(f"{operand} @ {pattern}") or operands.get(operand)
    if indices is None:
        return None
    registers, others = indices
    return Accepted(frozenset(table["registers"][registers]), frozenset(table["others"][others]))


@cache
def _table() -> Any:
    return isa_data("type_compat.json")
