"""Results that nothing uses."""

from __future__ import annotations

from typing import NamedTuple

from ...ptx.ir import Function, Instruction, Operand, Register, SpecialRegister
from ..facts import Facts
from ..flow.graph import control_flow
from ..flow.ssa import DEFINITION, GUARDED, Values, values

# Instructions that do nothing but give a result.
_PURE = frozenset({
    "abs", "add", "addc", "and", "bfe", "bfi", "bfind", "bmsk", "brev", "clz", "cnot",
    "copysign", "cos", "cvt", "cvta", "div", "dp2a", "dp4a", "ex2", "fma", "fns", "isspacep",
    "ld", "ldu", "lg2", "lop3", "mad", "mad24", "madc", "mapa", "max", "min", "mov", "mul",
    "mul24", "neg", "not", "or", "popc", "prmt", "rcp", "rem", "rsqrt", "sad", "selp", "set",
    "setp", "shf", "shl", "shr", "sin", "slct", "sqrt", "sub", "subc", "szext", "tanh",
    "testp", "vabsdiff", "vadd", "vmad", "vmax", "vmin", "vset", "vshl", "vshr", "vsub",
    "xor",
})  # fmt: skip
_ORDERED = frozenset({"volatile", "acquire", "relaxed", "mmio"})
_TIMES = ("%clock", "%globaltimer", "%pm")


class Chain(NamedTuple):
    """Instruction ``last`` makes ``results`` that nothing uses; ``feeding`` make only what goes
    into it.
    """

    last: int
    results: tuple[Register, ...]
    feeding: tuple[int, ...]


def dead_chains(function: Function, facts: Facts) -> list[Chain]:
    """The results of reachable code that nothing uses, and what was made for them alone."""
    flow = facts.once(function, control_flow)
    if not flow.resolved or not flow.blocks:
        return []
    known = facts.once(function, values)
    returned = {id(variable) for variable in (*function.parameters, *function.returns)}
    live = _live(function, known, returned)
    dead = [
        i
        for index in sorted(flow.order)
        for i in range(flow.blocks[index].start, flow.blocks[index].stop)
        if known.writes[i] and not any(value in live for value in known.writes[i])
        if _pure(function.instructions[i])
        if not any(_returned(known, value, returned) for value in known.writes[i])
    ]
    return _chains(function.instructions, known, dead)


def _returned(known: Values, value: int, returned: set[int]) -> bool:
    register = known.use.registers[known.all[value].register]
    return register is not None and id(register.variable) in returned


def _live(function: Function, known: Values, returned: set[int]) -> set[int]:
    """The values that something with an effect needs."""
    pending = [
        value
        for i, instruction in enumerate(function.instructions)
        if not _pure(instruction)
        for value in known.reads[i]
    ]
    for i in range(len(function.instructions)):
        if any(_returned(known, value, returned) for value in known.writes[i]):
            pending += [*known.writes[i], *known.reads[i]]
    live: set[int] = set()
    while pending:
        index = pending.pop()
        if index in live:
            continue
        live.add(index)
        value = known.all[index]
        pending += value.operands
        if value.kind in (DEFINITION, GUARDED):
            pending += known.reads[value.at]
    return live


def _pure(instruction: Instruction) -> bool:
    opcode = instruction.opcode
    if opcode.mnemonic not in _PURE or _ORDERED.intersection(opcode.modifiers):
        return False
    return not any(map(_measures, instruction.operands))


def _measures(operand: Operand) -> bool:
    return isinstance(operand, SpecialRegister) and operand.name.startswith(_TIMES)


def _chains(instructions: list[Instruction], known: Values, dead: list[int]) -> list[Chain]:
    """Dead instructions by the last of each chain."""
    members = set(dead)
    made = {value: i for i in dead for value in known.writes[i]}
    feeds: dict[int, set[int]] = {}
    fed = set()
    carried: dict[int, list[int]] = {}
    for value in known.all:
        for operand in value.operands:
            carried.setdefault(operand, []).append(value.index)
    for index, i in made.items():
        for reader in known.readers(index):
            if reader in members and reader != i:
                feeds.setdefault(reader, set()).add(i)
                fed.add(i)
        if index in carried:
            fed.add(i)
    found = []
    for last in dead:
        if last in fed:
            continue
        feeding, pending = set[int](), [last]
        while pending:
            for i in feeds.get(pending.pop(), ()):
                if i not in feeding:
                    feeding.add(i)
                    pending.append(i)
        registers = [known.use.registers[known.all[v].register] for v in known.writes[last]]
        results = tuple(register for register in registers if register is not None)
        if results and (feeding or not _free(instructions[last])):
            found.append(Chain(last, results, tuple(sorted(feeding))))
    return found


def _free(instruction: Instruction) -> bool:
    """A copy, or a call's result that is read and dropped: compilers write those everywhere."""
    opcode = instruction.opcode
    return opcode.mnemonic == "mov" or (opcode.mnemonic == "ld" and "param" in opcode.modifiers)
