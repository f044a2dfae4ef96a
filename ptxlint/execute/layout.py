"""Where module variables, shared objects, parameters and functions lie; what they start as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..ptx.ir import (
    Address,
    Declaration,
    Float,
    Function,
    Generic,
    InitialiserList,
    Integer,
    Label,
    Masked,
    Module,
    Offset,
    Operand,
    Subscript,
    Symbol,
    Targets,
    Variable,
)
from .constants import as_bits
from .launch import Buffer, Launch
from .memory import CONST_BASE, GLOBAL_BASE, PARAM_BASE, SHARED_WINDOW, Region, Space
from .result import Unsupported
from .types import TYPES, Type

FUNCTION_BASE = 0x7B00_0000_0000
_FUNCTION_STEP = 256
# More than this in one variable or buffer is refused: the run would only fill the machine.
MOST_BYTES = 1 << 28
_HANDLE = Type("handle", "b", 64)


def element_type(variable: Variable) -> Type:
    """The type of an element; texture and sampler references are 64-bit handles."""
    return TYPES.get(variable.type, _HANDLE)


def size_of(variable: Variable) -> int:
    """Bytes of a variable; 0 for an array left open without an initialiser."""
    size = element_type(variable).size * variable.vector
    for i, dimension in enumerate(variable.dimensions):
        if dimension is None:
            given = variable.initialiser
            open_first = i == 0 and isinstance(given, InitialiserList)
            dimension = len(given.elements) if open_first else 0  # type: ignore[union-attr]
        size *= dimension
    return size


def align_of(variable: Variable) -> int:
    """The declared alignment in bytes, or the natural one."""
    return max(variable.align or 0, element_type(variable).size * variable.vector, 1)


def mentioned(operand: Operand) -> Iterator[Symbol]:
    """The symbols inside an operand."""
    if isinstance(operand, Symbol):
        yield operand
    for child in operand.children():
        yield from mentioned(child)


class Layout:
    """Addresses of everything that a kernel can name, and the memory behind them.

    ``addresses`` has module variables, shared objects and kernel parameters, each in the
    numbering of its own space; ``functions`` the functions by address.
    """

    def __init__(self, module: Module, kernel: Function, launch: Launch) -> None:
        self.globals = Space(GLOBAL_BASE)
        self.constants = Space(CONST_BASE)
        self.addresses: dict[Variable, int] = {}
        self.bodies = {f.name: f for f in module.functions if f.body is not None}
        self._functions = {f.name: i for i, f in enumerate(module.functions)}
        self.functions = {
            FUNCTION_BASE + _FUNCTION_STEP * i: f for i, f in enumerate(module.functions)
        }
        self.buffers: dict[str, Region] = {}
        self._by_name: dict[str, int] = {}
        self._variables(module, launch.globals)
        self.shared = Region(0, self._shared(kernel, launch.dynamic_shared), "shared")
        self.shared.forget(0, len(self.shared.data))
        self.static_shared = len(self.shared.data) - launch.dynamic_shared
        self.parameters = Region(PARAM_BASE, self._parameter_bytes(kernel), "param")
        self._arguments(kernel, launch)

    def function_address(self, function: Function) -> int:
        """The address that ``mov`` of a function's name gives."""
        return FUNCTION_BASE + _FUNCTION_STEP * self._functions[function.name]

    def address(self, variable: Variable) -> int | None:
        """The address in the variable's own space; None if it is per thread."""
        found = self.addresses.get(variable)
        if found is None and variable.space in ("global", "const", "shared", "tex"):
            found = self._by_name.get(variable.name)
        return found

    def _variables(self, module: Module, given: Mapping[str, bytes]) -> None:
        inside = [variable for function in module.functions for variable in declared(function)]
        wanted = [v for v in module.variables if v.space in ("global", "const", "tex")]
        wanted += [v for v in inside if v.space in ("global", "const")]
        made = [(variable, self._place(variable)) for variable in wanted]
        for variable, region in made:
            if variable.name in given:
                data = given[variable.name][: len(region.data)]
                region.data[: len(data)] = data
            elif variable.initialiser is not None:
                self._initialise(region, 0, variable, variable.initialiser, 0)

    def _place(self, variable: Variable) -> Region:
        size = max(size_of(variable), 8 if variable.space == "tex" else 0)
        _bounded(size)
        space = self.constants if variable.space == "const" else self.globals
        # Without an initialiser they start as zero (PTX ISA, "Initializers").
        region = space.add(size, align_of(variable), variable.name, bytes(size))
        self.addresses[variable] = region.base
        self._by_name.setdefault(variable.name, region.base)
        return region

    def _initialise(
        self, region: Region, at: int, variable: Variable, value: Operand, depth: int
    ) -> None:
        type_ = element_type(variable)
        if isinstance(value, InitialiserList):
            step = type_.size * (variable.vector if depth < len(variable.dimensions) else 1)
            for dimension in variable.dimensions[depth + 1 :]:
                step *= dimension or 1
            for i, element in enumerate(value.elements):
                self._initialise(region, at + i * step, variable, element, depth + 1)
            return
        bits = self._constant(value, type_)
        if at + type_.size <= len(region.data):
            region.write(at, type_.size, bits & type_.mask)

    def _constant(self, value: Operand, type_: Type) -> int:
        if isinstance(value, (Integer, Float)):
            return as_bits(value, type_)
        if isinstance(value, Symbol):
            if isinstance(value.target, Function):
                return self.function_address(value.target)
            if isinstance(value.target, Variable):
                return self.address(value.target) or 0
            return 0
        if isinstance(value, Offset):
            return self._constant(value.base, type_) + value.offset
        if isinstance(value, Subscript):
            size = element_type_of(value.base).size
            return self._constant(value.base, type_) + size * value.index
        if isinstance(value, Generic):
            base = value.base
            window = 0
            if isinstance(base, Symbol) and isinstance(base.target, Variable):
                window = SHARED_WINDOW if base.target.space == "shared" else 0
            return self._constant(base, type_) + value.offset + window
        if isinstance(value, Masked):
            shift = (value.mask & -value.mask).bit_length() - 1 if value.mask else 0
            return (self._constant(value.operand, type_) & value.mask) >> shift
        return 0

    def _shared(self, kernel: Function, dynamic: int) -> int:
        """Shared objects in the order in which they are declared; the open ones after them."""
        variables = {v.start: v for v in self._used_shared(kernel)}
        top, last = 0, []
        for _, variable in sorted(variables.items()):
            size = size_of(variable)
            if not size or variable.linkage == "extern":
                last.append(variable)
                continue
            top = -(-top // align_of(variable)) * align_of(variable)
            self._name_shared(variable, top)
            top += size
        for variable in last:
            top = -(-top // align_of(variable)) * align_of(variable)
        for variable in last:
            self._name_shared(variable, top)
        _bounded(top + dynamic)
        return top + dynamic

    def _name_shared(self, variable: Variable, address: int) -> None:
        self.addresses[variable] = address
        self._by_name.setdefault(variable.name, address)

    def _used_shared(self, kernel: Function) -> Iterator[Variable]:
        seen, waiting = {kernel.name}, [kernel]
        while waiting:
            function = waiting.pop()
            for variable in declared(function):
                if variable.space == "shared":
                    yield variable
            for symbol in _symbols(function):
                target = symbol.target
                if isinstance(target, Variable) and target.space == "shared":
                    yield target
                elif isinstance(target, Function) and target.name not in seen:
                    seen.add(target.name)
                    if target.name in self.bodies:
                        waiting.append(self.bodies[target.name])

    def _parameter_bytes(self, kernel: Function) -> int:
        top = 0
        for variable in kernel.parameters:
            top = -(-top // align_of(variable)) * align_of(variable)
            self.addresses[variable] = PARAM_BASE + top
            top += size_of(variable)
        _bounded(top)
        return top

    def _arguments(self, kernel: Function, launch: Launch) -> None:
        for variable in kernel.parameters:
            given = launch.parameters.get(variable.name)
            if given is None:
                continue
            fields = given if isinstance(given, Mapping) else {0: given}
            for offset, value in fields.items():
                self._argument(variable, offset, value)

    def _argument(self, variable: Variable, offset: int, given: int | bytes | Buffer) -> None:
        """One value, ``offset`` bytes into a parameter."""
        size = size_of(variable) - offset
        if isinstance(given, Buffer):
            _bounded(given.size)
            name = f"{variable.name}+{offset}" if offset else variable.name
            region = self.globals.add(given.size, 256, name, given.data)
            self.buffers[name] = region
            given = region.base.to_bytes(8, "little")
        if isinstance(given, int):
            given = (given & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        place = self.addresses[variable] - PARAM_BASE + offset
        for i, byte in enumerate(given[:size]):
            self.parameters.write(place + i, 1, byte)


def declared(function: Function) -> Iterator[Variable]:
    """The variables that a body declares."""
    for statement in function.walk():
        if isinstance(statement, Declaration):
            yield from statement.variables


def element_type_of(operand: Operand) -> Type:
    """The element type of the variable that a symbol names; bytes otherwise."""
    if isinstance(operand, Symbol) and isinstance(operand.target, Variable):
        return element_type(operand.target)
    return TYPES["b8"]


def _symbols(function: Function) -> Iterator[Symbol]:
    for instruction in function.instructions:
        for operand in instruction.operands:
            if isinstance(operand, (Symbol, Address)) or operand.children():
                yield from mentioned(operand)
    for statement in function.walk():
        if isinstance(statement, Label) and isinstance(statement.directive, Targets):
            for name in statement.directive.names:
                yield from mentioned(name)


def _bounded(size: int) -> None:
    if size > MOST_BYTES:
        raise Unsupported(f"{size} bytes in one object")
