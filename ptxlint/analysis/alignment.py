"""The alignment that each address of a memory instruction needs.

Measured on an H200 (sm_90, driver 580): every form here faults with
CUDA_ERROR_MISALIGNED_ADDRESS (716) where the address is not such a multiple, wmma excepted.
"""

from __future__ import annotations

from math import gcd
from typing import NamedTuple

from ..isa.types import access_size
from ..ptx.ir import Address, Instruction, Integer, Opcode, Operand, Vector

MNEMONICS = frozenset(
    {"ld", "ldu", "st", "atom", "red", "cp", "ldmatrix", "stmatrix", "mbarrier", "wmma"}
)
_PLAIN = frozenset({"ld", "ldu", "st", "atom", "red"})
_MBARRIER = 8
_BULK = 16
_TENSOR = 128
LARGEST = 128  # no access needs more


class Need(NamedTuple):
    """``address``, an operand of the instruction, must be a multiple of ``bytes``.

    ``what`` names the access; ``faults`` is whether hardware was seen to hold to it.
    """

    address: Address
    bytes: int
    what: str
    faults: bool = True


def plain_need(opcode: Opcode) -> int | None:
    """The bytes of which the one address of a load, store or atomic must be a multiple, where the
    opcode alone tells; ``needs`` tells for the others.
    """
    modifiers = opcode.modifiers
    if opcode.mnemonic not in _PLAIN or "async" in modifiers or "bulk" in modifiers:
        return None
    return access_size(modifiers)


def needs(instruction: Instruction) -> list[Need]:
    """What each address of ``instruction`` needs, where that is known."""
    mnemonic, modifiers = instruction.opcode.mnemonic, instruction.opcode.modifiers
    operands = instruction.operands
    if mnemonic == "cp":
        return _copies(modifiers, operands)
    addresses = [o for o in operands if type(o) is Address]
    if not addresses:
        return []
    if mnemonic in ("ldmatrix", "stmatrix"):
        return [Need(addresses[0], 16, "a 16-byte matrix row")]
    if mnemonic == "mbarrier":
        return [Need(addresses[0], _MBARRIER, "an 8-byte mbarrier object")]
    if mnemonic == "wmma":
        return _fragment(modifiers, operands, addresses[0])
    if modifiers[:1] == ("bulk",):
        return []
    size = access_size(modifiers)
    if size is None:
        return []
    found = [Need(addresses[0], size, f"{_a(size)} access")]
    if "async" in modifiers and len(addresses) > 1:
        found.append(Need(addresses[1], _MBARRIER, "an 8-byte mbarrier object"))
    return found


def _copies(modifiers: tuple[str, ...], operands: tuple[Operand, ...]) -> list[Need]:
    """The forms of cp.async and cp.reduce.async."""
    addresses = [o for o in operands if type(o) is Address]
    if "mbarrier" in modifiers and "bulk" not in modifiers:  # cp.async.mbarrier.arrive
        return [Need(a, _MBARRIER, "an 8-byte mbarrier object") for a in addresses]
    if "bulk" not in modifiers:
        size = operands[2] if len(operands) > 2 else None
        if not isinstance(size, Integer) or size.value not in (4, 8, 16):
            return []
        what = f"{_a(size.value)} copy"
        return [Need(a, size.value, what) for a in addresses[:2]]
    tensor = "tensor" in modifiers
    found = []
    for index, address in enumerate(addresses):
        if index == 2:
            found.append(Need(address, _MBARRIER, "an 8-byte mbarrier object"))
        elif not tensor:
            found.append(Need(address, _BULK, "a bulk copy"))
        elif not address.rest:  # the other one is the tensor map with its coordinates
            found.append(Need(address, _TENSOR, "the shared side of a tensor copy"))
    return found


def _fragment(
    modifiers: tuple[str, ...], operands: tuple[Operand, ...], address: Address
) -> list[Need]:
    """wmma.load and wmma.store: as much as the fragment holds (PTX ISA, wmma.load)."""
    vector = next((o for o in operands if type(o) is Vector), None)
    if vector is None:
        return []
    size = len(vector.elements) * (8 if "f64" in modifiers else 4)
    return [Need(address, size, f"a wmma fragment of {size} bytes", faults=False)]


def _a(size: int) -> str:
    return f"an {size}-byte" if size == 8 else f"a {size}-byte"


def smaller(need: Need, distance: int) -> str:
    """That smaller accesses would do, where an instruction has them."""
    size = gcd(distance, need.bytes)
    return f", or accesses of {size} bytes" if need.what.endswith("access") else ""
