"""``ld``, ``ldu`` and ``st`` in all spaces (PTX ISA, "ld", "st")."""

from __future__ import annotations

from ..isa.types import signed
from ..ptx.ir import Address, Instruction, Operand, Symbol, Variable
from .builder import Builder
from .code import Access, Op, Run
from .storage import Storage
from .types import Type, types_of

SPACES = {
    "global": "global", "shared": "shared", "shared::cta": "shared", "shared::cluster": "shared",
    "local": "local", "const": "const", "param": "param", "param::entry": "param",
    "param::func": "param",
}  # fmt: skip
_COUNTS = {"v2": 2, "v4": 4, "v8": 8}


def space_of(modifiers: tuple[str, ...]) -> str:
    """The space that an opcode names; "" for generic."""
    for modifier in modifiers:
        found = SPACES.get(modifier.split("[")[0])
        if found is not None:
            return found
    return ""


def count_of(modifiers: tuple[str, ...]) -> int:
    """The elements of a vector access."""
    return next((_COUNTS[m] for m in modifiers if m in _COUNTS), 1)


def access_of(builder: Builder, operand: Operand, modifiers: tuple[str, ...], size: int) -> Access:
    """The access to an address operand."""
    slot, offset, declared = builder.address(operand)
    space = space_of(modifiers)
    if not space and declared == "const":
        space = "const"
    if isinstance(operand, Address) and isinstance(operand.base, Symbol):
        variable = operand.base.target
        # Parameters of device functions and of calls lie with the thread's local memory.
        if isinstance(variable, Variable) and variable in builder.code.locals and space == "param":
            space = "call"
    return Access(space, slot, offset, size)


def ld(builder: Builder, instruction: Instruction, op: Op) -> None:
    """A load; narrow values are extended to the register as their type says."""
    modifiers = instruction.opcode.modifiers
    type_, count = types_of(modifiers)[-1], count_of(modifiers)
    op.access = access_of(builder, instruction.operands[1], modifiers, type_.size * count)
    targets = [builder.target(each) for each in builder.elements(instruction.operands[0])]
    widths = [builder.width(slot) for slot in targets]
    op.run = loading(targets, widths, type_)


def loading(targets: list[int], widths: list[int], type_: Type) -> Run:
    """Read one element after another into the targets."""
    size = type_.size
    plan = list(zip(range(0, size * len(targets), size), targets, widths, strict=False))

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        places = [storage.places[lane] for lane in lanes]
        done = []
        for step, target, width in plan:
            found = []
            unknown: list[int] | None = None
            for place in places:
                assert place is not None
                region, offset = place
                offset += step
                found.append(int.from_bytes(region.data[offset : offset + size], "little"))
                if region.undefined is not None and unknown is None:
                    unknown = []
            if unknown is not None:
                unknown = [p[0].marks(p[1] + step, size) for p in places if p is not None]
            if type_.signed and width > type_.width:
                all_ones = (1 << width) - 1
                found = [signed(value, type_.width) & all_ones for value in found]
                if unknown is not None:
                    unknown = [signed(value, type_.width) & all_ones for value in unknown]
            done.append((target, found, unknown))
        for target, found, unknown in done:
            storage.put(target, mask, lanes, found, unknown)

    return run


def st(builder: Builder, instruction: Instruction, op: Op) -> None:
    """A store; of two lanes at one place the higher one wins."""
    modifiers = instruction.opcode.modifiers
    type_, count = types_of(modifiers)[-1], count_of(modifiers)
    op.access = access_of(builder, instruction.operands[0], modifiers, type_.size * count)
    sources = builder.sources(builder.elements(instruction.operands[1]), type_)
    op.run = storing(sources, type_)


def storing(sources: list[int], type_: Type) -> Run:
    """Write one element after another."""
    size, bits = type_.size, type_.mask
    plan = list(zip(range(0, size * len(sources), size), sources, strict=False))

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for step, source in plan:
            values = storage.values[source]
            marks = storage.undefined[source]
            for lane in lanes:
                place = storage.places[lane]
                assert place is not None
                region, offset = place
                mark = 0 if marks is None else marks[lane] & bits
                region.write(offset + step, size, values[lane] & bits, mark)

    return run
