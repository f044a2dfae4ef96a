"""Addresses in another form than what uses them takes (``spaces``), and where they are made."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from ...isa.memory import PREFETCH
from ...isa.targets import Target
from ...isa.types import SIZES
from ...ptx.ir import Address, Function, Instruction, Offset, Operand, Register, Symbol, Variable
from ..facts import Facts, by_opcode
from ..flow.ssa import DEFINITION, PHI, values
from .access import CALL, Access
from .accesses import accesses
from .bases import Base
from .glance import misplaced
from .pointers import Pointers, pointers
from .spaces import GENERIC, PREFIX, RAW, TWICE, converted, used

_LONGEST_CHAIN = 64
# Since sm_90 the generic address of a shared object has its offset as the lower word, and cvta
# only sets the upper one (SASS of ptxas 13.5: S2R SR_SWINHI): what is wrong by the ISA works.
_UPPER_WORD_ONLY = 90


class Misfit(NamedTuple):
    """An address that does not fit what uses it.

    ``problem`` is ``raw``, ``generic``, ``other`` or ``twice``; ``held`` the space of what is there
    and ``wanted`` what is asked for: a space, or ``generic``. ``operand`` of the instruction
    ``at`` holds it, made by ``origin`` (None: not found). ``harmless``: sm_90 and later do what
    was meant.
    """

    problem: str
    at: int
    operand: Operand
    held: str
    wanted: str
    base: Base | None
    origin: Instruction | None
    harmless: bool


def misfits(function: Function, facts: Facts) -> list[Misfit]:
    """All of a function, in the order of the text."""
    suspects = facts.once(function, misplaced)
    if not suspects:
        return []
    lenient = asks_space(function, facts)
    harmless = _upper_word_only(facts)
    known = facts.once(function, pointers)
    found = []
    for at, operand, form, wanted, problem in _wrong(function, facts, suspects):
        if lenient and problem != RAW:
            continue
        held = form.removeprefix(PREFIX)
        origin = made_by(function, facts, at, operand, form)
        works = harmless and held == "shared" and problem in (GENERIC, TWICE)
        base = known.of(at, operand).base
        found.append(Misfit(problem, at, operand, held, wanted, base, origin, works))
    return sorted(found, key=lambda misfit: misfit.at)


_Wrong = tuple[int, Operand, str, str, str]


def _wrong(function: Function, facts: Facts, suspects: frozenset[int]) -> Iterator[_Wrong]:
    """(index, operand, form, what is wanted, problem) of each."""
    known = facts.once(function, pointers)
    for access in facts.once(function, accesses):
        wanted = access.effect.space
        if id(access.instruction) not in suspects or not _judged(access):
            continue
        if wanted == "generic" or _is_wide(access) or not _is_generic(known, access):
            form = known.of(access.index, access.operand).form
            problem = used(form, wanted) if form else None
            if problem is not None:
                yield access.index, access.operand, form, wanted, problem
    for at, to, space in conversions(function, facts):
        if id(function.instructions[at]) not in suspects:
            continue
        operand = function.instructions[at].operands[1]
        form = known.of(at, operand).form
        problem = converted(form, to, space) if form else None
        if problem is not None:
            yield at, operand, form, space if not to else "generic", problem


def _is_generic(known: Pointers, access: Access) -> bool:
    return known.of(access.index, access.operand).form.startswith(PREFIX)


def _is_wide(access: Access) -> bool:
    """Whether the address is in 64 bits: a generic one is."""
    base = access.operand.base if isinstance(access.operand, Address) else None
    return isinstance(base, Register) and SIZES.get(base.variable.type) == 8


def _judged(access: Access) -> bool:
    """Whether the address is in a register, and the opcode says what form it has.

    Not that of a tensor map, which may lie anywhere; a prefetch never faults. A symbol in brackets
    has its own space, and ptxas looks at it; ``ldmatrix`` with no space written takes a generic
    address of shared memory.
    """
    operand = access.operand
    if access.kind in (CALL, PREFETCH) or access.role == "tensormap" or access.tensor:
        return False
    if type(operand) is not Address or type(operand.base) is not Register:
        return False
    wanted, modifiers = access.effect.space, access.instruction.opcode.modifiers
    return wanted == "generic" or any(m.partition("::")[0] == wanted for m in modifiers)


def conversions(function: Function, facts: Facts) -> list[tuple[int, bool, str]]:
    """(index, whether it makes an offset, space) of each cvta of a register."""
    index = facts.once(function, by_opcode)
    found = []
    for opcode in index:
        if opcode.mnemonic != "cvta":
            continue
        space = next((m for m in opcode.modifiers if m not in ("to", "u32", "u64")), "")
        space, to = space.partition("::")[0], "to" in opcode.modifiers
        for made in index[opcode]:
            if len(made.operands) == 2 and isinstance(made.operands[1], Register):
                at = bisect_left(function.instructions, made.start, key=lambda i: i.start)
                found.append((at, to, space))
    return found


def asks_space(function: Function, facts: Facts) -> bool:
    """Whether it asks for an address's space: then not all of its code holds for all addresses."""
    return any(opcode.mnemonic == "isspacep" for opcode in facts.once(function, by_opcode))


def _upper_word_only(facts: Facts) -> bool:
    target = Target.parse(facts.target or "")
    return target is not None and target.number >= _UPPER_WORD_ONLY


def made_by(
    function: Function, facts: Facts, index: int, operand: Operand, form: str
) -> Instruction | None:
    """The instruction that gave an address its form: a cvta, or the mov of a symbol."""
    found = facts.once(function, values)
    known = facts.once(function, pointers)
    base = operand.base if isinstance(operand, (Address, Offset)) else operand
    value = found.value_of(index, base) if isinstance(base, Register) else None
    for _ in range(_LONGEST_CHAIN):
        if value is None:
            return None
        made = found.all[value]
        if made.kind == PHI:
            value = next((o for o in made.operands if o != value), None)
            continue
        if made.kind != DEFINITION:
            return None
        instruction = function.instructions[made.at]
        if instruction.opcode.mnemonic == "cvta" or any(map(_variable, instruction.operands[1:])):
            return instruction
        sources = found.reads[made.at]
        value = next((source for source in sources if known.mark(source).form == form), None)
    return None


def _variable(operand: Operand) -> Variable | None:
    """The object in ``symbol`` or ``symbol+8``."""
    base = operand.base if isinstance(operand, Offset) else operand
    target = base.target if isinstance(base, Symbol) else None
    return target if isinstance(target, Variable) else None
