"""Registers that may be read before they are written: cheap to ask, and mostly none."""

from __future__ import annotations

from ...ptx.ir import Function
from ..bitset import members
from ..facts import Facts
from ..flow.graph import control_flow
from ..flow.liveness import liveness
from ..flow.registers import CARRY, register_use


def unwritten(function: Function, facts: Facts) -> tuple[int, ...]:
    """The registers (by number) that some path reads before it writes them; few have any."""
    flow = facts.once(function, control_flow)
    if not flow.blocks or not flow.resolved or not _read_in_full(function, facts):
        return ()
    live = facts.once(function, liveness).live_in[0] & ~(1 << CARRY)
    use = facts.once(function, register_use)
    given = {id(p) for p in (*function.parameters, *function.returns)}
    found = []
    for number in members(live):
        register = use.registers[number]
        # Those of the module and of a parameter list have a value at the entry.
        if (
            register is not None
            and id(register.variable) not in given
            and function.start < register.variable.start < function.end
        ):
            found.append(number)
    return tuple(found)


def _read_in_full(function: Function, facts: Facts) -> bool:
    """Whether all of the function was understood: a write may stand in what was not."""
    module = facts.module
    return not (
        any(start < function.end and end > function.start for start, end in module.unanalysed)
        or any(problem.function is function for problem in module.name_problems)
    )
