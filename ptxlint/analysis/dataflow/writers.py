"""Where each register is written."""

from __future__ import annotations

from ...ptx.ir import Function, Register
from ..facts import Facts
from ..flow.registers import register_use


def writers(function: Function, facts: Facts) -> dict[Register, list[int]]:
    """The instructions that write each register, in order of the text, reached or not."""
    use = facts.once(function, register_use)
    found: dict[Register, list[int]] = {}
    for i, written in enumerate(use.writes):
        for number in written:
            register = use.registers[number]
            if register is not None:
                found.setdefault(register, []).append(i)
    return found
