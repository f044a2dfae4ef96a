"""From instructions to operations: which module knows which mnemonic."""

from __future__ import annotations

from ..ptx.ir import Element, Register
from . import (
    async_copies,
    atomics,
    barriers,
    bits,
    compare,
    control,
    convert,
    floats,
    integers,
    loads,
    matrices,
    mbarriers,
    moves,
    opaque,
    warp_ops,
)
from .builder import Builder, Maker, in_turn
from .code import Code, Op, Run
from .layout import Layout
from .result import Unsupported
from .storage import Storage

_NUMBERS = integers.by_type(integers.simple, floats.arithmetic_of)
_PRODUCTS = integers.by_type(integers.multiply, floats.arithmetic_of)

_MAKERS: dict[str, Maker] = {
    **dict.fromkeys(("add", "sub", "min", "max", "div", "rem", "abs", "neg", "sad"), _NUMBERS),
    **dict.fromkeys(("mul", "mad"), _PRODUCTS),
    **dict.fromkeys(("madc", "mul24", "mad24"), integers.multiply),
    **dict.fromkeys(("addc", "subc"), integers.with_carry),
    **dict.fromkeys(("dp2a", "dp4a"), integers.dot),
    **dict.fromkeys(
        ("fma", "rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh", "copysign"),
        floats.arithmetic_of,
    ),
    "testp": floats.test_property,
    **dict.fromkeys(("and", "or", "xor", "not", "cnot"), bits.logic),
    **dict.fromkeys(("shl", "shr"), bits.shift),
    **dict.fromkeys(
        ("bfe", "bfi", "bfind", "brev", "clz", "popc", "fns", "bmsk", "szext"), bits.fields
    ),
    "shf": bits.funnel,
    "prmt": bits.permute,
    "lop3": bits.lop3,
    "set": compare.set_,
    "setp": compare.setp,
    "selp": compare.selp,
    "slct": compare.slct,
    "cvt": convert.cvt,
    "mov": moves.mov,
    "cvta": moves.cvta,
    "isspacep": moves.isspacep,
    "mapa": moves.mapa,
    **dict.fromkeys(("getctarank", "createpolicy"), moves.constant_result),
    **dict.fromkeys(
        (
            "membar", "fence", "griddepcontrol", "prefetch", "prefetchu", "nanosleep", "discard",
            "applypriority", "brkpt", "pmevent",
        ),
        moves.no_effect,
    ),
    **dict.fromkeys(("ld", "ldu"), loads.ld),
    "st": loads.st,
    **dict.fromkeys(("atom", "red"), atomics.atomic),
    "shfl": warp_ops.shfl,
    "vote": warp_ops.vote,
    "match": warp_ops.match,
    "redux": warp_ops.redux,
    "elect": warp_ops.elect,
    "activemask": warp_ops.activemask,
    **dict.fromkeys(("bar", "barrier"), barriers.barrier),
    "mbarrier": mbarriers.mbarrier,
    "cp": async_copies.cp,
    "ldmatrix": matrices.ldmatrix,
    "stmatrix": matrices.stmatrix,
    "movmatrix": matrices.movmatrix,
    **dict.fromkeys(("bra", "brx"), control.branch),
    **dict.fromkeys(("exit", "ret", "trap"), control.leave),
    "call": control.call,
    "alloca": control.alloca,
    **dict.fromkeys(("stacksave", "stackrestore"), control.stack),
    **dict.fromkeys(opaque.OPAQUE, opaque.opaque),
}  # fmt: skip


def lower(code: Code, layout: Layout, pc: int) -> Op:
    """The operation of an instruction; one without a meaning becomes ``unsupported``."""
    instruction = code.function.instructions[pc]
    builder = Builder(code, layout)
    op = Op(pc, instruction)
    maker = _MAKERS.get(instruction.opcode.mnemonic, opaque.unsupported)
    try:
        maker(builder, instruction, op)
    except (Unsupported, KeyError, IndexError, StopIteration, ValueError, AttributeError):
        # What the tables of a family do not have, or operands of another shape.
        opaque.unsupported(builder, instruction, op)
    guard = instruction.guard
    if guard is not None and isinstance(guard.register, (Register, Element)):
        op.guard, op.negated = builder.register(guard.register), guard.negated
    if builder.volatile and op.run is not None:
        op.run = in_turn([_refreshing(builder.volatile), op.run])
    code.ops[pc] = op
    return op


def _refreshing(volatile: list[tuple[int, str]]) -> Run:
    """Read the clocks anew."""

    def run(storage: Storage, mask: int, lanes: tuple[int, ...]) -> None:
        for slot, name in volatile:
            storage.values[slot] = [storage.warp.clock(name)] * 32

    return run
