"""Values that nobody wrote, and where they are observed."""

from __future__ import annotations

from ...ptx.ir import Function
from ..facts import Facts
from ..flow.graph import control_flow
from ..flow.liveness import liveness
from ..flow.registers import CARRY, register_use
from ..flow.ssa import ENTRY, values
from .spread import Observation, Spread

# Values looked at for registers one by one; what is left then is followed all at once.
_ALONE = 50_000


def unwritten(function: Function, facts: Facts) -> tuple[int, ...]:
    """The registers (by number) that some path reads before it writes them; few have any."""
    flow = facts.once(function, control_flow)
    if not flow.blocks or not flow.resolved or not _read_in_full(function, facts):
        return ()
    live = facts.once(function, liveness).live_in[0] & ~(1 << CARRY)
    use = facts.once(function, register_use)
    given = {id(p) for p in (*function.parameters, *function.returns)}
    found = []
    while live:
        low = live & -live
        live ^= low
        register = use.registers[low.bit_length() - 1]
        # Those of the module and of a parameter list have a value at the entry.
        if (
            register is not None
            and id(register.variable) not in given
            and function.start < register.variable.start < function.end
        ):
            found.append(low.bit_length() - 1)
    return tuple(found)


def undefined_uses(function: Function, facts: Facts) -> list[Observation]:
    """Observed values that are undefined on every path, the first read of each register."""
    candidates = facts.once(function, unwritten)
    if not candidates:
        return []
    known = facts.once(function, values)
    wanted = set(candidates)
    roots = [v.index for v in known.all if v.kind == ENTRY and v.register in wanted]
    found: list[Observation] = []
    size = 0
    for root in roots:
        if size < _ALONE:
            spread = Spread(function, facts, [root])
            found += spread.observations()
            size += spread.size
    seen = {observation.register for observation in found}
    rest = [root for root in roots if known.use.registers[known.all[root].register] not in seen]
    if len(rest) > 1:  # a whole fragment of a matrix, both operands of a selection
        found += Spread(function, facts, rest).observations()
    return found


def _read_in_full(function: Function, facts: Facts) -> bool:
    """Whether all of the function was understood: a write may stand in what was not."""
    module = facts.module
    return not (
        any(start < function.end and end > function.start for start, end in module.unanalysed)
        or any(problem.function is function for problem in module.name_problems)
    )
