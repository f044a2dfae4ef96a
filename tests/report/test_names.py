"""Names of kernels, short enough to read."""

from __future__ import annotations

import pytest

from ptxlint.report.names import shorten

LONG = "a_very_long_type_name_indeed, " * 4 + "int"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("k(int)", "k(int)"),
        (f"void ns::k<int>({LONG})", "ns::k<int>(…)"),
        (f"void ns::k<{LONG}>(int)", "ns::k<…>(…)"),
        (f"void ns::C<{LONG}>::f<{LONG}>(int)", "ns::C<…>::f<…>(…)"),
        (f"void (anonymous namespace)::k<{LONG}>(int)", "(anonymous namespace)::k<…>(…)"),
        ("x" * 200, "x" * 79 + "…"),
    ],
)
def test_shorten(name: str, expected: str) -> None:
    assert shorten(name) == expected
    assert len(shorten(name)) <= 80
