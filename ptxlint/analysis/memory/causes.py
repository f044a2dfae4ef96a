"""Why the pattern of an address is not known: the first unknown value behind it."""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Address, Register
from ..flow.ssa import ENTRY, PHI
from ..values.patterns import Patterns

# Results that depend on data: no analysis of the text can know how the lanes differ in them.
_DATA = {
    "ld": "loaded",
    "ldu": "loaded",
    "ldmatrix": "loaded",
    "atom": "the result of an atomic",
    "shfl": "the result of a shuffle",
    "redux": "the result of a reduction",
    "match": "the result of a match",
    "tex": "loaded from a texture",
    "suld": "loaded from a surface",
    "mma": "the result of a matrix product",
    "wmma": "the result of a matrix product",
    "elect": "the result of an election",
}


class Cause(NamedTuple):
    """``mnemonic`` makes the first unknown value: ``ld``, ``shfl`` …; ``join`` where branches
    meet, ``loop`` for a loop's variable, ``call`` for what a caller passes, "" where nothing tells.
    ``line`` is the offset of that instruction in the text, None without one.
    """

    mnemonic: str
    place: int | None = None

    @property
    def is_data(self) -> bool:
        """Whether it depends on data: a loaded index, the result of a scan."""
        return self.mnemonic in _DATA

    @property
    def words(self) -> str:
        """In words, to follow "unknown:"."""
        if self.mnemonic in _DATA:
            return f"an index is {_DATA[self.mnemonic]}"
        return _WORDS.get(self.mnemonic) or f"what `{self.mnemonic}` makes of it is not followed"


_WORDS = {
    "join": "it depends on a branch that lanes take differently",
    "loop": "it depends on how many turns a loop has made",
    "turns": "lanes leave a loop at different turns",
    "caller": "the caller passes it",
    "": "nothing tells where it comes from",
}


def cause(known: Patterns, instruction: int, address: Address) -> Cause:
    """What the first unknown value behind an address of an instruction is."""
    solver = known.solver
    base = address.base
    if not isinstance(base, Register):
        return Cause("")
    ssa = solver.ssa
    value = ssa.read(instruction, solver.use.numbers[base])
    seen: set[int] = set()
    while value is not None:
        value = solver.canonical[value]
        if value in seen:
            break
        seen.add(value)
        each = ssa.all[value]
        if solver.patterns[value] is not None:
            return Cause("turns")
        if each.kind == ENTRY or each.at < 0:
            return Cause("caller")
        sources = each.operands if each.kind == PHI else (*ssa.reads[each.at], *each.operands)
        unknown = [s for s in sources if solver.patterns[solver.canonical[s]] is None]
        fresh = [s for s in unknown if solver.canonical[s] not in seen]
        if each.kind != PHI:
            made = solver.flow.instructions[each.at]
            if made.opcode.mnemonic in _DATA or not fresh:
                return Cause(made.opcode.mnemonic, made.start)
        elif not fresh:
            loop = solver.divergence.loops.innermost(each.at)
            return Cause("loop" if loop is not None and loop.header == each.at else "join")
        value = fresh[0]
    return Cause("")
