"""How an address moves with its base: residues where every base is the same modulo 256."""

from __future__ import annotations

from ...ptx.ir import Address, Function, Variable
from ..facts import Facts
from ..values.assumptions import Assumptions
from ..values.congruence import Congruence
from ..values.congruence_numbers import State
from ..values.congruence_sources import Pointers
from .access import Access
from .accesses import accesses

_BITS = 8


class _Same(Pointers):
    """Objects, and the parameters ``names``, as ``residue`` modulo 256, whatever is known of them.

    Names as of ``Base``: ``name+8`` for what lies 8 bytes into one.
    """

    __slots__ = ("residue",)

    def __init__(
        self, function: Function, assumed: Assumptions, names: set[str], residue: int
    ) -> None:
        super().__init__(function, assumed, dict.fromkeys(names, residue))
        self.residue = residue

    def symbol(self, variable: Variable) -> State:
        """The address of an object."""
        known = super().symbol(variable)
        return (_BITS, self.residue, 0) if known[0] or _placed(variable) else known


def _placed(variable: Variable) -> bool:
    return variable.space in ("global", "shared", "const", "local")


class _Hypothesis(Congruence):
    """The residues of values where every base is ``residue`` modulo 256."""

    def __init__(self, function: Function, facts: Facts, names: set[str], residue: int) -> None:
        super().__init__(function, facts)
        self._pointers = _Same(function, self.assumed, names, residue)


class Based:
    """The residues of a function's addresses under each such hypothesis, made when asked for."""

    __slots__ = ("_facts", "_function", "_made", "_names")

    def __init__(self, function: Function, facts: Facts) -> None:
        self._function = function
        self._facts = facts
        self._made: dict[int, _Hypothesis] = {}
        self._names: set[str] | None = None

    def address(self, access: Access, residue: int, bits: int) -> int | tuple[int, ...] | None:
        """The address modulo ``2**bits``, in all threads or by index of ``Congruence.threads``,
        where the base is ``residue``; None where that is not known.
        """
        if not isinstance(access.operand, Address):
            return None
        known = self._at(residue).address(access.index, access.operand)
        low = (1 << bits) - 1
        if known.bits < bits:
            return None
        if isinstance(known.residues, int):
            return known.residues & low
        return tuple([r & low for r in known.residues])

    def distance(self, access: Access, bits: int) -> int | None:
        """How far an address is from its base, modulo ``2**bits``; None where that is not known, or
        not the same in all threads.
        """
        if access.offset is not None:
            return access.offset & ((1 << bits) - 1)
        first = _uniform(self.address(access, 0, bits))
        # A base that is rounded up or masked on the way does not carry the 1 through.
        if first is None or _uniform(self.address(access, 1, bits)) != (first + 1) % (1 << bits):
            return None
        return first

    def _at(self, residue: int) -> Congruence:
        found = self._made.get(residue)
        if found is None:
            if self._names is None:
                bases = [access.base for access in self._facts.once(self._function, accesses)]
                self._names = {str(b) for b in bases if b is not None and b.kind == "parameter"}
            found = _Hypothesis(self._function, self._facts, self._names, residue)
            self._made[residue] = found
        return found


def _uniform(found: int | tuple[int, ...] | None) -> int | None:
    if isinstance(found, tuple):
        return found[0] if all(each == found[0] for each in found) else None
    return found


def based(function: Function, facts: Facts) -> Based:
    """For ``facts.once``."""
    return Based(function, facts)
