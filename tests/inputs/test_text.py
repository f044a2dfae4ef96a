"""What is text, what is a binary, and what a binary is called."""

from __future__ import annotations

import os
import pickle
import random

import pytest

from ptxlint.inputs import InputError, decode, read


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x7fELF\x02\x01\x01" + b"\0" * 40, "a cubin or host ELF"),
        (b"\x50\xed\x55\xba\x01\0", "a fatbin"),
        (b"\xb1\x43\x62\x46\x01\0", "a fatbin"),
        (b"\x89PNG\r\n\x1a\n", "a binary of unknown kind"),
        (b"PK\x03\x04....", "a binary of unknown kind"),
        (b"\x1f\x8b\x08", "a binary of unknown kind"),
        (random.Random(1).randbytes(3000), "a binary of unknown kind"),
        ("text in two-byte characters".encode("utf-16"), "a binary of unknown kind"),
        (b"\0" * 100, "a binary of unknown kind"),
    ],
)
def test_binaries_are_refused_by_kind(content: bytes, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        decode(content, "f.bin")
    assert str(caught.value) == f"f.bin: is {kind}, not PTX"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"not PTX at all",
        b".version 8.0\n\0",
        b"\tret;\n" + b"\0" * 3,
        b"\0.version 8.0\n",
        "// \N{GREEK SMALL LETTER ALPHA}\n".encode(),
        b"a" * 20_000_000,
    ],
)
def test_text_comes_through_whole(content: bytes) -> None:
    assert decode(content, "f.ptx").encode() == content


def test_bytes_that_are_not_utf8_are_taken_one_by_one() -> None:
    assert (
        decode(b".version 8.0 // caf\xe9", "f.ptx")
        == ".version 8.0 // caf\N{LATIN SMALL LETTER E WITH ACUTE}"
    )


def test_what_cannot_be_read_says_why(tmp_path: object) -> None:
    with pytest.raises(InputError, match="no such file or directory"):
        read("/nowhere/x.ptx")
    with pytest.raises(InputError, match="is a directory"):
        read(str(tmp_path))
    with pytest.raises(InputError, match="null"):
        read("a\0b")


def test_input_errors_travel_between_processes() -> None:
    error = pickle.loads(pickle.dumps(InputError("p", "why")))
    assert (error.path, error.reason, isinstance(error, OSError)) == ("p", "why", True)
    assert os.fspath(error.path) == "p"
