"""What an opcode does to memory: what each address is for, which space, how wide, how ordered.

Small enough to ask for every instruction of a file; a test holds ``data/memory.json`` against the
memory column of ``data/instructions``.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from ..resources import isa_data
from .types import SIZES

READ, WRITE, ATOMIC, REDUCE = "read", "write", "atomic", "reduce"
PREFETCH, FENCE = "prefetch", "fence"
ASYNC_READ, ASYNC_WRITE, ASYNC_REDUCE = "async-read", "async-write", "async-reduce"
_READS = frozenset({READ, ATOMIC, REDUCE, ASYNC_READ, ASYNC_REDUCE})
_WRITES = frozenset({WRITE, ATOMIC, REDUCE, ASYNC_WRITE, ASYNC_REDUCE})

_SPACES = {
    "global": "global",
    "shared": "shared",
    "shared::cta": "shared",
    "shared::cluster": "shared",
    "local": "local",
    "const": "const",
    "param": "param",
    "param::entry": "param",
    "param::func": "param",
}
_ORDERS = ("acq_rel", "acquire", "release", "relaxed", "volatile", "weak", "sc")
_SCOPES = frozenset({"cta", "cluster", "gpu", "sys"})
_CACHE = frozenset({"nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt"})
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_ROLE_BYTES = {"mbarrier": 8, "tensormap": 128}


class AddressEffect(NamedTuple):
    """What is done at one address.

    ``kind``: ``read``, ``write``, ``atomic`` (with a result), ``reduce`` (without), ``prefetch``,
    ``fence`` (orders that range) or ``async-read``, ``async-write``, ``async-reduce``, which end
    some time later. ``role``: ``data``, ``mbarrier``, ``tensormap`` or ``descriptor`` (a matrix
    in shared memory that a register describes). ``space``: as the opcode says it; ``tensor`` is
    the tensor memory of tcgen05; ``cluster`` where it is shared memory of any CTA of the cluster.
    """

    kind: str
    role: str
    space: str
    cluster: bool

    @property
    def reads(self) -> bool:
        """Whether what is there matters."""
        return self.kind in _READS

    @property
    def writes(self) -> bool:
        """Whether what is there changes."""
        return self.kind in _WRITES

    @property
    def asynchronous(self) -> bool:
        """Whether it may end after the instruction does."""
        return self.kind.startswith("async")


class MemoryEffect(NamedTuple):
    """What a spelling does to memory.

    ``addresses``: for each address operand in order, the last for all that follow; ``values``:
    of operands, by position, that are addresses or matrix descriptors in a plain register.
    ``element`` and ``elements``: bytes of one element and their number, None where the opcode does
    not say; ``size_operand``: the operand that counts bytes. ``order`` is ``weak``, ``relaxed``,
    ``acquire``, ``release``, ``acq_rel``, ``volatile`` or ``mmio`` with the order after a dot
    (``mmio.relaxed``); ``scope`` ``cta``, ``cluster``, ``gpu``, ``sys`` or "" (weak); ``cache``
    is as written. ``barrier``: ``barrier``, ``fence``, ``commit``, ``wait``, ``grid`` or "";
    ``before``, ``after``: whether accesses before it (after it) keep to their side of it.
    """

    addresses: tuple[AddressEffect, ...]
    values: tuple[tuple[int, AddressEffect], ...]
    element: int | None
    elements: int
    size_operand: int | None
    order: str
    scope: str
    cache: tuple[str, ...]
    barrier: str
    before: bool
    after: bool

    @property
    def orders(self) -> bool:
        """Whether accesses on one side of it at least keep to that."""
        return self.before or self.after


@cache
def memory_effect(mnemonic: str, modifiers: tuple[str, ...]) -> MemoryEffect:
    """The memory effect of a spelling; no addresses where the ISA gives it none."""
    table = _table()
    prefixes = [".".join((mnemonic, *modifiers[:n])) for n in range(len(modifiers), -1, -1)]

    def longest(column: str) -> Any:
        rows = table[column]
        return next((rows[prefix] for prefix in prefixes if prefix in rows), None)

    written = [modifier for modifier in modifiers if modifier in _SPACES]
    addresses = tuple(_address(row, written) for row in longest("access") or ())
    values = tuple(
        (int(position), _address(row, written)) for position, *row in longest("values") or ()
    )
    element, count = _width(mnemonic, modifiers, longest("bytes"), prefixes)
    order, scope = _order(modifiers, longest("order"), longest("scope"))
    barrier, before, after = longest("ordering") or ("", *_sides(order))
    return MemoryEffect(
        addresses,
        values,
        element,
        count,
        longest("size_operand"),
        order,
        scope,
        tuple(m for m in modifiers if m in _CACHE or m.startswith(("L1::", "L2::"))),
        barrier,
        before,
        after,
    )


def role_bytes(role: str) -> int | None:
    """Bytes of an object that has one size only: an mbarrier, a tensor map; None for others."""
    return _ROLE_BYTES.get(role)


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = isa_data("memory.json")
    table["typed"] = dict.fromkeys(table["typed"])
    return table


def _address(row: list[str], written: list[str]) -> AddressEffect:
    kind, role, space = row
    if space in ("first", "second"):
        place = 0 if space == "first" else 1
        named = written[place] if place < len(written) else "generic"
    else:
        named = next((s for s in written if _SPACES[s] == space), space)
    return AddressEffect(kind, role, _SPACES.get(named, named), named == "shared::cluster")


def _width(
    mnemonic: str, modifiers: tuple[str, ...], fixed: int | None, prefixes: list[str]
) -> tuple[int | None, int]:
    if fixed is not None:
        return fixed, 1
    typed = _table()["typed"]
    if not any(prefix in typed for prefix in prefixes) or modifiers[:1] == ("bulk",):
        return None, 1
    element, count = None, 1
    for modifier in modifiers:
        if modifier in SIZES:
            element = SIZES[modifier]
        elif modifier in _VECTORS:
            count = _VECTORS[modifier]
    return element, count


def _order(modifiers: tuple[str, ...], order: str | None, scope: str | None) -> tuple[str, str]:
    """Order and scope; ``volatile`` is relaxed at scope sys (PTX ISA, memory consistency)."""
    order = next((name for name in _ORDERS if name in modifiers), order or "weak")
    scope = next((name for name in modifiers if name in _SCOPES), scope or "")
    if order == "volatile":
        scope = "sys"
    if "mmio" in modifiers:
        order = f"mmio.{order}"
    return order, "" if order == "weak" else scope


def _sides(order: str) -> tuple[bool, bool]:
    name = order.rpartition(".")[2]
    return name in ("release", "acq_rel", "sc"), name in ("acquire", "acq_rel", "sc")
