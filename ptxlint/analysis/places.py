"""Places in a statement, and lists of places, as findings show them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..model import Span
from ..ptx.ir import Address, Instruction
from .facts import Facts

_BRACKETS = re.compile(r"\[[^\]\n]*\]")
_LISTED = 6


def operand_span(instruction: Instruction, address: Address, facts: Facts) -> Span:
    """Where an address operand stands; the whole instruction where that can't be told."""
    addresses = [o for o in instruction.operands if isinstance(o, Address)]
    index = next(i for i, operand in enumerate(addresses) if operand is address)
    text = facts.module.source.text
    places = list(_BRACKETS.finditer(text, instruction.start, instruction.end))
    if len(places) == len(addresses):
        return facts.text_span(*places[index].span())
    return facts.span(instruction)


def at_lines(offsets: Sequence[int], facts: Facts) -> tuple[tuple[str, ...], list[int]]:
    """A note that names the lines of ``offsets`` (none: no note), and those lines."""
    if not offsets:
        return (), []
    lines = sorted({facts.module.source.line_of(offset) for offset in offsets})
    shown = ", ".join(str(line) for line in lines[:_LISTED])
    more = f" and {len(lines) - _LISTED} more" if len(lines) > _LISTED else ""
    plural = "lines" if len(lines) > 1 else "line"
    return (f"{len(offsets)} more like it, at {plural} {shown}{more}",), lines
