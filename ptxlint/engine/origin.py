"""Where a finding comes from: its kernel, the CUDA lines behind its statement, its fingerprint."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from ..model import Finding, SourceLine, Span
from ..ptx.ir import Function, Instruction, Loc, Module
from .demangle import demangle

# Numbered registers and generated labels: what changes when code before them changes.
_RENAMED = re.compile(r"%([A-Za-z_$]+)\d+\b|\$L[\w$]+|\$?L?_*BB\d+_\d+\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DEPTH = 64


class Origins:
    """Fills in what the engine knows of a module's findings."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._functions = sorted(module.functions, key=lambda f: f.start)
        self._inlined: dict[str, list[Loc]] = {}
        self._seen: dict[tuple[str, str | None, str], int] = {}

    def complete(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings, sorted by place, with kernel, source and fingerprint filled in."""
        ordered = sorted(findings, key=lambda f: (f.span, f.code, f.message))
        return [self._complete(finding) for finding in ordered]

    def _complete(self, finding: Finding) -> Finding:
        offset = self._offset(finding.span)
        function = self._function(offset)
        instruction = None if function is None else _instruction(function, offset)
        kernel = finding.kernel or (None if function is None else function.name)
        source = finding.source
        if not source and function is not None and instruction is not None:
            source = self.chain(function, instruction)
        return replace(
            finding,
            kernel=kernel,
            kernel_demangled=None if kernel is None else demangle(kernel),
            source=source,
            fingerprint=self._fingerprint(finding, kernel, self._text(finding.span, instruction)),
        )

    def _offset(self, span: Span) -> int:
        starts = self._module.source.line_starts
        line = min(max(span.start.line, 1), len(starts))
        return starts[line - 1] + span.start.column - 1

    def _function(self, offset: int) -> Function | None:
        index = bisect_right(self._functions, offset, key=lambda f: f.start) - 1
        if index < 0 or self._functions[index].end <= offset:
            return None
        return self._functions[index]

    def _text(self, span: Span, instruction: Instruction | None) -> str:
        """The statement's text; where it is no instruction, the first line of the span."""
        text = self._module.source.text
        if instruction is not None:
            return text[instruction.start : instruction.end]
        start = self._offset(span) - span.start.column + 1
        end = text.find("\n", start)
        return text[start : end if end >= 0 else len(text)]

    def chain(self, function: Function, instruction: Instruction) -> tuple[SourceLine, ...]:
        """The lines that an instruction was made from, the innermost first; none without .loc.

        ``inlined_at`` names a place; the .loc of that place leads on.
        """
        chain: list[SourceLine] = []
        loc = instruction.loc
        while loc is not None and len(chain) < _DEPTH:
            if loc.line:  # line 0 is "no line" (compiler-made code)
                chain.append(self._line(loc.file, loc.line, loc.column))
            place = loc.inlined_at
            if place is None:
                break
            loc, before = self._loc_at(function, place, loc.start), loc
            if loc is None or loc is before:
                chain.append(self._line(*place))
                break
        return tuple(chain)

    def _loc_at(self, function: Function, place: tuple[int, int, int], start: int) -> Loc | None:
        """The nearest .loc before ``start`` for exactly that place which is itself inlined."""
        locs = self._inlined.get(function.name)
        if locs is None:
            locs = [s for s in function.walk() if isinstance(s, Loc) and s.inlined_at is not None]
            self._inlined[function.name] = locs
        fitting = [loc for loc in locs if (loc.file, loc.line, loc.column) == place]
        before = [loc for loc in fitting if loc.start < start]
        return before[-1] if before else fitting[0] if fitting else None

    def _line(self, file: int, line: int, column: int) -> SourceLine:
        return SourceLine(self._module.files.get(file, f"file {file}"), line, column)

    def _fingerprint(self, finding: Finding, kernel: str | None, statement: str) -> str:
        """16 hexadecimal digits that do not change when lines move or registers are renumbered."""
        from hashlib import sha256

        shape = normalised(statement)
        key = (finding.code, kernel, shape)
        occurrence = self._seen.get(key, 0)
        self._seen[key] = occurrence + 1
        text = "\0".join((finding.code, kernel or "", shape, str(occurrence)))
        return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def normalised(statement: str) -> str:
    """A statement without comments, its numbered registers and labels counted from 0."""
    names: dict[str, str] = {}

    def rename(match: re.Match[str]) -> str:
        kind = f"%{match[1]}" if match[1] else "$L"
        return names.setdefault(match[0], f"{kind}#{len(names)}")

    return " ".join(_RENAMED.sub(rename, _COMMENT.sub(" ", statement)).split())


def _instruction(function: Function, offset: int) -> Instruction | None:
    """The instruction at that offset, or None."""
    index = bisect_right(function.instructions, offset, key=lambda i: i.start) - 1
    if index < 0:
        return None
    instruction = function.instructions[index]
    return instruction if offset < max(instruction.end, instruction.start + 1) else None
