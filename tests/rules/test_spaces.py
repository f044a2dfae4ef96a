"""PTX320, PTX321: addresses in another form than is asked for; the interpreter faults on each."""

from __future__ import annotations

import pytest

from ptxlint import Finding, Severity, check_text, parse
from ptxlint.execute import Buffer, Launch, run

WRONG = ("PTX320", "PTX321")


def kernel(statements: str, target: str = "sm_80") -> str:
    """A kernel with an object in each space; statement by statement on lines of their own."""
    body = statements.replace("; ", ";\n    ")
    return f"""\
.version 8.0
.target {target}
.address_size 64
.global .align 16 .b8 table[64];
.const .align 16 .b8 weights[64] = {{1, 2, 3, 4}};
.visible .entry k(.param .u64 out, .param .align 8 .b8 range[16])
.reqntid 32, 1, 1
{{
    .shared .align 16 .b8 tile[64];
    .local .align 16 .b8 frame[64];
    .reg .pred %p<4>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    mov.u32 %r0, %tid.x;
    ld.param.u64 %rd0, [out];
    st.shared.u32 [tile+4], %r0;
    st.local.u32 [frame+4], %r0;
    bar.sync 0;
    {body}
    st.global.u32 [%rd0], %r1;
    ret;
}}
"""


def said(text: str) -> list[Finding]:
    return [finding for finding in check_text(text) if finding.code in WRONG]


def status(text: str) -> str:
    """How the interpreter ends: ``done``, or ``fault``."""
    module = parse(text)
    given = {"out": Buffer(256, bytes(256)), "range": Buffer(16, bytes(16))}
    result = run(module, module.kernels[0], Launch((32, 1, 1), parameters=given))
    assert not result.opaque and not result.unsupported
    return result.status


# Statements, code, space held, space or form wanted.
BAD = {
    "raw shared": ("mov.u64 %rd1, tile; ld.u32 %r1, [%rd1+4];", "PTX320", "shared", "generic"),
    "raw local": ("mov.u64 %rd1, frame; ld.u32 %r1, [%rd1+4];", "PTX320", "local", "generic"),
    "raw const": ("mov.u64 %rd1, weights; ld.u32 %r1, [%rd1];", "PTX320", "const", "generic"),
    "raw through arithmetic": (
        "mov.u64 %rd1, tile; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd1, %rd1, %rd2;"
        " ld.u32 %r1, [%rd1];",
        "PTX320",
        "shared",
        "generic",
    ),
    "raw in an atomic": (
        "mov.u64 %rd1, tile; atom.add.u32 %r1, [%rd1], 1;",
        "PTX320",
        "shared",
        "generic",
    ),
    "converted back": (
        "cvta.shared.u64 %rd1, tile; cvta.to.shared.u64 %rd2, %rd1; ld.u32 %r1, [%rd2+4];",
        "PTX320",
        "shared",
        "generic",
    ),
    "to global": (
        "mov.u64 %rd1, tile; cvta.to.global.u64 %rd2, %rd1; ld.global.u32 %r1, [%rd2];",
        "PTX320",
        "shared",
        "generic",
    ),
    "generic in local": (
        "cvta.local.u64 %rd1, frame; ld.local.u32 %r1, [%rd1+4];",
        "PTX320",
        "local",
        "local",
    ),
    "generic in const": (
        "cvta.const.u64 %rd1, weights; ld.const.u32 %r1, [%rd1];",
        "PTX320",
        "const",
        "const",
    ),
    "shared as global": (
        "mov.u64 %rd1, tile; ld.global.u32 %r1, [%rd1+4];",
        "PTX320",
        "shared",
        "global",
    ),
    "global as shared": (
        "mov.u64 %rd1, table; ld.shared.u32 %r1, [%rd1+4];",
        "PTX320",
        "global",
        "shared",
    ),
    "const as shared": (
        "cvta.const.u64 %rd1, weights; cvta.to.shared.u64 %rd2, %rd1; ld.shared.u32 %r1, [%rd2];",
        "PTX320",
        "const",
        "generic",
    ),
    "local twice": (
        "cvta.local.u64 %rd1, frame; cvta.local.u64 %rd2, %rd1; ld.u32 %r1, [%rd2+4];",
        "PTX321",
        "local",
        "local",
    ),
    "const twice": (
        "cvta.const.u64 %rd1, weights; cvta.const.u64 %rd2, %rd1; ld.u32 %r1, [%rd2];",
        "PTX321",
        "const",
        "const",
    ),
    "to local of an offset": (
        "mov.u64 %rd1, frame; cvta.to.local.u64 %rd2, %rd1; ld.local.u32 %r1, [%rd2+4];",
        "PTX321",
        "local",
        "generic",
    ),
}
# What sm_90 and later do as it was meant.
HARMLESS = {
    "generic in shared": "cvta.shared.u64 %rd1, tile; ld.shared.u32 %r1, [%rd1+4];",
    "shared twice": (
        "cvta.shared.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; ld.u32 %r1, [%rd2+4];"
    ),
    "to shared of an offset": (
        "mov.u64 %rd1, tile; cvta.to.shared.u64 %rd2, %rd1; ld.shared.u32 %r1, [%rd2+4];"
    ),
}
GOOD = {
    "converted": "cvta.shared.u64 %rd1, tile; ld.u32 %r1, [%rd1+4];",
    "from a register": "mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; ld.u32 %r1, [%rd2+4];",
    "window": "mov.u32 %r2, tile; ld.shared.u32 %r1, [%r2+4];",
    "there and back": (
        "cvta.local.u64 %rd1, frame; cvta.to.local.u64 %rd2, %rd1; ld.local.u32 %r1, [%rd2+4];"
    ),
    "global is generic": "mov.u64 %rd1, table; st.u32 [%rd1], %r0; ld.u32 %r1, [%rd1];",
    "global twice": (
        "mov.u64 %rd1, table; cvta.global.u64 %rd1, %rd1; cvta.global.u64 %rd2, %rd1;"
        " st.u32 [%rd2], %r0; ld.u32 %r1, [%rd2];"
    ),
    "parameter window": "mov.u64 %rd1, range; ld.param.u32 %r1, [%rd1+8];",
    "either, by arms": (
        "setp.lt.u32 %p1, %r0, 16; cvta.shared.u64 %rd1, tile; @%p1 cvta.local.u64 %rd1, frame;"
        " ld.u32 %r1, [%rd1+4];"
    ),
    "one of two, selected": (
        "cvta.shared.u64 %rd1, tile; mov.u64 %rd2, table; setp.lt.u32 %p1, %r0, 16;"
        " st.u32 [%rd2+4], %r0; selp.b64 %rd3, %rd1, %rd2, %p1; ld.u32 %r1, [%rd3+4];"
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_each_is_an_error_and_faults(name: str) -> None:
    statements, code, held, wanted = BAD[name]
    text = kernel(statements)
    (finding,) = said(text)
    assert (finding.code, finding.severity) == (code, Severity.ERROR)
    if code == "PTX320":
        assert (finding.data["held"], finding.data["wanted"]) == (held, wanted)
    else:
        assert (finding.data["space"], finding.data["to"]) == (held, wanted == "generic")
    assert finding.labels, "where the address was made"
    if "weights" not in statements:  # the interpreter has no window of constants
        assert status(text) == "fault"
    assert said(kernel(statements, "sm_90"))[0].severity is Severity.ERROR


@pytest.mark.parametrize("name", HARMLESS)
def test_what_sm_90_puts_right_is_a_warning_there(name: str) -> None:
    assert [f.severity for f in said(kernel(HARMLESS[name]))] == [Severity.ERROR]
    assert [f.severity for f in said(kernel(HARMLESS[name], "sm_90a"))] == [Severity.WARNING]
    assert status(kernel(HARMLESS[name])) == "fault"


@pytest.mark.parametrize("name", GOOD)
def test_right_code_is_silent_and_runs(name: str) -> None:
    assert said(kernel(GOOD[name])) == []
    assert status(kernel(GOOD[name])) == "done"


def test_an_address_that_is_used_often_is_one_finding() -> None:
    text = kernel(
        "mov.u64 %rd1, tile; ld.u32 %r1, [%rd1]; ld.u32 %r2, [%rd1+4]; st.u32 [%rd1], %r2;"
    )
    (finding,) = said(text)
    assert len(finding.data["lines"]) == 2
    assert finding.span.start.line == text.splitlines().index("    ld.u32 %r1, [%rd1];") + 1


def test_code_that_asks_for_the_space_may_convert_what_is_not_of_it() -> None:
    asked = (
        "cvta.local.u64 %rd1, frame; isspacep.shared %p1, %rd1; @!%p1 bra ELSE;"
        " cvta.to.shared.u64 %rd2, %rd1; ld.shared.u32 %r1, [%rd2]; bra JOIN;"
        " ELSE: ld.u32 %r1, [%rd1+4]; JOIN:"
    )
    assert said(kernel(asked)) == []
    assert status(kernel(asked)) == "done"


@pytest.mark.parametrize("symbol", ["tile", "frame", "table"])
def test_a_symbol_in_brackets_has_its_own_space(symbol: str) -> None:
    """ptxas 13.5 makes an access of that space of it."""
    assert said(kernel(f"ld.u32 %r1, [{symbol}+4];")) == []


def test_a_tensor_map_may_lie_in_a_parameter() -> None:
    text = """\
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128])
{
    .shared .align 128 .b8 tile[4096];
    .shared .align 8 .b64 full;
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    mov.b64 %rd1, map;
    cvta.param.u64 %rd2, %rd1;
    prefetch.tensormap [%rd2];
    mov.u32 %r1, tile;
    mov.u32 %r2, full;
    cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes
        [%r1], [%rd2, {%r3}], [%r2];
    ret;
}
"""
    assert said(text) == []
