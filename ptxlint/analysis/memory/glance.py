"""Which accesses are surely right, at a glance: aligned, well laid out, in space and object."""

from __future__ import annotations

from functools import lru_cache
from math import gcd

from ...isa.types import access_size
from ...ptx.ir import Address, Function, Instruction, Integer, Operand, Register, Variable
from ..alignment import LARGEST, MNEMONICS, needs, plain_need
from ..facts import Facts, by_opcode
from ..launch import launch_shape
from ..objects import size_of
from ..symbols import address_of, symbol_addresses
from .banks import WORD, wavefronts
from .line import UNSURE, Line
from .lines import Lines
from .sectors import LINE, SECTOR, sectors
from .spaces import SPACES, converted, used

# An access that moves this many times the sectors that it must is worth a look (PTX311).
FAR = 4
_BY_LANE = frozenset({"ld", "ldu", "st", "atom", "red", "cp", "ldmatrix", "stmatrix"})
_ACCESSES = MNEMONICS | {"prefetch", "applypriority", "discard"}
_CONSTANT = frozenset({"const", "local", "param", "param::entry", "param::func", "bulk"})


def unaligned(function: Function, facts: Facts) -> frozenset[int]:
    """The ids of the instructions with an address that may be known not to be what it needs.

    What all lanes share counts as aligned if nothing is known of it, and so does what was loaded.
    Those at a constant distance from a declared object are left out (``symbols``).
    """
    lines, constant = facts.once(function, Lines), facts.once(function, symbol_addresses)
    found = []
    for opcode, instructions in facts.once(function, by_opcode).items():
        if opcode.mnemonic not in MNEMONICS or "param" in opcode.modifiers:
            continue
        size = plain_need(opcode)
        for each in instructions:
            needed: list[tuple[Address, int]]
            if size is None:
                needed = [(need.address, need.bytes) for need in needs(each)]
            else:
                needed = [(o, size) for o in each.operands if type(o) is Address]
            for address, bytes_ in needed:
                if _strays(address, bytes_, lines) and address_of(address, constant) is None:
                    found.append(id(each))
    return frozenset(found)


def _strays(address: Address, size: int, lines: Lines) -> bool:
    line = lines.of(address.base)
    known = (line.const + address.offset) | line.factor | line.spread | line.lanes
    return gcd(known, *line.bent) % size != 0


def doubtful(function: Function, facts: Facts) -> frozenset[int]:
    """The ids of the instructions with an access to shared or global memory that is not surely
    well laid out, or may be in either.
    """
    index = facts.once(function, by_opcode)
    lines = facts.once(function, Lines)
    found: list[int] = []
    for opcode, instructions in index.items():
        modifiers = opcode.modifiers
        if opcode.mnemonic not in _BY_LANE or not _CONSTANT.isdisjoint(modifiers):
            continue
        if opcode.mnemonic == "cp" and modifiers[:1] != ("async",):
            continue
        size = access_size(modifiers)
        found += [id(each) for each in instructions if not _is_well_laid(each, size, lines)]
    return frozenset(found)


def _is_well_laid(instruction: Instruction, size: int | None, lines: Lines) -> bool:
    mnemonic, modifiers = instruction.opcode.mnemonic, instruction.opcode.modifiers
    addresses = [operand for operand in instruction.operands if type(operand) is Address]
    if mnemonic == "cp":
        count = instruction.operands[2] if len(instruction.operands) > 2 else None
        size, addresses = count.value if type(count) is Integer else None, addresses[1:]
    if not addresses or size is None or mnemonic in ("ldmatrix", "stmatrix"):
        return False
    line = lines.of(addresses[0])
    if line.data or line.lanes:
        return line.data
    shared = any(modifier.startswith("shared") for modifier in modifiers)
    if not shared and not _few_sectors(line, size, modifiers):
        return False
    return mnemonic == "cp" or "global" in modifiers or _few_wavefronts(line, size, mnemonic)


def _few_sectors(line: Line, size: int, modifiers: tuple[str, ...]) -> bool:
    in_order = "nc" in modifiers or size > 8 or "v2" in modifiers  # PTX303 looks at those
    if line.bent:
        found = sectors(list(enumerate(line.exact)), size)
        return not in_order and found.low < FAR * found.minimum
    if abs(line.factor) >= FAR * size:
        return False
    if in_order and line.factor == size and line.shared % SECTOR == 0:
        return line.shared % LINE == 0 == line.const % LINE
    return True


def _few_wavefronts(line: Line, size: int, mnemonic: str) -> bool:
    if not line.bent and line.factor in (0, size):
        return True
    kind = {"ld": "read", "ldu": "read", "st": "write"}.get(mnemonic, "atomic")
    return _is_free(line.factor, line.bent, line.const % WORD, size, kind)


@lru_cache(maxsize=1024)
def _is_free(factor: int, bent: tuple[int, ...], start: int, size: int, kind: str) -> bool:
    """Whether such a request takes less than twice the wavefronts that it must."""
    taken = wavefronts(list(enumerate(Line(factor, start, bent=bent).exact)), size, kind)
    return taken.total < 2 * taken.minimum


def misplaced(function: Function, facts: Facts) -> frozenset[int]:
    """The ids of the accesses and cvta whose address may be in another form than they take."""
    lines = facts.once(function, Lines)
    found = []
    for opcode, instructions in facts.once(function, by_opcode).items():
        named = [m.partition("::")[0] for m in opcode.modifiers]
        spaces = [space for space in named if space in SPACES] or ["generic"]
        if opcode.mnemonic == "cvta":
            to = "to" in opcode.modifiers
            for each in instructions:
                form = _form(each.operands[1], lines) if len(each.operands) > 1 else ""
                if form == UNSURE or (form and converted(form, to, spaces[0])):
                    found.append(id(each))
        elif opcode.mnemonic in _ACCESSES:
            for each in instructions:
                forms = [_form(o.base, lines) for o in each.operands if type(o) is Address]
                if any(f == UNSURE or (f and any(used(f, s) for s in spaces)) for f in forms):
                    found.append(id(each))
    return frozenset(found)


def _form(operand: Operand | None, lines: Lines) -> str:
    """What form of address a register holds; a symbol's is the assembler's affair."""
    origin = lines.of(operand).origin if type(operand) is Register else None
    return "" if origin is None else origin.form


def overrunning(function: Function, facts: Facts) -> frozenset[int]:
    """The ids of the accesses that may be, for a thread that is known, outside a declared object.

    With no block told that is thread 0: all blocks have one.
    """
    lines, threads = facts.once(function, Lines), facts.once(function, launch_shape).threads
    found = []
    for opcode, instructions in facts.once(function, by_opcode).items():
        if opcode.mnemonic not in MNEMONICS:
            continue
        width = access_size(opcode.modifiers) or LARGEST
        for each in instructions:
            for operand in each.operands:
                if type(operand) is not Address:
                    continue
                origin = lines.of(operand.base).origin
                size = None if origin is None else size_in(function, origin.variable)
                if size and _overruns(lines.of(operand), width, size, threads):
                    found.append(id(each))
    return frozenset(found)


def _overruns(line: Line, width: int, size: int, threads: int | None) -> bool:
    if line.origin is not None and not line.origin.fixed:
        return True
    if line.step or line.data:
        return False
    if threads is None:
        return not line.lanes and not 0 <= line.exact[0] <= size - width
    if line.bent or line.lanes or (line.spread and not line.factor):
        return True
    ends = (line.const, line.const + line.factor * (threads - 1))
    return min(ends) < 0 or max(ends) + width > size


def size_in(function: Function, variable: Variable | None) -> int | None:
    """Bytes of an object that a function names; None where the text does not say."""
    if variable is None or variable.space not in SPACES:
        return None
    if variable.space == "param" and not any(variable is p for p in function.parameters):
        return None  # of a call
    if variable.space == "shared" and variable.linkage == "extern":
        return None  # as many as the launch gives
    return size_of(variable)
