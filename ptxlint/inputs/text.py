"""A file's bytes, what they are, and the text in them."""

from __future__ import annotations

import os

_HEAD = 4096
_LARGEST_METADATA = 1 << 20
# ELF, fatbin and its wrapper, ar archives, Windows programs and objects, zip archives and wheels.
_OPENED = (
    b"\x7fELF",
    b"\x50\xed\x55\xba",
    b"\xb1\x43\x62\x46",
    b"!<arch>\n",
    b"!<thin>\n",
    b"MZ\x90\x00",
    b"\x64\x86",
    b"PK\x03\x04",
    b"PK\x05\x06",
)
# PNG, gzip, zstandard.
_OTHER = (b"\x89PNG", b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
_TEXT_CONTROLS = b"\t\n\v\f\r\x1b"


class InputError(OSError):
    """An input that can't be read. ``reason`` says why in one line; ``path`` is what was asked."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str]]:
        return (InputError, (self.path, self.reason))


class NothingInside(InputError):
    """A file that was read to its end and holds no GPU code."""


def reason(error: OSError) -> str:
    """Why an operation failed, in a few words."""
    return (error.strerror or str(error)).lower()


def unwritable(path: str, error: OSError) -> InputError:
    """What is said of a file that can't be written."""
    return InputError(path, f"can't be written: {reason(error)}")


def write(path: str, text: str, errors: str = "strict") -> None:
    """Write a text as UTF-8, with line feeds; raises InputError."""
    try:
        with open(path, "w", encoding="utf-8", errors=errors, newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise unwritable(path, error) from None


def read(path: str) -> bytes:
    """The bytes of a file; raises InputError."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise InputError(path, reason(error)) from None
    except ValueError as error:  # a NUL in the path
        raise InputError(path, str(error)) from None


def metadata(path: str) -> str | None:
    """The text of Triton's metadata for a file: ``name.json`` beside ``name.ptx``.

    None where there is none that names a number of warps; it is no input of its own, so that
    one that can't be read is none.
    """
    beside, dot, _ = path.rpartition(".ptx")
    if not dot:
        return None
    try:
        with open(f"{beside}.json", "rb") as file:
            content = file.read(_LARGEST_METADATA)
    except (OSError, ValueError):
        return None
    return content.decode("utf-8", "replace") if b'"num_warps"' in content else None


def decode(content: bytes, path: str) -> str:
    """PTX text out of bytes; raises InputError for a binary.

    Text is UTF-8, as PTX in practice is; where it is not, each byte is taken for one character
    (Latin-1), so that no comment in another encoding stops the reading.
    """
    kind = binary(content)
    if kind is not None:
        raise InputError(path, f"is {kind}, not PTX")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def is_container(head: bytes) -> bool:
    """Whether a file that begins so is opened for the PTX and cubins in it."""
    return head.startswith(_OPENED)


def is_container_file(path: str) -> bool:
    """As is_container, of a file; one that can't be read is none, nor is a pipe."""
    if not os.path.isfile(path):
        return False  # what is read from a pipe is gone
    try:
        with open(path, "rb") as file:
            return is_container(file.read(max(map(len, _OPENED))))
    except (OSError, ValueError):
        return False


def binary(content: bytes) -> str | None:
    """What a binary is, in words; None for text."""
    if content.startswith(b"\x7fELF"):
        return "a cubin or host ELF"
    if content.startswith((b"\x50\xed\x55\xba", b"\xb1\x43\x62\x46")):
        return "a fatbin"
    if content.startswith((*_OPENED, *_OTHER)):
        return "a binary of unknown kind"
    head = content[:_HEAD]
    if b".version" in head or not head:
        return None
    # NULs at the end are how drivers are handed PTX: the parser speaks of them, it is text still.
    body = head.rstrip(b"\0")
    controls = sum(1 for byte in body if byte < 0x20 and byte not in _TEXT_CONTROLS)
    if not body or b"\0" in body or controls * 20 > len(body):
        return "a binary of unknown kind"
    return None
