"""What a kernel takes: by hand, and against what ptxas puts into its cubin."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ptxlint.analysis.facts import Facts
from ptxlint.analysis.kernel_resources import KernelResources, kernel_resources
from ptxlint.engine.options import Options
from ptxlint.inputs.cubin import Cubin
from ptxlint.ptx import parse

from .. import ptxas

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "ptx" / "sm_80"
# No recursion, no virtual calls: of these ptxas keeps what is declared.
NAMES = (
    "block_scan",
    "bitonic_step",
    "dynamic_shared",
    "gemm_pipeline",
    "histogram_shared",
    "layer_norm",
    "barrier_pipeline",
    "struct_params",
    "spill",
)
TEXT = """.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 flag[4];
.extern .shared .align 16 .b8 pool[];
.func helper() { .shared .align 8 .b8 own[8]; bar.sync 5; ret; }
.func other() { .reg .b32 %r; mov.u32 %r, pool; ret; }
.global .u64 table[2] = { helper, other };
.visible .entry k(.param .u8 a, .param .align 8 .b8 s[12], .param .u32 n)
.maxntid 128, 2, 1
.minnctapersm 3
{
  .reg .b32 %r<4>; .reg .pred %p;
  .shared .align 2 .b8 odd[3];
  .shared .align 16 .b8 tile[64];
  .local .align 1 .b8 byte[1];
  { .local .align 16 .b8 depot[20]; }
  mov.u32 %r1, 3;
  mov.u32 %r2, flag;
  bar.sync %r1;
  bar.arrive 1, 64;
  barrier.cta.red.popc.aligned.u32 %r2, 7, 64, %p;
  bar.warp.sync 0xffffffff;
  BODY
  ret;
}
"""


def of(body: str = "", block: str | None = None) -> KernelResources:
    module = parse(TEXT.replace("BODY", body))
    assert module.parsed == "full"
    return kernel_resources(module.kernels[0], Facts(module, Options.of(block=block)))


def test_by_hand() -> None:
    found = of()
    assert (found.shared, found.shared_exact) == (4 + 3 + 64, False)
    assert (found.local, found.parameters, found.dynamic) == (36, 24, ())
    assert found.barriers == ((1, 3, 7), False)
    assert found.bounds == {"maxntid": (128, 2, 1), "minnctapersm": (3,)}
    assert (found.shape.block, found.shape.most) == (None, 256)
    assert of(block="64,2").shape.block == (64, 2, 1)


def test_what_is_called_counts() -> None:
    called = of("call helper;")
    assert (called.shared, called.barriers.ids) == (4 + 3 + 64 + 8, (1, 3, 5, 7))
    by_table = of(".reg .b64 %rd; mov.u64 %rd, table;")
    assert (by_table.shared, by_table.dynamic) == (called.shared, ("pool",))


def test_a_barrier_in_a_register() -> None:
    body = "ld.param.u32 %r3, [n]; bar.sync %r3;"
    assert of(body).barriers == ((1, 3, 7), True)


def test_shared_is_exact_where_one_body_declares_it() -> None:
    module = parse(TEXT.replace("BODY", "").replace("mov.u32 %r2, flag;", ""))
    found = kernel_resources(module.kernels[0], Facts(module, Options()))
    assert (found.shared, found.shared_exact) == (80, True)


def test_shared_is_exact_where_no_order_needs_padding() -> None:
    text = TEXT.replace("odd[3]", "odd[32]").replace("flag[4]", "flag[16]").replace("BODY", "")
    module = parse(text)
    found = kernel_resources(module.kernels[0], Facts(module, Options()))
    assert (found.shared, found.shared_exact) == (16 + 32 + 64, True)


@ptxas.needed
@pytest.mark.parametrize("name", NAMES)
def test_equal_to_what_ptxas_makes_of_it(name: str, tmp_path: Path) -> None:
    path, cubin = CORPUS / f"{name}.ptx", tmp_path / "x.cubin"
    tool = ptxas.find()
    assert tool is not None
    subprocess.run([tool, "-arch=sm_80", "-o", str(cubin), str(path)], check=True)
    made = {kernel.name: kernel for kernel in Cubin(cubin.read_bytes()).kernels}
    module = parse(path.read_text(), str(path))
    facts = Facts(module, Options())
    assert len(module.kernels) == len(made) > 0
    for kernel in module.kernels:
        found, theirs = kernel_resources(kernel, facts), made[kernel.name]
        assert found.shared_exact
        assert (found.shared, found.parameters) == (theirs.shared, theirs.parameters_size)
        assert not found.barriers.open
        assert max(found.barriers.ids, default=-1) + 1 == theirs.barriers
        assert found.bounds.get("maxntid") == theirs.max_threads
