"""What is different between two modules, function by function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Union

from ..ptx.ir import Function, Module
from .aligned import aligned_texts
from .facts import Facts
from .fingerprint import Numbering, key_of
from .normal import Normal, directive_text, normal_form, stable_name
from .objects import alignment_of, declarations, size_of
from .shared import static_shared_bytes, static_shared_objects

Value = Union[int, str, None]


class Change(NamedTuple):
    """Something that is declared: what it is in the one and in the other text; None: not there."""

    what: str
    before: Value
    after: Value


@dataclass(frozen=True)
class FunctionDifference:
    """One function of both texts, or of one.

    ``status`` is ``equal``, ``changed``, ``removed``, ``added``, or ``renamed``: another name, and
    else the same (where the names differ only in what the compiler made of the source file's name,
    that is ``equal``). ``changes`` are of what is declared, ``instructions`` the numbers of these,
    ``mix`` has the gain or loss of each spelling of an opcode, and ``diff`` the lines of a unified
    diff of the normal forms, ``hidden`` more of them left out.
    """

    name: str
    status: str
    is_kernel: bool
    keys: tuple[str | None, str | None]
    new_name: str | None = None
    changes: tuple[Change, ...] = ()
    instructions: tuple[int, int] = (0, 0)
    mix: dict[str, int] = field(default_factory=dict)
    diff: tuple[str, ...] = ()
    hidden: int = 0


@dataclass(frozen=True)
class ModuleDifference:
    """Two modules: what their heads say otherwise, and all functions that have a body."""

    changes: tuple[Change, ...]
    functions: tuple[FunctionDifference, ...]

    @property
    def equal(self) -> bool:
        """Whether nothing is different; a new name is a difference."""
        return not self.changes and all(f.status == "equal" for f in self.functions)


class _Settings(NamedTuple):
    target: str | None = None
    block: tuple[int, int, int] | None = None
    metadata: str | None = None
    driver: str | None = None


class _Side:
    """One module's functions, their normal forms and keys."""

    def __init__(self, module: Module) -> None:
        self.facts = Facts(module, _Settings())
        self.functions = {f.name: f for f in module.functions if f.body is not None}
        self.normal = {name: normal_form(f) for name, f in self.functions.items()}
        self.keys = {name: key_of(normal) for name, normal in self.normal.items()}


def compare(before: Module, after: Module, lines: int = 0) -> ModuleDifference:
    """The differences; with ``lines``, a unified diff of at most so many for each function."""
    sides = _Side(before), _Side(after)
    changes = tuple(_changed(_head(before), _head(after)))
    return ModuleDifference(changes, tuple(_functions(*sides, lines)))


def _head(module: Module) -> dict[str, Value]:
    version = module.version
    return {
        ".version": None if version is None else f"{version[0]}.{version[1]}",
        ".target": ", ".join(module.targets) or None,
        ".address_size": module.address_size,
    }


def _changed(before: dict[str, Value], after: dict[str, Value]) -> Iterator[Change]:
    for what in {**before, **after}:
        if before.get(what) != after.get(what):
            yield Change(what, before.get(what), after.get(what))


def _functions(a: _Side, b: _Side, lines: int) -> Iterator[FunctionDifference]:
    """In the order of the first text; then those that only the second has."""
    pairs = _pairs(a, b)
    for name, function in a.functions.items():
        other = pairs.get(name)
        keys = a.keys[name], None if other is None else b.keys[other]
        if other is None:
            yield FunctionDifference(name, "removed", function.is_kernel, keys)
        elif keys[0] != keys[1]:
            yield _difference(name, other, a, b, lines)
        else:
            status = "equal" if stable_name(name) == stable_name(other) else "renamed"
            new = None if name == other else other
            yield FunctionDifference(name, status, function.is_kernel, keys, new)
    paired = set(pairs.values())
    for name, function in b.functions.items():
        if name not in paired:
            yield FunctionDifference(name, "added", function.is_kernel, (None, b.keys[name]))


def _pairs(a: _Side, b: _Side) -> dict[str, str]:
    """The second text's function for each of the first's, where it has one.

    By name; then by the name without what stands for the source file in it; then, where a key
    occurs once among those left over on each side, by key.
    """
    pairs = {name: name for name in a.functions if name in b.functions}
    stable_a = {name: stable_name(name) for name in a.functions}
    stable_b = {name: stable_name(name) for name in b.functions}
    for one, two in ((stable_a, stable_b), (a.keys, b.keys)):
        left = {n: one[n] for n in a.functions if n not in pairs}
        taken = set(pairs.values())
        right = {n: two[n] for n in b.functions if n not in taken}
        often = Counter(left.values()), Counter(right.values())
        found = {text: name for name, text in right.items()}
        for name, text in left.items():
            if often[0][text] == 1 and often[1][text] == 1:
                pairs[name] = found[text]
    return pairs


def _difference(name: str, other: str, a: _Side, b: _Side, lines: int) -> FunctionDifference:
    one, two = a.functions[name], b.functions[other]
    mix = Counter(str(i.opcode) for i in two.instructions)
    mix.subtract(str(i.opcode) for i in one.instructions)
    diff = list(aligned_texts(a.normal[name], b.normal[other])) if lines else []
    return FunctionDifference(
        name,
        "changed",
        one.is_kernel,
        (a.keys[name], b.keys[other]),
        None if name == other else other,
        (
            *_changed(_declared(one, a), _declared(two, b)),
            *_objects(a.normal[name], b.normal[other]),
        ),
        (len(one.instructions), len(two.instructions)),
        {opcode: count for opcode, count in sorted(mix.items()) if count},
        tuple(diff[:lines]),
        max(0, len(diff) - lines),
    )


def _declared(function: Function, side: _Side) -> dict[str, Value]:
    """What a function declares: its kind, sizes in bytes, and directives."""
    shared = static_shared_objects(function, side.facts)
    local = [v for v in declarations(function, side.facts) if v.space == "local"]
    found: dict[str, Value] = {
        "kind": f"{function.linkage} {'.entry' if function.is_kernel else '.func'}".strip(),
        "shared bytes": static_shared_bytes(function, shared),
        "local bytes": sum(size_of(variable) or 0 for variable in local),
        "parameter bytes": _parameter_bytes(function),
    }
    for directive in function.directives:
        text = directive_text(directive).partition(" ")[2] or "yes"
        key = f".{directive.name}"
        found[key] = f"{found[key]}; {text}" if key in found else text
    return found | _parameters(side.normal[function.name])


def _parameters(normal: Normal) -> dict[str, Value]:
    """The parameters and results by place, as declared."""
    numbering = Numbering(normal.fixed)
    texts = [numbering(line) for line in normal.objects]
    named = (text.partition(": ") for text in texts if text.startswith(("param", "return")))
    return {name: declared for name, _, declared in named}


def _objects(one: Normal, two: Normal) -> Iterator[Change]:
    """Objects in memory that only one of two forms declares or names, whatever they are called."""
    left, right = _declarations(one), _declarations(two)
    gone, come = left - right, right - left
    if gone or come:
        texts = ("; ".join(sorted(side.elements())) or None for side in (gone, come))
        yield Change("objects", *texts)


def _declarations(normal: Normal) -> Counter[str]:
    numbering = Numbering(normal.fixed)
    numbering.texts(normal)
    texts = (numbering(line).partition(": ") for line in normal.objects)
    places = ("param", "return", "argument")  # the latter go with their calls
    return Counter(text for name, _, text in texts if not name.startswith(places))


def _parameter_bytes(function: Function) -> int:
    """Bytes of the parameters as they lie one after another."""
    at = 0
    for variable in function.parameters:
        align = alignment_of(variable)
        at = -(-at // align) * align + (size_of(variable) or 0)
    return at
