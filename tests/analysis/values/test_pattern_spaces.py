"""Thread spaces, and which threads execute what."""

from __future__ import annotations

from ptxlint.analysis.flow.graph import control_flow
from ptxlint.analysis.launch import launch_shape
from ptxlint.analysis.values.patterns import patterns_in_rows_of_16

from .kernels import Kernel, exact, steps

STORE = "\n  st.shared.u32 [tile], %r20;"
BOTH = "mov.u32 %r6, %tid.y;\nmad.lo.u32 %r20, %r6, 100, %r3;" + STORE


def test_a_told_shape_gives_every_coordinate() -> None:
    found = Kernel(BOTH, "8,4,2").operand("%r20")
    assert exact(found) == [t % 8 + 100 * (t // 8 % 4) for t in range(64)] and not found.assumed
    assert exact(Kernel("mov.u32 %r20, %tid.z;" + STORE, "8,4,2").operand("%r20"))[31:33] == [0, 1]
    assert exact(Kernel("mov.u32 %r20, %ntid.x;" + STORE, "8,4,2").operand("%r20")) == [8] * 64


def test_one_dimension_is_assumed_and_said() -> None:
    found = Kernel("mov.u32 %r20, %r3;" + STORE, None).operand("%r20")
    assert exact(found, 1024) == list(range(1024))
    assert found.assumed == ("the block is one-dimensional",)
    bound = Kernel("mov.u32 %r20, %r3;" + STORE, None, "\n.maxntid 96").patterns.space
    assert (bound.size, bound.exact, bound.whole) == (96, False, True)


def test_a_bound_is_no_shape() -> None:
    kernel = Kernel(BOTH, None, "\n.maxntid 128, 1, 1")
    assert kernel.patterns.space.size == 32 and not kernel.patterns.space.whole


def test_rows_of_32_and_of_16() -> None:
    wide = Kernel(BOTH, None).operand("%r20")
    assert steps(wide, 32) == list(range(32))
    assert wide.assumed == ("blockDim.x is a multiple of 32",)
    narrow = Kernel(BOTH, None, of=patterns_in_rows_of_16).operand("%r20")
    assert steps(narrow, 32) == [t % 16 + 100 * (t // 16) for t in range(32)]
    assert narrow.assumed == ("blockDim.x is 16",)
    assert patterns_in_rows_of_16(*_asked("mov.u32 %r20, %r3;" + STORE)) is None


def _asked(body: str) -> tuple[object, object]:
    kernel = Kernel(body, None)
    return kernel.function, kernel.facts


def test_bits_of_the_warp_index() -> None:
    # Lane bit 4 and warp bits 5 and 6, put where lanes have bits too: only whole blocks tell.
    body = "bfe.u32 %r6, %r3, 4, 3;\nshl.b32 %r7, %r6, 1;\nxor.b32 %r20, %r7, %r3;" + STORE
    found = Kernel(body, "128").operand("%r20")
    assert exact(found, 128) == [t ^ (t >> 4 & 7) << 1 for t in range(128)]


def test_a_register_of_a_warp_is_not_of_the_block() -> None:
    found = Kernel("mov.u32 %r20, %warpid;" + STORE).operand("%r20")
    assert found.is_uniform and not found.is_exact and found.scope == 2


def test_vectors_are_shared_between_functions() -> None:
    one, other = Kernel("shl.b32 %r20, %r3, 4;" + STORE), None
    other = type(one.patterns)(one.function, one.facts, one.patterns.space)
    index = one.index("st")
    operand = one.function.instructions[index].operands[1]
    assert one.patterns.at(index, operand).vector is other.at(index, operand).vector


BRANCHES = """
  setp.lt.u32 %p1, %r3, 8;
  @%p1 bra LOW;
  st.shared.u32 [tile], %r3;
  bra MEET;
LOW:
  setp.lt.u32 %p2, %r1, 5;
  @%p2 bra MEET;
  @%p1 st.shared.u32 [tile+4], %r3;
MEET:
  setp.eq.u32 %p3, %r3, 3;
  @%p3 st.shared.u32 [tile+8], %r3;
  setp.gt.u32 %p4, %r3, 59;
  @%p4 ret;
  st.shared.u32 [tile+12], %r3;
"""


def test_threads_of_blocks_edges_and_guards() -> None:
    kernel = Kernel(BRANCHES)
    low, every = (1 << 8) - 1, (1 << 64) - 1
    stores = [kernel.patterns.threads(kernel.index("st", i)) for i in range(4)]
    assert [found.bits for found in stores if found] == [every ^ low, low, 1 << 3, (1 << 60) - 1]
    flow = kernel.facts.once(kernel.function, control_flow)
    entry = flow.blocks[0]
    assert kernel.patterns.edge_threads(0, entry.taken[0]).bits == low
    assert kernel.patterns.edge_threads(0, entry.following).bits == every ^ low
    meet = flow.block_of[kernel.index("st", 2)]
    assert kernel.patterns.lanes(meet).bits == every


def test_threads_beyond_a_bound_check_are_not_known() -> None:
    kernel = Kernel("setp.ge.u32 %p1, %r3, %r1;\n@%p1 ret;\nst.shared.u32 [tile], %r3;")
    assert kernel.patterns.threads(kernel.index("st")) is None


def test_threads_of_a_loop_that_lanes_leave_one_by_one() -> None:
    body = "mov.u32 %r6, {start};\nLOOP:\nst.shared.u32 [tile], %r3;\nadd.u32 %r6, %r6, 32;\n"
    body += "setp.lt.u32 %p1, %r6, %r1;\n@%p1 bra LOOP;\nst.shared.u32 [tile], %r1;"
    parted = Kernel(body.format(start="%r3"))
    assert parted.patterns.threads(parted.index("st", 0)) is None
    assert parted.patterns.threads(parted.index("st", 1)).bits == (1 << 64) - 1
    together = Kernel(body.format(start="0"))
    assert together.patterns.threads(together.index("st", 0)).bits == (1 << 64) - 1


def test_threads_that_leave_from_a_loop_one_by_one() -> None:
    body = "mov.u32 %r6, %r3;\nLOOP:\nst.shared.u32 [tile], %r3;\nadd.u32 %r6, %r6, 32;\n"
    kernel = Kernel(body + "setp.lt.u32 %p1, %r6, %r1;\n@!%p1 bra OUT;\nbra LOOP;\nOUT:")
    assert kernel.patterns.threads(kernel.index("st", 0)) is None


def test_what_the_shape_is_read_for() -> None:
    kernel = Kernel(BOTH, None)
    shape = launch_shape(kernel.function, kernel.facts)
    assert shape.reads == {"%tid.x", "%tid.y", "%ntid.x"} and not shape.linear
