"""One PTX file as a module, for commands that need all of it."""

from __future__ import annotations

import sys

from ..inputs import InputError, decode, read
from ..ptx import parse
from ..ptx.ir import Module

_STDIN = "-"


def whole_module(name: str) -> Module:
    """The module in a file, ``-`` for stdin; raises InputError where any of the text is no PTX."""
    content = sys.stdin.buffer.read() if name == _STDIN else read(name)
    module = parse(decode(content, name), name)
    if module.parsed != "full":
        where = ""
        if module.syntax_problems:
            line = module.source.position(module.syntax_problems[0].start).line
            where = f" (line {line})"
        raise InputError(name, f"not all of it is PTX{where}: ptxlint check says more")
    return module
