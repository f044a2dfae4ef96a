"""What a call may do to memory, as far as the callee's text says."""

from __future__ import annotations

from collections.abc import Iterator

from ...ptx.ir import Function, Instruction, Module, Symbol
from ..calls import aliased
from ..facts import Facts
from .access import CALL
from .accesses import accesses

_OWN = frozenset({"param", "const"})  # a caller sees nothing of what is read or written there


def callee_effect(call: Instruction, facts: Facts) -> tuple[bool, bool]:
    """Whether what a call leads to may read memory, and whether it may write it."""
    known = facts.of_module(_effects)
    target = _target(call)
    return (True, True) if target is None else known.get(id(target), (True, True))


def _target(call: Instruction) -> Function | None:
    """The function that a direct call goes to."""
    for operand in call.operands[:2]:
        if isinstance(operand, Symbol):
            return operand.target if isinstance(operand.target, Function) else None
    return None


def _effects(module: Module, facts: Facts) -> dict[int, tuple[bool, bool]]:
    """The effects of the functions of the module that only lead to functions of the module."""
    aliases = facts.of_module(aliased)
    bodies = {id(f): f for f in module.functions if f.body is not None and f.name not in aliases}
    own = {key: _own(function, facts) for key, function in bodies.items() if not function.is_kernel}
    callees = {key: list(_callees(bodies[key])) for key in own}
    found: dict[int, tuple[bool, bool]] = {}
    for key in own:
        seen, stack = {key}, [key]
        reads = writes = False
        while stack:
            each = stack.pop()
            mine = own.get(each, (True, True))
            reads, writes = reads or mine[0], writes or mine[1]
            for callee in callees.get(each, ()):
                if callee not in seen:
                    seen.add(callee)
                    stack.append(callee)
        found[key] = reads, writes
    return found


def _callees(function: Function) -> Iterator[int]:
    for instruction in function.instructions:
        if instruction.opcode.mnemonic == CALL:
            target = _target(instruction)
            yield 0 if target is None else id(target)


def _own(function: Function, facts: Facts) -> tuple[bool, bool]:
    """What the function itself does to memory that a caller can see; not what it calls."""
    seen = [
        access
        for access in facts.once(function, accesses)
        if access.kind != CALL
        and access.space not in _OWN
        and not (access.base is not None and access.base.kind == "stack")
    ]
    return any(a.reads for a in seen), any(a.writes for a in seen)
