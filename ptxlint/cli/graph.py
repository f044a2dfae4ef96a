"""``ptxlint graph FILE``: control flow or dependences of kernels, as text or for other tools."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase

from ..analysis.facts import Facts
from ..engine.demangle import demangle
from ..engine.options import Options, UsageError
from ..inputs import InputError, write
from ..ptx.ir import Function, Module
from ..report import graph_dot, graph_graphml, graph_text
from ..report.graph import KINDS, Drawn
from ..report.summary import plural
from .arguments import Parser
from .color import wanted
from .main import TROUBLE, complain
from .whole import whole_module

_FORMATS = ("text", "dot", "graphml", "svg")


def run(words: Sequence[str]) -> int:
    """The exit status of ``graph`` with these arguments."""
    flags = _parser().parse(words)
    try:
        module = whole_module(flags.file)
        facts = Facts(module, Options())
        drawn = [Drawn(function, facts) for function in _chosen(module, flags.kernel)]
        color = flags.output is None and wanted(flags.color, sys.stdout)
        text = _render(drawn, flags.kind, flags.output_format, color)
        if flags.output is None:
            sys.stdout.write(text)
        else:
            write(flags.output, text)
    except InputError as error:
        complain(str(error))
        return TROUBLE
    if not flags.quiet:
        print(_summary(drawn), file=sys.stderr)
    return 0


def _chosen(module: Module, patterns: list[str]) -> list[Function]:
    """The functions that ``--kernel`` takes; without it, all kernels, or all functions."""
    found = [f for f in module.functions if f.body is not None]
    if patterns:
        chosen = [f for f in found if any(_matches(f, pattern) for pattern in patterns)]
        if not chosen:
            raise UsageError(f"no kernel or function matches {', '.join(map(repr, patterns))}")
        return chosen
    chosen = [f for f in found if f.is_kernel] or found
    if not chosen:
        raise UsageError("the file has no kernel or function with a body")
    return chosen


def _matches(function: Function, pattern: str) -> bool:
    return fnmatchcase(function.name, pattern) or fnmatchcase(demangle(function.name), pattern)


def _render(drawn: list[Drawn], kind: str, output_format: str, color: bool) -> str:
    if output_format == "text":
        return graph_text.text(drawn, kind, color)
    if output_format == "graphml":
        return graph_graphml.text(drawn, kind)
    if output_format == "svg" and len(drawn) > 1:
        raise UsageError(f"an svg holds one graph, and {len(drawn)} functions match: use --kernel")
    text = graph_dot.text(drawn, kind)
    return text if output_format == "dot" else _svg(text)


def _svg(text: str) -> str:
    dot = shutil.which("dot")
    if dot is None:
        raise UsageError("svg needs Graphviz's `dot` on the PATH; --output-format dot does not")
    done = subprocess.run([dot, "-Tsvg"], input=text.encode(), capture_output=True, check=False)
    if done.returncode:
        raise UsageError(f"dot failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode()


def _summary(drawn: list[Drawn]) -> str:
    kernels = sum(each.function.is_kernel for each in drawn)
    counts = ((kernels, "kernel"), (len(drawn) - kernels, "function"))
    return ", ".join(f"{count} {plural(count, word)}" for count, word in counts if count)


def _parser() -> Parser:
    flags = Parser("graph", "Draw the control flow or the dependences of kernels.")
    flags.add_argument("file", metavar="FILE", help="a PTX file, or - for stdin")
    flags.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="GLOB",
        help="kernels and functions by name, mangled or not (default: all kernels)",
    )
    flags.add_argument("--kind", choices=KINDS, default="cfg", help="default: cfg")
    flags.add_argument("--output-format", choices=_FORMATS, default="text")
    flags.add_argument("-o", "--output", metavar="FILE", help="write there, not to stdout")
    flags.add_argument("-q", "--quiet", action="store_true", help="no summary")
    flags.add_argument("--color", choices=("auto", "always", "never"), default="auto")
    flags.add_argument("--isolated", action="store_true", help="read no configuration file")
    return flags
