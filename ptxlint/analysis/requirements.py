"""What a module needs of the PTX version and of the target, and where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..isa.gates import (
    Feature,
    Gate,
    Lack,
    features,
    fitting,
    lack,
    opcode_gates,
    register_gates,
    register_needles,
)
from ..ptx.ir import Function, Instruction, Module, Opcode, Operand, SpecialRegister
from .claims import Claim, claim
from .facts import Facts, by_opcode

Place = tuple[int, int]


class Need(NamedTuple):
    """Something that needs a version or a target: ``what`` quotes it, ``places`` are its uses.

    ``function`` is where they all are, None for what belongs to the module.
    """

    what: str
    gates: tuple[Gate, ...]
    places: tuple[Place, ...]
    function: Function | None = None
    opcode: Opcode | None = None


def lacking_here(module: Module, facts: Facts) -> list[tuple[Need, Lack]]:
    """All that the module uses and that its own version and target don't have."""
    return list(lacking(module, facts, claim(module)))


def lacking(module: Module, facts: Facts, at: Claim) -> Iterator[tuple[Need, Lack]]:
    """All that the module uses and that ``at`` does not have, with what is lacking."""
    yield from _lacking_opcodes(module, facts, at)
    for name, gates in register_needles().items():
        if any(lack((gate,), *at) for gate in gates) and name in module.source.text:
            yield from _judged(registers(module), at)
            break
    for feature in features():
        why = lack((feature.gate,), *at)
        if why is not None:
            need = _feature(feature, module)
            if need is not None:
                yield need, why


def _lacking_opcodes(module: Module, facts: Facts, at: Claim) -> Iterator[tuple[Need, Lack]]:
    suspects: dict[Opcode, bool] = {}
    for function in module.functions:
        if function.body is None:
            continue
        index = facts.once(function, by_opcode)
        for opcode in index:
            if opcode not in suspects:
                gates = opcode_gates(opcode.mnemonic, opcode.modifiers)
                suspects[opcode] = any(lack((gate,), *at) for gate in gates)
            if suspects[opcode]:
                yield from _judged(_opcode(opcode, index[opcode], function), at)


def _judged(needs: Iterator[Need], at: Claim) -> Iterator[tuple[Need, Lack]]:
    for need in needs:
        why = lack(need.gates, *at)
        if why is not None:
            yield need, why


def needs(module: Module, facts: Facts) -> Iterator[Need]:
    """All that the module uses and that not every version and target has."""
    for function in module.functions:
        if function.body is not None:
            for opcode, found in facts.once(function, by_opcode).items():
                yield from _opcode(opcode, found, function)
    yield from registers(module)
    for feature in features():
        need = _feature(feature, module)
        if need is not None:
            yield need


def _opcode(opcode: Opcode, found: list[Instruction], function: Function) -> Iterator[Need]:
    """The needs of one function's uses of an opcode: one for each number of operands."""
    gates = opcode_gates(opcode.mnemonic, opcode.modifiers)
    if not gates:
        return
    groups: dict[tuple[Gate, ...], list[Instruction]] = {}
    if all(gate.operands is None for gate in gates):
        groups[gates] = found
    else:
        for instruction in found:
            groups.setdefault(fitting(gates, len(instruction.operands)), []).append(instruction)
    for fitted, instructions in groups.items():
        places = tuple((i.start, i.end) for i in instructions)
        yield Need(f"`{opcode}`", fitted, places, function, opcode)


def registers(module: Module) -> Iterator[Need]:
    """The special registers that not every version and target has, by function."""
    text = module.source.text
    if not any(needle in text for needle in register_needles()):
        return
    gates = register_gates()
    for function in module.functions:
        found: dict[str, list[Place]] = {}
        for instruction in function.instructions:
            for operand in instruction.operands:
                for name in _specials(operand):
                    if name in gates:
                        found.setdefault(name, []).append((instruction.start, instruction.end))
        for name, places in found.items():
            yield Need(f"`{name}`", gates[name], tuple(places), function)


def _specials(operand: Operand) -> Iterator[str]:
    if isinstance(operand, SpecialRegister):
        yield operand.name
    for child in operand.children():
        yield from _specials(child)


def _feature(feature: Feature, module: Module) -> Need | None:
    if feature.needle and feature.needle not in module.source.text:
        return None
    if feature.kind == "directive" and not any(f.directive(feature.name) for f in module.functions):
        return None
    from .features import places  # most files come here for nothing

    found = places(feature, module)
    return Need(feature.what, (feature.gate,), tuple(found)) if found else None
