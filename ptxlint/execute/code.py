"""A function made ready to run: its instructions as operations, its labels as places.

Instructions are lowered when they are first met. Every operand is a *slot*: an index into the
register file of a call. Constants, special registers and addresses of locals have slots too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..ptx.ir import Function, Instruction, Variable
from .layout import Layout, align_of, declared, size_of
from .postdominators import reconvergence

if TYPE_CHECKING:
    from .storage import Storage

Run = Callable[["Storage", int, "tuple[int, ...]"], None]
Members = Callable[["Storage", int], int]


class Access:
    """A memory access: ``space`` ("" is generic), the slot of the base, bytes moved."""

    __slots__ = ("base", "offset", "size", "space")

    def __init__(self, space: str, base: int, offset: int, size: int) -> None:
        self.space = space
        self.base = base
        self.offset = offset
        self.size = size


class Op:
    """One instruction, lowered.

    ``kind`` is what the scheduler does: ``plain`` runs it; ``branch``, ``call``, ``exit``,
    ``ret``, ``trap`` move control; ``barrier`` waits for the CTA. ``members`` are the lanes of
    the warp that must come together first, for a lane of the group. ``detail`` is for the kind.
    """

    __slots__ = (
        "access",
        "convergent",
        "detail",
        "guard",
        "instruction",
        "kind",
        "members",
        "negated",
        "pc",
        "run",
        "source",
        "volatile",
    )

    def __init__(self, pc: int, instruction: Instruction, run: Run | None = None) -> None:
        self.pc = pc
        self.instruction = instruction
        self.run = run
        self.kind = "plain"
        self.guard = -1
        self.negated = False
        self.access: Access | None = None
        self.source: Access | None = None
        self.members: Members | None = None
        self.convergent = False
        self.detail: object = None
        self.volatile: tuple[tuple[int, str], ...] = ()


class Slots:
    """The layout of a function's register file."""

    __slots__ = ("kinds", "of", "storages", "widths")

    def __init__(self) -> None:
        self.of: dict[object, int] = {}
        self.widths: list[int] = []
        # Of each slot: None for a register, else what fills it.
        self.kinds: list[tuple[str, object] | None] = []
        self.storages: list[Storage] = []

    def _new(self, key: object, width: int, kind: tuple[str, object] | None) -> int:
        index = self.of[key] = len(self.widths)
        self.widths.append(width)
        self.kinds.append(kind)
        for storage in self.storages:
            storage.extend(index)
        return index

    def register(self, key: object, width: int) -> int:
        """The slot of a register (or of an element of one, or of the carry flag)."""
        found = self.of.get(key)
        return self._new(key, width, None) if found is None else found

    def filled(self, kind: str, value: object) -> int:
        """The slot of a constant, a special register or a local variable's address."""
        key = (kind, value)
        found = self.of.get(key)
        return self._new(key, 64, key) if found is None else found


class Code:
    """A function of a module, with the places of its labels and of its local variables."""

    __slots__ = ("_joins", "function", "labels", "layout", "locals", "ops", "slots", "stack")

    def __init__(self, function: Function, layout: Layout) -> None:
        self.function = function
        self.layout = layout
        self.slots = Slots()
        self.ops: list[Op | None] = [None] * len(function.instructions)
        self.labels = function.label_places()
        self.locals: dict[Variable, int] = {}
        self.stack = 0
        self._place_locals()
        self._joins: dict[int, int] | None = None

    def _place_locals(self) -> None:
        variables = [v for v in declared(self.function) if v.space in ("local", "param")]
        if not self.function.is_kernel:
            formal = (*self.function.parameters, *self.function.returns)
            variables += [v for v in formal if v.space == "param"]
        for variable in variables:
            align = align_of(variable)
            self.stack = -(-self.stack // align) * align
            self.locals[variable] = self.stack
            self.stack += size_of(variable)

    @property
    def align(self) -> int:
        """The alignment that the local variables need."""
        return max([16, *map(align_of, self.locals)])

    def join(self, pc: int) -> int:
        """Where lanes that part at ``pc`` meet again: an index, or the length at the exit."""
        if self._joins is None:
            self._joins = reconvergence(self.function, self.labels)
        return self._joins.get(pc, len(self.ops))
