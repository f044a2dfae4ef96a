"""The flags of ``ptxlint check``."""

from __future__ import annotations

from argparse import ArgumentTypeError

from ..inputs.extractors import EXTRACTORS
from .arguments import Join, Parser


def parser() -> Parser:
    """The parser of ``check``'s arguments."""
    flags = Parser("check", "Find what is wrong or slow in PTX, by itself or in binaries.")
    flags.add_argument("paths", nargs="+", metavar="PATH", help="file, directory, or - for stdin")
    _selection(flags)
    _files(flags)
    _output(flags)
    _run(flags)
    return flags


def _selection(flags: Parser) -> None:
    group = flags.add_argument_group("rules")
    for flag, text in (
        ("--select", "run only these: codes, prefixes (PTX3), names, ALL"),
        ("--extend-select", "run these besides"),
        ("--ignore", "leave these out"),
        ("--extend-ignore", "leave these out too"),
    ):
        group.add_argument(flag, action=Join, default=[], metavar="CODES", help=text)
    group.add_argument("--preview", action="store_true", help="rules that are off by default too")
    group.add_argument("--target", metavar="SM", help="check against this GPU (sm_80)")
    group.add_argument(
        "--driver", metavar="BRANCH", help="the Linux driver that is to take it (535, 535.54.03)"
    )
    group.add_argument("--block", metavar="X,Y,Z", help="launch shape in threads (256,1,1)")
    group.add_argument(
        "--severity", action=Join, default=[], metavar="CODE=LEVEL", help="give a rule a level"
    )
    group.add_argument(
        "--fail-on",
        choices=("error", "warning", "info", "never"),
        default="warning",
        help="lowest level that makes the exit status 1 (default: warning)",
    )


def _files(flags: Parser) -> None:
    group = flags.add_argument_group("files")
    group.add_argument(
        "--include",
        action=Join,
        default=[],
        metavar="GLOBS",
        help="what to take from directories (default: *.ptx)",
    )
    group.add_argument(
        "--exclude", action=Join, default=[], metavar="GLOBS", help="what not to take from them"
    )
    group.add_argument(
        "--force-exclude", action="store_true", help="exclude files that are named, too"
    )
    group.add_argument(
        "--stdin-filename", default="<stdin>", metavar="NAME", help="what - is called in reports"
    )
    group.add_argument(
        "--extract-with",
        choices=tuple(EXTRACTORS),
        default="native",
        help="who takes PTX out of binaries (default: native)",
    )


def _output(flags: Parser) -> None:
    group = flags.add_argument_group("output")
    group.add_argument(
        "--output-format",
        default="full",
        metavar="FORMAT",
        help="full, concise, json, json-lines, sarif, github",
    )
    group.add_argument(
        "--output",
        action="append",
        default=[],
        metavar="FORMAT=PATH",
        help="write this format to a file as well (repeatable)",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no summary")
    group.add_argument(
        "-v", "--verbose", action="store_true", help="say how each file was read; tracebacks"
    )
    group.add_argument("--statistics", action="store_true", help="count findings by rule")
    group.add_argument("--color", choices=("auto", "always", "never"), default="auto")


def _run(flags: Parser) -> None:
    group = flags.add_argument_group("run")
    group.add_argument(
        "-j",
        "--jobs",
        type=_jobs,
        default=0,
        metavar="N",
        help="processes (default: as many as pay)",
    )
    group.add_argument("--no-cache", action="store_true", help="neither read nor keep results")
    group.add_argument("--isolated", action="store_true", help="read no configuration file")


def _jobs(text: str) -> int:
    """A number of processes, 0 for as many as pay."""
    if not text.isdecimal():
        raise ArgumentTypeError(f"not a number of processes: {text!r}")
    return int(text)
