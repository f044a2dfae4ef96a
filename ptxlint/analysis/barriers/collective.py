"""What lanes or warps must execute together, at a glance: by opcode and operands."""

from __future__ import annotations

from ...ptx.ir import Function, Instruction, Integer, Opcode
from ..facts import Facts, by_opcode
from ..flow.graph import control_flow
from ..launch import launch_shape
from ..masks.suspects import blocks_behind
from ..memory.lines import Lines

BARRIERS = frozenset({"bar", "barrier"})


def is_barrier(opcode: Opcode) -> bool:
    """Whether it is a barrier of the block: ``bar.sync``, ``barrier.red.aligned`` …"""
    return opcode.mnemonic in BARRIERS and opcode.modifiers[:1] not in (("warp",), ("cluster",))


def is_aligned(opcode: Opcode) -> bool:
    """Whether all lanes of a warp must execute the same such instruction (PTX ISA, ".aligned").

    ``bar`` is ``barrier.aligned``.
    """
    if opcode.mnemonic == "bar":
        return is_barrier(opcode)
    return "aligned" in opcode.modifiers


def collectives(function: Function, facts: Facts) -> list[Instruction]:
    """The barriers of the block, and what is aligned, in order."""
    return facts.of_opcodes(function, lambda opcode: is_barrier(opcode) or is_aligned(opcode))


def barrier_id(instruction: Instruction) -> int | None:
    """The number of a barrier; None where a register tells."""
    opcode, operands = instruction.opcode, instruction.operands
    at = 1 if "red" in opcode.modifiers else 0
    operand = operands[at] if at < len(operands) else None
    return operand.value if type(operand) is Integer else None


def has_count(instruction: Instruction) -> bool:
    """Whether a barrier names how many threads it is for, so that it need not be all."""
    opcode, operands = instruction.opcode, instruction.operands
    if "red" in opcode.modifiers:
        return len(operands) > 3
    return len(operands) > 1


def suspects(function: Function, facts: Facts) -> list[Instruction]:
    """Of the collectives, those behind a branch or guard that may part threads in a known way."""
    found = facts.once(function, collectives) if function.is_kernel else []
    if not found:
        return []
    lines, told = facts.once(function, Lines), facts.once(function, launch_shape).block is not None

    def parts(instruction: Instruction) -> bool:
        if instruction.guard is None:
            return False
        line = lines.of(instruction.guard.register)
        return not line.data and (line.by_lane or (told and line.spread != 0))

    flow = facts.once(function, control_flow)
    behind = blocks_behind(flow, parts)
    places = {id(each) for each in found}
    return [
        each
        for block in flow.blocks
        for each in flow.instructions[block.start : block.stop]
        if id(each) in places and (behind >> block.index & 1 or parts(each))
    ]


def may_exchange(function: Function, facts: Facts) -> bool:
    """Whether a kernel whose block is told both reads and writes shared memory."""
    if not function.is_kernel or facts.once(function, launch_shape).block is None:
        return False
    shared = {o.mnemonic for o in facts.once(function, by_opcode) if _is_shared(o)}
    return {"ld", "st"} <= shared


def _is_shared(opcode: Opcode) -> bool:
    return any(modifier.partition("::")[0] == "shared" for modifier in opcode.modifiers)
