"""``ptxlint diff A.ptx B.ptx``: what is different, kernel by kernel."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ..analysis.difference import compare
from ..engine.options import UsageError
from ..inputs import InputError
from ..report.difference import json_text, summary, text
from .arguments import Parser
from .color import wanted
from .main import FOUND, TROUBLE, complain
from .whole import whole_module

_LINES = 60
_STDIN = "-"


def run(words: Sequence[str]) -> int:
    """The exit status of ``diff`` with these arguments."""
    flags = _parser().parse(words)
    names = flags.before, flags.after
    if names == (_STDIN, _STDIN):
        raise UsageError("only one of the two files can be standard input")
    try:
        before, after = (whole_module(name) for name in names)
    except InputError as error:
        complain(str(error))
        return TROUBLE
    found = compare(before, after, _LINES if flags.verbose else 0)
    if flags.output_format == "json":
        sys.stdout.write(json_text(names, found))
    else:
        sys.stdout.write(text(names, found, flags.verbose, wanted(flags.color, sys.stdout)))
    if not flags.quiet:
        print(summary(found), file=sys.stderr)
    return FOUND if flags.fail_on == "changed" and not found.equal else 0


def _parser() -> Parser:
    flags = Parser("diff", "Say what is different between two PTX files, kernel by kernel.")
    flags.add_argument("before", metavar="A.ptx", help="a file, or - for stdin")
    flags.add_argument("after", metavar="B.ptx", help="a file, or - for stdin")
    flags.add_argument(
        "--fail-on",
        choices=("changed", "never"),
        default="never",
        help="changed: any difference makes the exit status 1 (default: never)",
    )
    flags.add_argument("--output-format", choices=("text", "json"), default="text")
    flags.add_argument("-q", "--quiet", action="store_true", help="no summary")
    flags.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help=f"a diff of what changed, of at most {_LINES} lines for each kernel; fingerprints",
    )
    flags.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    flags.add_argument("--isolated", action="store_true", help="read no configuration file")
    return flags
