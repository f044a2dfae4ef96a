"""The memory accesses of a function: one for each address that an instruction is given."""

from __future__ import annotations

from collections.abc import Callable

from ...isa.effects import effect
from ...isa.memory import PREFETCH, AddressEffect, MemoryEffect, role_bytes
from ...ptx.ir import Address, Function, Guard, Instruction, Integer, Operand, Symbol, Variable
from ..facts import Facts
from ..objects import size_of
from ..values.congruence import Congruent, congruence
from ..values.pattern import Pattern
from ..values.patterns import patterns
from .bases import NOWHERE, Anchor, Base, Pointer

CALL = "call"
Place = tuple[str, Pointer]
_STORED = frozenset({"st", "red", "atom", "multimem", "stmatrix", "wmma", "sust", "sured"})


class Context:
    """What the accesses of one function share. ``locate`` finds the bases of all of them, which
    waits until one is asked for: many rules need the patterns of addresses only.
    """

    __slots__ = ("facts", "function", "locate")

    def __init__(self, function: Function, facts: Facts) -> None:
        self.function = function
        self.facts = facts
        self.locate: Callable[[], None] | None = None


class Access:
    """One address of one instruction, and what is done there.

    ``index`` is the instruction's in ``Function.instructions``, ``operand`` the address as it
    stands: an ``Address``; a register that holds a matrix descriptor or a tensor-memory address;
    of a call, the argument in param space, or for what the callee does itself the callee.

    ``effect`` is what the ISA says of this address (kind, role), ``memory`` of the opcode (order,
    scope, cache). ``space`` is where it surely goes: ``global``, ``shared``, ``local``, ``param``,
    ``const``, ``texture``, ``surface``, ``tensor``, ``fabric``, or ``generic`` where that is open.
    ``base`` is the object or pointer that the address comes from, None where that is not known;
    the address is ``displacement`` bytes beyond ``anchor``: an SSA value, or the base itself.
    ``form`` is what the register holds: an address in the window ``shared`` …, a ``generic`` one,
    a generic one of a known space (``generic:shared``), or "" where nothing tells.
    """

    __slots__ = ("_context", "_place", "effect", "index", "memory", "operand")

    def __init__(
        self,
        context: Context,
        index: int,
        operand: Operand,
        effect: AddressEffect,
        memory: MemoryEffect,
    ) -> None:
        self._context = context
        self.index = index
        self.operand = operand
        self.effect = effect
        self.memory = memory
        self._place: Place | None = None

    def place(self, space: str, pointer: Pointer) -> None:
        """Say where it goes; called once, by ``Context.locate``."""
        self._place = space, pointer

    def _located(self) -> Place:
        if self._place is None and self._context.locate is not None:
            locate, self._context.locate = self._context.locate, None
            locate()
        return self._place or (self.effect.space, NOWHERE)

    @property
    def space(self) -> str:
        """Where it surely goes."""
        known = self.effect.space
        return known if known != "generic" else self._located()[0]

    @property
    def base(self) -> Base | None:
        """The object or pointer that the address comes from."""
        return self._located()[1].base

    @property
    def anchor(self) -> Anchor | None:
        """What the address is ``displacement`` bytes beyond."""
        return self._located()[1].anchor

    @property
    def displacement(self) -> int:
        """Bytes beyond ``anchor``."""
        return self._located()[1].displacement

    @property
    def form(self) -> str:
        """What the register holds."""
        return self._located()[1].form

    @property
    def instruction(self) -> Instruction:
        """The instruction."""
        return self._context.function.instructions[self.index]

    @property
    def kind(self) -> str:
        """As in ``AddressEffect``; ``call`` for what a callee does."""
        return self.effect.kind

    @property
    def role(self) -> str:
        """``data``, ``mbarrier``, ``tensormap`` or ``descriptor``."""
        return self.effect.role

    @property
    def reads(self) -> bool:
        """Whether it may read what is there."""
        return self.effect.reads if self.kind != CALL else self._callee()[0]

    @property
    def writes(self) -> bool:
        """Whether it may write what is there."""
        return self.effect.writes if self.kind != CALL else self._callee()[1]

    @property
    def guard(self) -> Guard | None:
        """The instruction's guard."""
        return self.instruction.guard

    @property
    def order(self) -> str:
        """``weak``, ``relaxed``, ``acquire`` … (see ``MemoryEffect``)."""
        return self.memory.order

    @property
    def scope(self) -> str:
        """``cta``, ``cluster``, ``gpu``, ``sys``; "" for a weak access."""
        return self.memory.scope

    @property
    def cache(self) -> tuple[str, ...]:
        """Cache operators and hints as written: ``nc``, ``cg``, ``L1::no_allocate``."""
        return self.memory.cache

    @property
    def tensor(self) -> bool:
        """Whether the address has coordinates: the data lie where a tensor map or texture says."""
        return isinstance(self.operand, Address) and bool(self.operand.rest)

    @property
    def size(self) -> int | None:
        """Bytes from the address on that are accessed; None where a register says, or more than
        one place is meant (a fragment with rows, a tensor).
        """
        if (fixed := role_bytes(self.role)) is not None:
            return fixed
        if self.role == "descriptor" or self.kind in (PREFETCH, CALL) or self.tensor:
            return None
        operands, memory = self.instruction.operands, self.memory
        if isinstance(self.operand, Symbol):  # an argument of a call
            target = self.operand.target
            return size_of(target) if isinstance(target, Variable) else None
        if memory.element is not None:
            return memory.element * memory.elements
        place = memory.size_operand
        size = operands[place] if place is not None and place < len(operands) else None
        return size.value if isinstance(size, Integer) else None

    @property
    def element(self) -> int | None:
        """Bytes of one element."""
        return self.memory.element

    @property
    def elements(self) -> int:
        """Elements of the vector; 1 for a scalar."""
        return self.memory.elements

    @property
    def offset(self) -> int | None:
        """Bytes from the base; None where that is no constant."""
        return self.displacement if isinstance(self.anchor, Base) else None

    @property
    def pattern(self) -> Pattern | None:
        """The address as a pattern over the lanes; None where there is none."""
        if not isinstance(self.operand, Address):
            return None
        context = self._context
        return context.facts.once(context.function, patterns).address(self.index, self.operand)

    @property
    def congruence(self) -> Congruent | None:
        """What of the address is known modulo a power of two; None for a plain register."""
        if not isinstance(self.operand, Address):
            return None
        context = self._context
        return context.facts.once(context.function, congruence).address(self.index, self.operand)

    @property
    def loaded(self) -> Operand | None:
        """Where the result goes: a register, a vector of them, or None."""
        instruction = self.instruction
        opcode = instruction.opcode
        if not self.reads or opcode.mnemonic == "call" or self.effect.asynchronous:
            return None
        results = effect(opcode.mnemonic, opcode.modifiers).results
        first = instruction.operands[0]
        return None if not results or isinstance(first, Address) else first

    @property
    def stored(self) -> tuple[Operand, ...]:
        """The operands whose values go to memory; of an atomic, those that it works with."""
        instruction = self.instruction
        if not self.writes or instruction.opcode.mnemonic not in _STORED:
            return ()
        operands = instruction.operands
        place = next((i for i, o in enumerate(operands) if o is self.operand), len(operands))
        last = place + (3 if "cas" in instruction.opcode.modifiers else 2)
        return tuple(o for o in operands[place + 1 : last] if not isinstance(o, Address))

    def _callee(self) -> tuple[bool, bool]:
        from .callees import callee_effect

        return callee_effect(self.instruction, self._context.facts)
