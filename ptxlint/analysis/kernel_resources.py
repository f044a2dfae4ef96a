"""What a kernel's text says exactly of the resources that it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..isa.effects import effect
from ..ptx.ir import Function, Instruction, Integer, Operand, Register, Symbol, Variable
from .facts import Facts
from .launch import LaunchShape, launch_shape
from .objects import alignment_of, declarations, size_of
from .shared import named_symbols, static_shared_bytes, static_shared_objects
from .values.patterns import patterns

# Performance-tuning and cluster directives of an entry (PTX ISA) that bound a launch or registers.
BOUNDS = (
    "reqntid",
    "maxntid",
    "minnctapersm",
    "maxnctapersm",
    "maxnreg",
    "reqnctapercluster",
    "maxclusterrank",
)


class Barriers(NamedTuple):
    """``ids`` of the CTA barriers that are named by number; ``open``: whether others may be."""

    ids: tuple[int, ...]
    open: bool


class KernelResources(NamedTuple):
    """Of one kernel; sizes are bytes.

    ``shared``: static shared objects as ptxas lays them out, those of called functions included;
    where not ``shared_exact``, padding between objects of several functions may come on top. The
    1024 bytes that are reserved from sm_90 on are not in it. ``dynamic``: the names of extern
    shared objects. ``local``: objects in local memory that its body declares (spills come on top).
    ``parameters``: up to the end of the last one. ``barriers``: those of called functions
    included. ``bounds``: directives by name, as written. ``shape``: the launch shape, if told.
    """

    shared: int
    shared_exact: bool
    dynamic: tuple[str, ...]
    local: int
    parameters: int
    barriers: Barriers
    bounds: dict[str, tuple[int, ...]]
    shape: LaunchShape


def kernel_resources(kernel: Function, facts: Facts) -> KernelResources:
    """The resources of a kernel with a body."""
    objects = static_shared_objects(kernel, facts)
    functions, variables = _reached(kernel, facts)
    dynamic = [v.name for v in variables if v.space == "shared" and v.linkage == "extern"]
    local = [v for v in facts.once(kernel, declarations) if v.space == "local"]
    return KernelResources(
        static_shared_bytes(kernel, objects),
        _exact(kernel, objects),
        tuple(sorted(set(dynamic))),
        laid_out(local),
        laid_out(kernel.parameters),
        _barriers(functions, facts),
        {name: found for name in BOUNDS if (found := _numbers(kernel, name))},
        facts.once(kernel, launch_shape),
    )


def _exact(kernel: Function, objects: list[Variable]) -> bool:
    """Whether it is sure what ptxas adds between the objects: the body has them all, or none."""
    if all(kernel.start <= variable.start < kernel.end for variable in objects):
        return True
    align = max(alignment_of(variable) for variable in objects)
    return len(objects) == 1 or all((size_of(v) or 1) % align == 0 for v in objects)


def laid_out(objects: Iterable[Variable]) -> int:
    """Bytes of objects one behind the other, each at its alignment."""
    at = 0
    for variable in objects:
        align = alignment_of(variable)
        at = -(-at // align) * align + (size_of(variable) or 0)
    return at


def _numbers(kernel: Function, name: str) -> tuple[int, ...]:
    found = kernel.directive(name)
    return () if found is None else tuple(n for n in found.arguments if isinstance(n, int))


def _reached(kernel: Function, facts: Facts) -> tuple[list[Function], list[Variable]]:
    """The functions that the kernel may run, itself the first, and the objects that they name."""
    functions: dict[int, Function] = {}
    variables: dict[int, Variable] = {}
    waiting: list[object] = [kernel]
    while waiting:
        target = waiting.pop()
        if isinstance(target, Function) and id(target) not in functions:
            functions[id(target)] = target
            waiting += facts.once(target, named_symbols)
        elif isinstance(target, Variable) and id(target) not in variables:
            variables[id(target)] = target
            if target.initialiser is not None:  # a table of functions
                waiting += _targets(target.initialiser)
    return list(functions.values()), list(variables.values())


def _targets(operand: Operand) -> Iterator[object]:
    if isinstance(operand, Symbol):
        yield operand.target
    for child in operand.children():
        yield from _targets(child)


def _barriers(functions: list[Function], facts: Facts) -> Barriers:
    ids: set[int] = set()
    unknown = False
    for function in functions:
        for place, instruction in enumerate(function.instructions):
            if instruction.opcode.mnemonic in ("bar", "barrier"):
                found = _barrier(function, place, instruction, facts)
                if found is None:
                    unknown = True
                elif found >= 0:
                    ids.add(found)
    return Barriers(tuple(sorted(ids)), unknown)


def _barrier(function: Function, place: int, instruction: Instruction, facts: Facts) -> int | None:
    """The number of the barrier; -1 where it is no CTA barrier, None where it is not known."""
    modifiers = instruction.opcode.modifiers
    if modifiers[:1] in (("warp",), ("cluster",)):
        return -1
    at = effect(instruction.opcode.mnemonic, modifiers).results
    operand = instruction.operands[at] if at < len(instruction.operands) else None
    if isinstance(operand, Integer):
        return operand.value
    if isinstance(operand, Register):
        pattern = facts.once(function, patterns).at(place, operand)
        if pattern is not None and pattern.is_constant and not pattern.assumptions:
            return pattern.const
    return None
