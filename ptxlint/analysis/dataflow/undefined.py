"""Values that nobody wrote, and where they are observed."""

from __future__ import annotations

from ...ptx.ir import Function
from ..facts import Facts
from ..flow.ssa import ENTRY, values
from .spread import Observation, Spread
from .unwritten import unwritten

# Values looked at for registers one by one; what is left then is followed all at once.
_ALONE = 50_000


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
