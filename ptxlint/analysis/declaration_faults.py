"""What a declaration or a function's directives say that they can't: the assembler's verdicts.

Each row was tried on ptxas 13.5 (``.version`` 9.0, sm_90a).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..isa.targets import Target
from ..isa.types import REFERENCES
from ..isa.versions import never_made
from ..ptx.ir import (
    Directive,
    Function,
    InitialiserList,
    Module,
    Operand,
    Property,
    Statement,
    Variable,
)
from .facts import Facts
from .objects import declarations, element_size

_NO_INITIAL_VALUE = frozenset({"reg", "local", "shared", "param"})
_POSITIVE = ("maxntid", "reqntid", "minnctapersm", "maxnreg", "reqnctapercluster", "maxclusterrank")
_EXCLUSIVE = (("maxntid", "reqntid"), ("reqnctapercluster", "maxclusterrank"))
_TARGET_OPTIONS = frozenset({"debug", "map_f64_to_f32", "texmode_independent", "texmode_unified"})
_FIRST_WITH_DOUBLES = 13
_VECTOR_LIMIT = 16  # bytes


def variable_faults(facts: Facts) -> Iterator[tuple[Variable, Function | None, str]]:
    """Each variable, parameters included, with what is wrong with its declaration."""
    abi = (facts.module.version or (0, 0)) >= (3, 0)
    for variable in facts.module.variables:
        yield from ((variable, None, fault) for fault in _module_variable(variable, abi))
    for function in facts.module.functions:
        yield from ((variable, function, fault) for variable, fault in _parameters(function))
        if function.body is not None:
            for variable in facts.once(function, declarations):
                yield from ((variable, function, fault) for fault in _body_variable(variable))


def _module_variable(variable: Variable, abi: bool) -> Iterator[str]:
    """``abi``: from PTX 3.0 on; before, module variables in these spaces turned the ABI off."""
    name = variable.name
    if variable.space == "param" or (abi and variable.space in ("reg", "local")):
        yield f"`{name}` is in `.{variable.space}`, which only functions have"
        return
    if variable.linkage == "common" and variable.space != "global":
        yield f"`.common` object `{name}` must be in `.global`"
    if variable.type in REFERENCES and variable.space != "global":
        yield f"`{name}` is a `.{variable.type}`, which must be in `.global`"
    if variable.linkage == "extern" and variable.initialiser is not None:
        yield f"`.extern` object `{name}` can't have an initial value: its definition has it"
    yield from _any_variable(variable)


def _body_variable(variable: Variable) -> Iterator[str]:
    name = variable.name
    if variable.type in REFERENCES:
        yield f"`{name}` is a `.{variable.type}`, which only modules and kernel parameters have"
    elif variable.space == "reg" and variable.dimensions:
        yield f"`{name}` is an array, which can't be in registers"
    if variable.type == "pred" and variable.vector > 1:
        yield f"`{name}` is a vector of predicates, and there is none"
    yield from _any_variable(variable)


def _any_variable(variable: Variable) -> Iterator[str]:
    name, value = variable.name, variable.initialiser
    yield from _alignment(variable)
    if variable.type == "pred" and variable.space != "reg":
        yield f"`{name}` is a predicate, which must be in `.reg`"
    size = element_size(variable) or 0
    if variable.vector > 1 and size > _VECTOR_LIMIT:
        yield f"`{name}` is a vector of {size} bytes, and {_VECTOR_LIMIT} is the most"
    if value is not None and variable.space in _NO_INITIAL_VALUE and variable.linkage != "extern":
        yield f"`{name}` can't have an initial value: it is in `.{variable.space}`"
    elif value is not None and variable.type not in REFERENCES:
        yield from _initialiser(variable, value)
    elif variable.linkage != "extern" and variable.space != "reg" and _is_open(variable):
        yield f"`{name}` has no size: give it one, an initial value, or `.extern`"


def _is_open(variable: Variable) -> bool:
    return any(size is None or size == 0 for size in variable.dimensions)


def _initialiser(variable: Variable, value: Operand) -> Iterator[str]:
    """A list where an array is, none where none is, and not more in it than there is room for."""
    name = variable.name
    shape = [*variable.dimensions, *([variable.vector] if variable.vector > 1 else [])]
    if not shape and isinstance(value, InitialiserList):
        yield f"`{name}` is one value, and its initial value is a list"
    elif shape and not isinstance(value, InitialiserList):
        yield f"`{name}` is an array, and its initial value is not a list"
    elif isinstance(value, InitialiserList) and not any(
        isinstance(element, Property) for element in value.elements
    ):
        room = shape[0]
        if room is not None and len(value.elements) > room:
            yield f"`{name}` has room for {room} values, and {len(value.elements)} are given"


def _parameters(function: Function) -> Iterator[tuple[Variable, str]]:
    for variable in (*function.returns, *function.parameters):
        name = variable.name
        for fault in _alignment(variable):
            yield variable, fault
        if function.is_kernel and variable.space != "param":
            yield variable, f"kernel parameter `{name}` must be in `.param`"
        elif variable.space == "reg" and variable.dimensions:
            yield variable, f"`{name}` is an array, which can't be in registers"
        if function.is_kernel and _is_open(variable):
            yield variable, f"kernel parameter `{name}` has no size"
        elif variable in function.returns and any(size is None for size in variable.dimensions):
            yield variable, f"result `{name}` has no size"
        if variable.type == "pred" and variable.space == "param":
            yield variable, f"`{name}` is a predicate, which must be in `.reg`"
        if variable.pointer is not None and not function.is_kernel:
            yield variable, f"`.ptr` of `{name}`: only kernel parameters have that"


def _alignment(variable: Variable) -> Iterator[str]:
    aligns = [variable.align, variable.pointer[1] if variable.pointer else None]
    for align in aligns:
        if align is not None and (align <= 0 or align & (align - 1)):
            yield f"`.align {align}` of `{variable.name}` is not a power of two"


def directive_faults(function: Function) -> Iterator[tuple[str, str]]:
    """Directives of a function's head, by name, with what is wrong with them."""
    present = {directive.name: directive for directive in function.directives}
    for name in _POSITIVE:
        if name in present and any(
            isinstance(value, int) and value <= 0 for value in present[name].arguments
        ):
            yield name, f"`.{name}` must be more than 0"
    for first, second in _EXCLUSIVE:
        if first in present and second in present:
            yield second, f"`.{first}` and `.{second}` exclude each other"
    if "blocksareclusters" in present and not {"reqntid", "reqnctapercluster"} <= set(present):
        yield "blocksareclusters", "`.blocksareclusters` needs `.reqntid` and `.reqnctapercluster`"


def module_faults(module: Module) -> Iterator[tuple[Statement, str, str]]:
    """The module's directives with what is wrong: the statement, the word at fault, and why."""
    for item in module.items:
        if isinstance(item, Directive) and item.name == "target":
            yield from ((item, word, why) for word, why in _target_faults(item))
        elif (
            isinstance(item, Directive)
            and item.name == "address_size"
            and item.arguments[0] not in (32, 64)
        ):
            size = str(item.arguments[0])
            yield item, size, f"an address has 32 or 64 bits, not {size}"
    if (module.version or (0, 0)) >= (1, 5):
        for variable in module.variables:
            if variable.space == "tex":
                why = f"`.tex` ended with PTX 1.4: `{variable.name}` is to be a `.global .texref`"
                yield variable, variable.name, why


def _target_faults(directive: Directive) -> Iterator[tuple[str, str]]:
    words = [str(word) for word in directive.arguments]
    if Target.parse(words[0]) is None:
        yield words[0], f"`.target` begins with a GPU (sm_80), not with `{words[0]}`"
        return
    numbers = [parsed.number for word in words if (parsed := Target.parse(word))]
    for word in words:
        parsed = Target.parse(word)
        if parsed is None and word not in _TARGET_OPTIONS:
            yield word, f"`.target` has no option `{word}`"
        elif never_made(word):
            yield word, f"there is no GPU target `{word}`"
    if "map_f64_to_f32" in words and min(numbers) >= _FIRST_WITH_DOUBLES:
        yield "map_f64_to_f32", "`map_f64_to_f32` is for GPUs without doubles, before sm_13"
    if {"texmode_unified", "texmode_independent"} <= set(words):
        yield words[-1], "`texmode_unified` and `texmode_independent` exclude each other"
