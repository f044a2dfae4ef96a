"""What an address is based on, and how sure that is."""

from __future__ import annotations

from typing import NamedTuple, Union

from ...ptx.ir import Variable


class Base:
    """The object, or the pointer, that an address is so many bytes into. One per function: compare
    by identity.

    ``kind``:

    - ``variable``: a declared object; ``stack``: one in local memory, or what ``alloca`` gave
    - ``parameter``: a pointer that the launch passes, ``offset`` bytes into the parameter
    - ``argument``: a pointer that a device function is called with
    - ``loaded``: a pointer read from memory, SSA value ``value``
    - ``remote``: shared memory of another CTA (mapa)
    - ``value``: what some other instruction made, SSA value ``value``
    """

    __slots__ = ("kind", "offset", "value", "variable")

    def __init__(
        self, kind: str, variable: Variable | None = None, offset: int = 0, value: int | None = None
    ) -> None:
        self.kind = kind
        self.variable = variable
        self.offset = offset
        self.value = value

    def __str__(self) -> str:
        if self.variable is None or self.kind == "remote":
            return self.kind if self.value is None else f"{self.kind} v{self.value}"
        return self.variable.name + (f"+{self.offset}" if self.offset else "")


Anchor = Union[int, Base]


class Pointer(NamedTuple):
    """An address: ``displacement`` bytes beyond ``anchor``, which is an SSA value, or the base
    itself where the distance from it is constant; None where the code can't be reached.

    ``base`` is None where it is not known. ``form`` as in ``Mark``.
    """

    base: Base | None
    anchor: Anchor | None
    displacement: int
    form: str


NOWHERE = Pointer(None, None, 0, "")


# How far a value is an address, from nothing known to contradictions.
BOTTOM, INTEGER, WEAK, AMBIGUOUS, DIFFERENCE, STRONG, UNKNOWN = range(7)


class Mark(NamedTuple):
    """What is known of one value.

    ``state``: ``INTEGER`` is no address; ``WEAK`` could be an address or an integer (what memory
    or a launch gives), ``STRONG`` is an address for sure, both with its base. ``AMBIGUOUS`` is the
    sum of two weak ones, ``DIFFERENCE`` a weak one subtracted; ``UNKNOWN`` may be an address of
    anything. ``form``: ``shared`` and so on for an address in that window, ``generic``,
    ``generic:shared`` for a generic one of that space, "" not known.
    """

    state: int
    base: Base | None = None
    form: str = ""


NOTHING = Mark(BOTTOM)
NUMBER = Mark(INTEGER)
SUM = Mark(AMBIGUOUS)
GAP = Mark(DIFFERENCE)
ANYTHING = Mark(UNKNOWN)


def join(first: Mark, second: Mark) -> Mark:
    """What holds of a value that is the one or the other."""
    if first == second or second.state == BOTTOM:
        return first
    if first.state == BOTTOM:
        return second
    if first.base is not None and first.base is second.base:
        return Mark(max(first.state, second.state), first.base, _join_forms(first, second))
    state = max(first.state, second.state)
    if state <= DIFFERENCE:
        return GAP if state == DIFFERENCE else SUM
    return Mark(UNKNOWN, None, _join_forms(first, second))


def _join_forms(first: Mark, second: Mark) -> str:
    if first.form == second.form:
        return first.form
    both = first.form.startswith("generic") and second.form.startswith("generic")
    return "generic" if both else ""


def plus(first: Mark, second: Mark) -> Mark:
    """What a sum is: an address and a number are an address of the same object."""
    if BOTTOM in (first.state, second.state):
        return NOTHING
    if first.state < second.state:
        first, second = second, first
    if second.state == INTEGER:
        return first
    if first.state == STRONG:
        return first if second.state in (AMBIGUOUS, WEAK) else ANYTHING
    if first.state == UNKNOWN:
        return first if second.state < STRONG else ANYTHING
    return GAP if DIFFERENCE in (first.state, second.state) else SUM


def minus(first: Mark, second: Mark) -> Mark:
    """What a difference is."""
    if BOTTOM in (first.state, second.state):
        return NOTHING
    if second.state == INTEGER:
        return first
    return ANYTHING if max(first.state, second.state) >= STRONG else GAP


def scaled(marks: list[Mark]) -> Mark:
    """What a product, a shift or a conversion is: a number, unless of an address for sure."""
    state = max(mark.state for mark in marks)
    if any(mark.state == BOTTOM for mark in marks):
        return NOTHING
    return ANYTHING if state >= STRONG else NUMBER
