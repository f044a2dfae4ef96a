"""Which part of the text an ``ignore`` comment covers."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from ..ptx.ir import Block, Function, Module, Statement
from .directives import Directive

# From a comment down to the function right below it: other suppressions, then linkage.
_RIGHT_BELOW = re.compile(
    r"[^\S\n]*\n(?:[^\S\n]*//\s*ptxlint:[^\n]*\n)*"
    r"[^\S\n]*(?:\.(?:visible|extern|weak|common)\s+)*"
)


class Range(NamedTuple):
    """Offsets from ``start`` up to, not including, ``end``."""

    start: int
    end: int


class Statements:
    """The statements of a module by place. Blocks are no statements here, what is in them is.

    A function counts as its header; text that did not parse counts as a statement, so that
    its PTX100 can be suppressed like any other finding.
    """

    def __init__(self, module: Module) -> None:
        self._text = module.source.text
        self._functions = {f.start: f for f in module.functions}
        ranges = {Range(s.start, _end(s)) for s in _leaves(module)}
        ranges.update(Range(start, end) for start, end in module.unanalysed)
        self._ranges = sorted(ranges)
        self._starts = [r.start for r in self._ranges]

    def covered(self, comment: Directive) -> Range:
        """What an ``ignore`` comment covers; the comment alone when nothing else."""
        line_start = self._text.rfind("\n", 0, comment.start) + 1
        if self._text[line_start : comment.start].strip():
            return self._on_line(line_start, comment.start)
        return self._below(comment)

    def _on_line(self, line_start: int, comment: int) -> Range:
        """A trailing comment: the statements of its line, from where the first of them begins."""
        covered = Range(line_start, comment)
        for index in range(bisect_left(self._starts, comment) - 1, -1, -1):
            start, end = self._ranges[index]
            if start in self._functions or end <= line_start:
                break
            covered = Range(min(start, covered.start), max(end, covered.end))
        return covered

    def _below(self, comment: Directive) -> Range:
        """A comment on its own line: the next statement, or the function right below."""
        index = bisect_right(self._starts, comment.start)
        if index == len(self._ranges):
            return Range(comment.start, comment.end)
        start, end = self._ranges[index]
        function = self._functions.get(start)
        if function is not None and _RIGHT_BELOW.fullmatch(self._text, comment.end, start):
            return Range(start, max(function.end, end))
        return Range(start, end)


def _leaves(module: Module) -> Iterator[Statement]:
    yield from (item for item in module.items if not isinstance(item, Block))
    for function in module.functions:
        yield function
        yield from (s for s in function.walk() if not isinstance(s, Block))


def _end(statement: Statement) -> int:
    if isinstance(statement, Function) and statement.body is not None:
        return statement.body.start
    return statement.end
