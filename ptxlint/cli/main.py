"""From the process's arguments to a command and back to an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

# Command, its module's one-line description. The bare form is ``check``.
COMMANDS = {
    "check": "find what is wrong or slow in PTX (the default)",
    "compat": "say which PTX version, target and driver files need",
    "diff": "say what changed between two PTX files, kernel by kernel",
    "extract": "list the PTX and cubins in a binary, or write them out",
    "graph": "draw the control flow or the dependences of kernels",
    "resources": "say what each kernel takes, and how it uses memory",
    "rule": "print the page of a rule",
}

FOUND, TROUBLE, INTERRUPTED = 1, 2, 130

_HELP = """\
usage: ptxlint [check] PATH...       {check}
       ptxlint compat PATH...        {compat}
       ptxlint diff A.ptx B.ptx      {diff}
       ptxlint extract PATH...       {extract}
       ptxlint graph FILE            {graph}
       ptxlint resources PATH...     {resources}
       ptxlint rule CODE|NAME|--all  {rule}
       ptxlint COMMAND --help        the flags of a command
       ptxlint --version

exit status: 0 nothing at or above --fail-on, 1 something found, 2 usage or unreadable input
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit status: 0, 1 something found, 2 trouble."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    verbose = "-v" in words or "--verbose" in words
    _harden()
    try:
        status = _dispatch(words)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone (head, less). Python would complain once more at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as stop:  # argparse, after it has printed its line
        return stop.code if isinstance(stop.code, int) else TROUBLE
    except Exception as error:
        if verbose:
            raise
        complain(f"internal error: {type(error).__name__}: {error} (-v prints the traceback)")
        return TROUBLE
    return status


def complain(message: str) -> None:
    """One line on stderr."""
    print(f"ptxlint: {' '.join(message.split())}", file=sys.stderr)


def _dispatch(words: list[str]) -> int:
    if words[:1] in (["--help"], ["-h"]) or not words:
        print(_HELP.format(**COMMANDS), end="", file=sys.stdout if words else sys.stderr)
        return 0 if words else TROUBLE
    if words[:1] in (["--version"], ["-V"]):
        from .. import __version__

        print(f"ptxlint {__version__}")
        return 0
    name = "check"
    if words[0] in COMMANDS:
        name = words.pop(0)
    from ..engine.options import UsageError

    command = import_module(f".{name}", __package__)
    try:
        status: int = command.run(words)
    except UsageError as error:
        complain(f"error: {error}")
        return TROUBLE
    return status


def _harden() -> None:
    """Names and messages hold any character: printing them must not fail on any terminal."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
