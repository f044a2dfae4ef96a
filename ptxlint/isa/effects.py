"""Which operands an opcode writes: small enough to ask for every instruction of a file.

The full answer is the access column of ``data/instructions``; this is the rule behind it with its
exceptions (``data/effects.json``), so that dataflow loads none of those tables. A test holds the
two equal.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, NamedTuple

from ..resources import read_text


class Effect(NamedTuple):
    """What an opcode does to registers.

    The first ``results`` operands are written, an address never; where ``accumulates``, they are
    read as well. ``reads_carry``, ``writes_carry``: the flag of ``add.cc`` and its like.
    """

    results: int
    accumulates: bool
    reads_carry: bool
    writes_carry: bool


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(read_text("isa", "data", "effects.json"))
    return table


@cache
def effect(mnemonic: str, modifiers: tuple[str, ...]) -> Effect:
    """The effect of a spelling, known to the ISA or not."""
    table = _table()
    results = table["results"]
    prefix = ".".join((mnemonic, *modifiers))
    accumulates = False
    while prefix not in results and "." in prefix:
        prefix = prefix.rpartition(".")[0]
    accumulates = prefix in table["accumulates"]
    carry = table["carry"]
    return Effect(
        results.get(prefix, 1),
        accumulates,
        mnemonic in carry["reads"],
        any(modifier in carry["writes"] for modifier in modifiers),
    )
