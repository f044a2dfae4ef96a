"""What each parameter of a kernel is, read off how the kernel uses it.

A 64-bit field that reaches an address is a pointer; the rest are numbers. Values are followed
through copies and sums, through calls and through stack slots, not through products and shifts:
those make offsets.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from ptxlint.isa.types import SIZES
from ptxlint.ptx.ir import (
    Address,
    Arguments,
    Function,
    Instruction,
    Integer,
    Operand,
    Register,
    Symbol,
    Variable,
    Vector,
)

_COPIES = frozenset({"mov", "cvta", "add", "sub", "selp", "and", "or", "cvt", "max", "min"})
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}


@dataclass
class Field:
    """Bytes ``offset`` to ``offset + size`` of a parameter; ``kind``: pointer, integer, float."""

    offset: int
    size: int
    kind: str = "integer"


@dataclass
class Shape:
    """A parameter: its size in bytes, and the fields that the kernel loads (sorted)."""

    variable: Variable
    size: int
    fields: list[Field] = field(default_factory=list)

    def holds(self, offset: int) -> bool:
        """Whether a known field holds the byte at ``offset``."""
        return any(f.offset <= offset < f.offset + f.size for f in self.fields)


def size_of(variable: Variable) -> int:
    """Bytes of a declared variable; an open dimension counts as one."""
    size = SIZES.get(variable.type, 8) * variable.vector
    for dimension in variable.dimensions:
        size *= dimension or 1
    return size


def shapes(kernel: Function) -> dict[str, Shape]:
    """The kernel's parameters by name."""
    return _Inference(kernel).result()


class _Inference:
    """Which nodes (registers, parameter fields, stack slots) flow into which, and what is used
    as an address."""

    def __init__(self, kernel: Function) -> None:
        self.kernel = kernel
        self.sources: dict[Hashable, list[Hashable]] = {}
        self.addresses: set[Hashable] = set()
        self.fields: dict[tuple[Variable, int], Field] = {}
        self.places: dict[Register, tuple[Variable, int]] = {}
        self.parameters = set(kernel.parameters)
        seen, pending = {kernel}, [kernel]
        while pending:
            function = pending.pop()
            for instruction in function.instructions:
                self._instruction(instruction)
                for callee in _callees(instruction):
                    if callee not in seen:
                        seen.add(callee)
                        pending.append(callee)

    def result(self) -> dict[str, Shape]:
        found = {v.name: Shape(v, size_of(v)) for v in self.kernel.parameters}
        pointers = self._reaching_addresses()
        for (variable, offset), each in sorted(self.fields.items(), key=lambda f: f[0][1]):
            if variable not in self.parameters:
                continue
            if (variable, offset) in pointers:
                if each.size == 8:
                    each.kind = "pointer"
                elif each.size == 4 and (variable, offset + 4) in pointers:
                    each = Field(offset, 8, "pointer")  # loaded in two halves
                elif each.size == 4 and found[variable.name].holds(offset):
                    continue
            found[variable.name].fields.append(each)
        for shape in found.values():
            variable = shape.variable
            if variable.pointer is not None and not shape.fields:
                shape.fields = [Field(0, 8, "pointer")]
        return found

    def _reaching_addresses(self) -> set[Hashable]:
        seen, stack = set(self.addresses), list(self.addresses)
        while stack:
            for source in self.sources.get(stack.pop(), ()):
                if source not in seen:
                    seen.add(source)
                    stack.append(source)
        return seen

    def _flow(self, source: Hashable, target: Hashable) -> None:
        self.sources.setdefault(target, []).append(source)

    def _instruction(self, instruction: Instruction) -> None:
        mnemonic, modifiers = instruction.opcode.mnemonic, instruction.opcode.modifiers
        operands = instruction.operands
        if mnemonic == "call":
            self._call(operands)
            return
        for operand in operands:
            if isinstance(operand, Address) and isinstance(operand.base, Register):
                self.addresses.add(operand.base)
        if mnemonic == "ld" and isinstance(operands[1], Address):
            self._load(operands[0], operands[1], modifiers)
        elif mnemonic == "st" and isinstance(operands[0], Address):
            place = self._place(operands[0], "param" in modifiers)
            for i, register in enumerate(_registers(operands[1])):
                self._flow(register, (place[0], place[1] + i * _width(modifiers)))
        elif mnemonic in _COPIES or (mnemonic == "mad" and len(operands) == 4):
            self._copy(mnemonic, operands)

    def _copy(self, mnemonic: str, operands: tuple[Operand, ...]) -> None:
        target = operands[0]
        if not isinstance(target, Register):
            return
        if mnemonic == "cvta":
            self.addresses.add(target)
        sources = operands[1:]
        if mnemonic == "sub":
            sources = operands[1:2]
        elif mnemonic == "mad":
            sources = operands[3:4]
        elif mnemonic == "selp":
            sources = operands[1:3]
        if mnemonic == "mov" and isinstance(sources[0], Vector):
            sources = sources[0].elements
        for source in sources:
            if isinstance(source, Register):
                self._flow(source, target)
                if source in self.places:
                    variable, offset = self.places[source]
                    step = operands[2] if len(operands) > 2 else None
                    more = step.value if isinstance(step, Integer) else 0
                    self.places[target] = (variable, offset + (more if mnemonic == "add" else 0))
            elif isinstance(source, Symbol) and source.target in self.parameters:
                assert isinstance(source.target, Variable)
                self.places[target] = (source.target, 0)

    def _load(self, target: Operand, address: Address, modifiers: tuple[str, ...]) -> None:
        place = self._place(address, "param" in modifiers)
        width = _width(modifiers)
        for i, register in enumerate(_registers(target)):
            node = (place[0], place[1] + i * width)
            self._flow(node, register)
            if isinstance(node[0], Variable):
                kind = "float" if modifiers[-1].startswith("f") else "integer"
                known = self.fields.get((node[0], node[1]))
                if known is None or known.size < width:
                    self.fields[node[0], node[1]] = Field(node[1], width, kind)

    def _place(self, address: Address, parameter: bool) -> tuple[Hashable, int]:
        base = address.base
        if isinstance(base, Symbol) and isinstance(base.target, Variable):
            return base.target, address.offset
        if isinstance(base, Register):
            if base in self.places:
                variable, offset = self.places[base]
                return variable, offset + address.offset
            return ("slot", base), address.offset
        return ("literal",), address.offset

    def _call(self, operands: tuple[Operand, ...]) -> None:
        callee = next(
            (
                o.target
                for o in operands
                if isinstance(o, Symbol) and isinstance(o.target, Function)
            ),
            None,
        )
        if callee is None:
            return
        lists = [o for o in operands if isinstance(o, Arguments)]
        returns = lists[0] if operands and operands[0] in lists and callee.returns else None
        arguments = lists[-1] if lists and lists[-1] is not returns else None
        for ours, theirs in zip(_elements(arguments), callee.parameters, strict=False):
            self._pass(ours, theirs, True)
        for ours, theirs in zip(_elements(returns), callee.returns, strict=False):
            self._pass(ours, theirs, False)

    def _pass(self, ours: Operand, theirs: Variable, inward: bool) -> None:
        """Argument and parameter are one, at every offset up to 64 bytes."""
        if isinstance(ours, Symbol) and isinstance(ours.target, Variable):
            for offset in range(0, min(size_of(theirs), 64), 4):
                pair = ((ours.target, offset), (theirs, offset))
                self._flow(*(pair if inward else pair[::-1]))
        elif isinstance(ours, Register):
            self._flow(*((ours, (theirs, 0)) if inward else ((theirs, 0), ours)))


def _elements(arguments: Arguments | None) -> tuple[Operand, ...]:
    return () if arguments is None else arguments.elements


def _callees(instruction: Instruction) -> Iterator[Function]:
    if instruction.opcode.mnemonic == "call":
        for operand in instruction.operands:
            if isinstance(operand, Symbol) and isinstance(operand.target, Function):
                yield operand.target


def _registers(operand: Operand) -> tuple[Operand, ...]:
    """The registers of a vector, or the one; others keep their place."""
    return operand.elements if isinstance(operand, Vector) else (operand,)


def _width(modifiers: tuple[str, ...]) -> int:
    """Bytes of one element of a load or store."""
    return next((SIZES[m] for m in reversed(modifiers) if m in SIZES), 4)
