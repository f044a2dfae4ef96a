"""Which rules run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ptxlint.engine.options import Options, UsageError
from ptxlint.engine.selection import selected

from .conftest import made_up

OWN = {"PTX901", "PTX902", "PTX903", "PTX904", "PTX999"}


@pytest.fixture(autouse=True)
def _rules(install: Callable[..., None]) -> None:
    install(
        made_up("PTX301", "misaligned-access"),
        made_up("PTX310", "bank-conflict"),
        made_up("PTX312", "vectorisable-access", default=False),
        made_up("PTX602", "maybe-uninitialised", default=False),
        made_up("SAS301", "sass-bank-conflict"),
    )


def codes(**given: object) -> set[str]:
    return {rule.code for rule in selected(Options.of(**given))}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {"PTX301", "PTX310", "SAS301"} | OWN),
        ({"preview": True}, {"PTX301", "PTX310", "PTX312", "PTX602", "SAS301"} | OWN),
        ({"select": "ALL"}, {"PTX301", "PTX310", "PTX312", "PTX602", "SAS301"} | OWN),
        ({"select": "PTX3"}, {"PTX301", "PTX310"}),
        ({"select": "PTX3", "preview": True}, {"PTX301", "PTX310", "PTX312"}),
        ({"select": "PTX31"}, {"PTX310"}),
        ({"select": "SAS"}, {"SAS301"}),
        ({"select": "maybe-uninitialised, ptx301"}, {"PTX602", "PTX301"}),
        ({"extend_select": "PTX602"}, {"PTX301", "PTX310", "PTX602", "SAS301"} | OWN),
        ({"ignore": "PTX3"}, {"SAS301"} | OWN),
        ({"ignore": "PTX,SAS", "extend_select": "PTX301"}, {"PTX301"}),
        ({"ignore": "bank-conflict", "extend_ignore": "PTX9,SAS"}, {"PTX301"}),
        ({"select": "PTX3", "ignore": "PTX31"}, {"PTX301"}),
        ({"select": "PTX301", "ignore": "PTX3"}, {"PTX301"}),
        ({"select": "PTX301", "ignore": "PTX301"}, set()),
        ({"select": "ALL", "ignore": "ALL"}, set()),
    ],
)
def test_selection(given: dict[str, object], expected: set[str]) -> None:
    assert codes(**given) == expected


@pytest.mark.parametrize("flag", ["select", "extend_select", "ignore", "extend_ignore"])
def test_unknown_names_are_refused_with_a_suggestion(flag: str) -> None:
    with pytest.raises(UsageError, match=r"'bank-conflct'; did you mean 'bank-conflict'\?"):
        codes(**{flag: "bank-conflct"})
    with pytest.raises(UsageError, match="'PTX3010'"):
        codes(**{flag: "PTX3010"})


def test_an_unknown_rule_given_a_level_is_refused() -> None:
    with pytest.raises(UsageError, match="PTX31"):
        codes(severity={"PTX31": "error"})


@pytest.mark.parametrize(
    "given",
    [
        {"block": "256,0"},
        {"block": "1,2,3,4"},
        {"block": "x"},
        {"target": "sm80"},
        {"fail_on": "fatal"},
        {"severity": {"PTX301": "fatal"}},
        {"slect": "ALL"},
    ],
)
def test_malformed_options_are_refused(given: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        Options.of(**given)


def test_options_are_normalised() -> None:
    options = Options.of(block="256", target="sm_90a", select=["PTX301, PTX310"], fail_on="never")
    assert (options.block, options.fail_on) == ((256, 1, 1), None)
    assert options.select == ("PTX301", "PTX310")
    assert Options.of(block=(16, 16)).block == (16, 16, 1)
    assert Options(fail_on=None).key() == Options().key() != Options(preview=True).key()
