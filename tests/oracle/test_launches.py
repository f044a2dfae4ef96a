"""What a kernel is launched with, read off its text."""

from __future__ import annotations

from pathlib import Path

from ptxlint.execute import Buffer
from ptxlint.ptx import parse

from .launches import Plan, launch, plans, pointers
from .parameters import shapes

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
STRUCTURE = (
    HEAD
    + """
.visible .entry k(.param .align 8 .b8 view[24], .param .u64 count, .param .f32 scale)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<8>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [view];
    ld.param.v2.u32 {%r1, %r2}, [view+8];
    ld.param.u64 %rd2, [view+16];
    ld.param.u64 %rd3, [count];
    ld.param.f32 %f1, [scale];
    shl.b64 %rd4, %rd3, 2;
    add.s64 %rd5, %rd1, %rd4;
    ld.f32 %f1, [%rd5];
    cvta.to.global.u64 %rd6, %rd2;
    st.global.u32 [%rd6], %r1;
    ret;
}
"""
)


def test_pointers_are_told_from_numbers() -> None:
    kernel = parse(STRUCTURE).kernels[0]
    found = shapes(kernel)
    assert [(f.offset, f.size, f.kind) for f in found["view"].fields] == [
        (0, 8, "pointer"),
        (8, 4, "integer"),
        (12, 4, "integer"),
        (16, 8, "pointer"),
    ]
    assert [f.kind for f in found["count"].fields] == ["integer"]
    assert [f.kind for f in found["scale"].fields] == ["float"]
    assert pointers(kernel) == {"view", "view+16"}


def test_a_structure_is_given_buffers_at_its_pointers() -> None:
    kernel = parse(STRUCTURE).kernels[0]
    plan = next(plans(kernel, 1))
    view = launch(kernel, plan, 100).parameters["view"]
    assert isinstance(view, dict)
    assert [type(view[offset]) for offset in (0, 8, 12, 16)] == [Buffer, bytes, bytes, Buffer]


def test_a_pointer_is_followed_through_a_call() -> None:
    text = (
        HEAD
        + """
.func store(.param .b64 where)
{
    .reg .b64 %rd<2>;
    ld.param.b64 %rd1, [where];
    st.global.u32 [%rd1], 1;
    ret;
}
.visible .entry k(.param .u64 out, .param .u64 n)
{
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [n];
    { .param .b64 a; st.param.b64 [a], %rd1; call store, (a); }
    ret;
}
"""
    )
    assert pointers(parse(text).kernels[0]) == {"out"}


def test_a_declared_shape_is_kept_to() -> None:
    path = Path(__file__).parent / "kernels" / "shapes.ptx"
    kernels = {k.name: k for k in parse(path.read_text(encoding="utf-8")).kernels}
    assert {p.block for p in plans(kernels["declared_shape"], 6)} == {(64, 2, 1)}
    bounded = {p.block for p in plans(kernels["bounded_shape"], 10)}
    assert (16, 8, 1) in bounded and all(x * y * z <= 128 for x, y, z in bounded)
    assert len({p.block for p in plans(kernels["two_dimensions"], 10)}) >= 5


def test_a_plan_gives_the_same_launch_twice() -> None:
    kernel = parse(STRUCTURE).kernels[0]
    plan = Plan((64, 1, 1), (1, 1, 1), (0, 0, 0), 5, "reconverge")
    assert launch(kernel, plan, 100) == launch(kernel, plan, 100)
