"""Instructions whose results are arbitrary but defined, and those without a meaning here."""

from __future__ import annotations

from collections.abc import Iterator

from ..isa import instructions
from ..ptx.ir import Element, Instruction, Operand, Register
from .builder import Builder, nothing
from .code import Op
from .result import Unsupported
from .storage import Storage
from .warp_ops import all_members

# Matrix, texture, surface, video and tensor-memory instructions.
OPAQUE = frozenset(
    {
        "mma", "wmma", "wgmma", "tcgen05", "tex", "tld4", "txq", "suld", "sust", "sured", "suq",
        "istypep", "tensormap", "setmaxnreg", "vabsdiff", "vabsdiff2", "vabsdiff4", "vadd",
        "vadd2", "vadd4", "vavrg2", "vavrg4", "vmad", "vmax", "vmax2", "vmax4", "vmin", "vmin2",
        "vmin4", "vset", "vset2", "vset4", "vshl", "vshr", "vsub", "vsub2", "vsub4",
    }
)  # fmt: skip
_M64 = (1 << 64) - 1


def _registers(operand: Operand) -> Iterator[Operand]:
    if isinstance(operand, Register) and operand.variable.vector > 1:
        yield from (Element(operand, "xyzw"[i]) for i in range(operand.variable.vector))
    elif isinstance(operand, (Register, Element)):
        yield operand
    else:
        for child in operand.children():
            yield from _registers(child)


def written(instruction: Instruction) -> set[int]:
    """The indices of operands that an instruction writes, by the tables of the ISA."""
    opcode, count = instruction.opcode, len(instruction.operands)
    for form in instructions.forms(opcode.mnemonic, opcode.modifiers):
        if len(form.access) == count:
            return {i for i, each in enumerate(form.access) if "w" in each["access"]}
    return {0} if count > 1 else set()


def _split(builder: Builder, instruction: Instruction) -> tuple[list[int], list[int]]:
    """The slots that are written and those that are read."""
    targets: list[int] = []
    sources: list[int] = []
    results = written(instruction)
    for i, operand in enumerate(instruction.operands):
        slots = targets if i in results else sources
        slots += [builder.register(each) for each in _registers(operand)]
    return targets, sources


def opaque(builder: Builder, instruction: Instruction, op: Op) -> None:
    """Results are a hash of all the operands: of the lane, or of all lanes if they act together."""
    targets, sources = _split(builder, instruction)
    opcode = instruction.opcode
    op.detail = "opaque"
    together = "sync" in opcode.modifiers or opcode.mnemonic in ("mma", "wmma", "wgmma")
    if "aligned" in opcode.modifiers:
        all_members(op)
    if not targets:
        op.run = nothing
        return
    salt = sum(ord(c) * 31**i for i, c in enumerate(str(opcode))) & _M64
    widths = [(1 << builder.width(slot)) - 1 for slot in targets]

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        columns = [storage.get(slot, lanes) for slot in sources]
        rows = list(zip(*columns, strict=False)) if columns else [()] * len(lanes)
        whole = hash(tuple(rows)) if together else 0
        for i, (target, width) in enumerate(zip(targets, widths, strict=False)):
            found = []
            for lane, row in zip(lanes, rows, strict=False):
                seed = (salt, whole, lane, i) if together else (salt, row, i)
                found.append(hash(seed) * 0x9E37_79B9_7F4A_7C15 >> 13 & width)
            storage.put(target, mask, lanes, found)

    op.run = run


def unsupported(builder: Builder, instruction: Instruction, op: Op) -> None:
    """Results are undefined, all of them."""
    try:
        targets, _ = _split(builder, instruction)
    except Unsupported:
        targets = []
    op.kind, op.detail, op.members, op.access, op.source = "plain", "unsupported", None, None, None
    widths = [(1 << builder.width(slot)) - 1 for slot in targets]

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for target, width in zip(targets, widths, strict=False):
            values = storage.get(target, lanes)
            storage.put(target, mask, lanes, values, [width] * len(lanes))

    op.run = run
