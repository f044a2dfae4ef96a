"""C++ names of kernels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxlint.engine.demangle import demangle


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kernel", "kernel"),
        ("_Z5saxpyifPfS_", "saxpy(int, float, float*, float*)"),
        ("_ZN3cub4scanIfEEvPT_", "void cub::scan<float>(float*)"),
        # A closure type, which the parser does not know: the qualified name is still shown.
        ("_ZN2at6native3runIZ3usevEUliE_EEvT_i", "at::native::run<…>"),
        ("_ZN8__main__5saxpyB3v20B110cw51c", "__main__::saxpy(…)"),
        ("_Z", "_Z"),
        ("_Z99999999999999999999x", "_Z99999999999999999999x"),
        ("_ZN3ab", "_ZN3ab"),
    ],
)
def test_demangle(name: str, expected: str) -> None:
    assert demangle(name) == expected


@given(st.text(alphabet="NIELSt0123456789_ZKPvfi$.", max_size=60))
def test_no_name_raises(rest: str) -> None:
    assert demangle("_Z" + rest)


def test_abi_tags_stand_in_the_order_of_the_name() -> None:
    """Numba's names have two; the parser would give them in the order of the run's hashes."""
    name = "_ZN8__main__2upB2v1B6cw51cXB4tag3B2z9E5ArrayIfLi1E1C7mutable7alignedE"
    assert demangle(name).startswith("__main__::up[abi:v1][abi:cw51cX][abi:tag3][abi:z9](Array<")
