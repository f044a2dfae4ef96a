"""Where residues come from: threads, symbols, pointer parameters."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from ...ptx.ir import Address, Function, Instruction, Register, Symbol, Variable
from ..facts import Facts
from ..launch import WHOLE_WARPS, launch_shape
from ..objects import alignment_of
from .assumptions import Assumptions
from .congruence_numbers import UNKNOWN, Numbers, State

_WARP = 32
_OF_MALLOC = 8  # cudaMalloc gives multiples of 256 bytes
_OUTSIDE = frozenset({"extern", "weak", "common"})


class Threads:
    """The index space of residues, and the registers that tell its threads apart.

    ``coordinates`` are the (x, y, z) of each thread where the block's shape is told. Else there
    are 32 indices, and index *j* stands for every thread whose ``%tid.x`` is *j* modulo 32, on
    any shape; a block may have none such.
    """

    __slots__ = ("_known", "coordinates", "numbers")

    def __init__(
        self, function: Function, facts: Facts, assumed: Assumptions, whole_warps: bool
    ) -> None:
        shape = facts.once(function, launch_shape)
        self.coordinates: list[tuple[int, int, int]] | None = None
        if shape.block is None:
            self.numbers = Numbers(_WARP)
            lanes = self.numbers.residue(tuple(range(_WARP)))
            self._known: dict[str, State] = {"%tid.x": (5, lanes, 0)}
            if whole_warps:
                self._known["%ntid.x"] = (5, 0, assumed.bit(WHOLE_WARPS))
            return
        size = shape.block
        bits = assumed.bit(shape.assumption) if shape.assumption else 0
        ranges = [range(n) for n in reversed(size)]
        self.coordinates = [(x, y, z) for z, y, x in product(*ranges)]
        self.numbers = Numbers(len(self.coordinates))
        self._known = {}
        for axis, letter in enumerate("xyz"):
            places = tuple([thread[axis] for thread in self.coordinates])
            self._known[f"%tid.{letter}"] = (32, self.numbers.residue(places), bits)
            self._known[f"%ntid.{letter}"] = (32, size[axis], bits)
        lanes = self.numbers.residue(tuple([i % _WARP for i in range(self.numbers.size)]))
        self._known["%laneid"] = (32, lanes, bits)

    def special(self, name: str) -> State:
        """A special register."""
        return self._known.get(name, UNKNOWN)


class Pointers:
    """What is known of addresses that the kernel is given or that the module declares."""

    __slots__ = ("_assumed", "_function", "_hypothesis")

    def __init__(
        self, function: Function, assumed: Assumptions, hypothesis: Mapping[str, int] | None
    ) -> None:
        self._function = function
        self._assumed = assumed
        self._hypothesis = hypothesis or {}

    def symbol(self, variable: Variable) -> State:
        """The address of an object: a multiple of its alignment."""
        placed = variable.space in ("global", "shared", "const", "local")
        if not placed and not any(variable is p for p in self._function.parameters):
            return UNKNOWN
        align = alignment_of(variable)
        bits = 0
        if variable.linkage in _OUTSIDE:
            bits = self._assumed.bit(
                f"`{variable.name}` is .{variable.linkage}: wherever it comes from, it lies at a"
                f" multiple of {align}, as declared here"
            )
        k = (align & -align).bit_length() - 1
        return (k, 0, bits) if k else UNKNOWN

    def parameter(
        self, load: Instruction, distance: int, position: int, readers: list[Instruction]
    ) -> State:
        """What ``ld.param`` gives, if that is a pointer; ``readers`` are those of its result.

        The result is the one at ``position``, ``distance`` bytes into what is loaded.
        """
        address = load.operands[1] if len(load.operands) > 1 else None
        if not self._function.is_kernel or type(address) is not Address:
            return UNKNOWN
        base = address.base
        variable = base.target if type(base) is Symbol else None
        if not isinstance(variable, Variable) or variable not in self._function.parameters:
            return UNKNOWN
        offset = address.offset + distance
        name = f"{variable.name}+{offset}" if offset else variable.name
        if name in self._hypothesis:
            return (_OF_MALLOC, self._hypothesis[name] % (1 << _OF_MALLOC), 0)
        pointer = variable.pointer if not offset else None
        align = 1 if pointer is None else pointer[1] or 1
        if align > 1:
            text = f"parameter `{name}` is a multiple of {align}, as its .ptr .align says"
            return ((align & -align).bit_length() - 1, 0, self._assumed.bit(text))
        if pointer is None and not _addresses(load, position, readers):
            return UNKNOWN
        text = f"pointer parameter `{name}` is 256-byte aligned, as cudaMalloc returns it"
        return (_OF_MALLOC, 0, self._assumed.bit(text))


def _addresses(load: Instruction, position: int, readers: list[Instruction]) -> bool:
    """Whether a loaded value is used, directly, as an address that cudaMalloc can give."""
    result = load.operands[0]
    register = result if type(result) is Register else None
    if register is None:
        children = result.children()
        register = children[position] if position < len(children) else None  # type: ignore[assignment]
    for reader in readers:
        if reader.opcode.mnemonic == "cvta" and "local" not in reader.opcode.modifiers:
            return True
        spaces = {modifier.split("::")[0] for modifier in reader.opcode.modifiers}
        if spaces & {"shared", "local"}:
            continue
        if any(type(o) is Address and o.base is register for o in reader.operands):
            return True
    return False
