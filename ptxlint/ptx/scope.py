"""Scopes: which operand a lexeme stands for.

A ``Scope`` is a dictionary from lexemes to operands that fills itself: ``scope["%r12"]`` is the
one ``Register`` object of that name in its scope, ``scope["16"]`` an ``Integer``. A name that is
not declared yet becomes a ``Symbol`` without a target and waits for a label of that name.
"""

from __future__ import annotations

from ..isa import special_registers
from .constants import WARP_SIZE, literal
from .ir import (
    Element,
    Function,
    Guard,
    Label,
    Operand,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Variable,
)

SINK = Sink()

_DIGITS = "0123456789"
_NUMBERS = "0123456789."


class Scope(dict[str, Operand]):
    """One brace scope, a function's parameters or the module."""

    __slots__ = ("declared", "guards", "labels", "made", "parent", "pending", "ranges")

    def __init__(self, parent: Scope | None = None) -> None:
        super().__init__()
        self.parent = parent
        # Names declared here, range bases under "base<"; ptxas keeps them apart like this too.
        self.declared: dict[str, Variable | Function] = {}
        self.ranges: dict[str, Variable] = {}
        self.labels: dict[str, Label] = {}
        # The operand of each name declared here: shared with the scopes inside.
        self.made: dict[str, Operand] = {}
        # Names used here, or in closed scopes inside, that nothing declares yet.
        self.pending: dict[str, list[Symbol]] = {}
        self.guards: dict[str, Guard] = {}

    def __missing__(self, lexeme: str) -> Operand:
        operand = self._find(lexeme)
        if operand is None:
            operand = Symbol(lexeme, None)
            self.pending.setdefault(lexeme, []).append(operand)
        self[lexeme] = operand
        return operand

    def _find(self, lexeme: str) -> Operand | None:
        scope: Scope | None
        if lexeme[-1] in _DIGITS:
            base = lexeme.rstrip(_DIGITS)
            if not base or base[0] in _NUMBERS:
                return literal(lexeme)
            scope = self
            while scope is not None:
                operand = scope.made.get(lexeme)
                if operand is None and base in scope.ranges:
                    operand = scope._member(lexeme, base)
                if operand is not None:
                    return operand
                scope = scope.parent
            if "." in lexeme:
                return self._element(lexeme)
            return self._special(lexeme)
        if lexeme[0] in _NUMBERS:
            return literal(lexeme)
        if "." in lexeme:
            return self._element(lexeme)
        scope = self
        while scope is not None:
            operand = scope.made.get(lexeme)
            if operand is not None:
                return operand
            scope = scope.parent
        if lexeme == "_":
            return SINK
        return WARP_SIZE if lexeme == "WARP_SZ" else self._special(lexeme)

    @staticmethod
    def _special(lexeme: str) -> Operand | None:
        if lexeme[0] == "%" and lexeme in special_registers.names():
            return SpecialRegister(lexeme)
        return None

    def _member(self, lexeme: str, base: str) -> Operand | None:
        """A register of a range ``base<N>``: 0 to N-1; ``%r01`` is ``%r1``, as ptxas has it."""
        variable = self.ranges[base]
        digits = lexeme[len(base) :]
        if len(digits) > 18 or int(digits) >= (variable.count or 0):
            return None
        if digits[0] == "0" and len(digits) > 1:
            return self[f"{base}{int(digits)}"]
        known = self.get(lexeme)
        if isinstance(known, Register) and known.variable is variable:
            return known
        register = self[lexeme] = Register(lexeme, variable)
        return register

    def _element(self, lexeme: str) -> Operand:
        base_name, selector = lexeme.split(".", 1)
        base = self[base_name]
        if isinstance(base, SpecialRegister):
            return SpecialRegister(lexeme)
        return Element(base, selector)

    def declare(self, variable: Variable | Function) -> Variable | Function | Label | None:
        """Enter a declaration; returns the one that it clashes with, if any."""
        name = variable.name
        ranged = isinstance(variable, Variable) and variable.count is not None
        key = name + "<" if ranged else name
        if label := self.labels.get(key):
            return label
        previous = self.declared.get(key)
        if previous is not None and not _may_follow(previous, variable):
            return previous
        if not isinstance(variable, Variable):
            # A definition takes the place of its declaration; a declaration not of a definition.
            if previous is None or variable.body is not None:
                self.declared[key] = variable
                self._enter(name, Symbol(name, variable), previous)
            return None
        self.declared[key] = variable
        if variable.count is not None:
            self.ranges[name] = variable
            for stale in [known for known in self if known.startswith(name)]:
                del self[stale]
        elif variable.space == "reg":
            self._enter(name, Register(name, variable), previous)
        else:
            self._enter(name, Symbol(name, variable), previous)
        return None

    def _enter(self, name: str, operand: Operand, previous: object) -> None:
        if previous is not None and isinstance(known := self.made.get(name), Symbol):
            # The same object goes on: what used the declaration now means the definition.
            assert isinstance(operand, Symbol)
            known.target = operand.target
            return
        self.made[name] = self[name] = operand

    def label(self, label: Label) -> Label | Variable | Function | None:
        """Enter a label; returns what has its name in this scope already, if anything."""
        previous = self.labels.get(label.name) or self.declared.get(label.name)
        if previous is not None:
            return previous
        self.labels[label.name] = label
        waiting = self.pending.pop(label.name, None)
        if waiting:
            for symbol in waiting:
                symbol.target = label
        self.made[label.name] = waiting[0] if waiting else Symbol(label.name, label)
        if not waiting:
            self.pop(label.name, None)  # it meant something of a scope around
        return None

    def close(self) -> None:
        """The scope ends: what is still not declared may be a label of the scope around."""
        if self.parent is not None:
            for name, symbols in self.pending.items():
                self.parent.pending.setdefault(name, []).extend(symbols)


def _may_follow(previous: Variable | Function, new: Variable | Function) -> bool:
    """Whether the same name may be declared again: functions, and extern variables."""
    if isinstance(previous, Function) and isinstance(new, Function):
        return previous.body is None or new.body is None
    if isinstance(previous, Variable) and isinstance(new, Variable):
        return previous.linkage == "extern" or new.linkage == "extern"
    return False
