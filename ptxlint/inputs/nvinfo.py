"""``.nv.info`` sections: what ptxas tells the driver of a cubin and of each kernel in it.

The numbers of the attributes are those that cuobjdump 13.5 names. NVIDIA documents none of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import unpack_from
from typing import NamedTuple

from .source import Damaged

PARAM_CBANK = 0x0A
REQNTID = 0x10
FRAME_SIZE = 0x11
MIN_STACK_SIZE = 0x12
KPARAM_INFO = 0x17
MAXREG_COUNT = 0x1B
EXIT_INSTR_OFFSETS = 0x1C
MAX_THREADS = 0x05
REGCOUNT = 0x2F
CTA_PER_CLUSTER = 0x3D
KPARAM_INFO_V2 = 0x45
NUM_BARRIERS = 0x4C
ANNOTATIONS = 0x55

ACCELERATOR_TARGET = 0x09
"""Of ``.nv.compat``: 1 for code that runs on one architecture only (``sm_90a``)."""

SPILL_REFILL = 1
"""The type of annotation that marks a store or load that spills or refills a register."""

_NONE, _BYTE, _HALF, _SIZED = 1, 2, 3, 4


class Record(NamedTuple):
    """An attribute, and its value: a number, or bytes for those that have a length."""

    attribute: int
    value: int | bytes

    def words(self) -> tuple[int, ...]:
        """The value as 32-bit words."""
        if isinstance(self.value, int):
            return (self.value,)
        return unpack_from(f"<{len(self.value) // 4}I", self.value)


def records(data: bytes) -> Iterator[Record]:
    """The records of a section in order; raises Damaged where one can't be."""
    at = 0
    while at + 4 <= len(data):
        form, attribute = data[at], data[at + 1]
        value: int | bytes = int.from_bytes(data[at + 2 : at + 4], "little")
        at += 4
        if form == _SIZED:
            size = int(value)
            if at + size > len(data):
                raise Damaged("is damaged: an attribute is longer than its section")
            value = data[at : at + size]
            at += (size + 3) & ~3
        elif form == _BYTE:
            value = int(value) & 0xFF
        elif form not in (_NONE, _HALF):
            raise Damaged(f"is damaged: an attribute of the unknown form {form}")
        yield Record(attribute, value)


def by_symbol(data: bytes) -> dict[int, dict[int, int]]:
    """Attribute → symbol index → value, of the records that speak of one symbol each."""
    found: dict[int, dict[int, int]] = {}
    for record in records(data):
        words = record.words()
        if len(words) == 2:
            found.setdefault(record.attribute, {})[words[0]] = words[1]
    return found
