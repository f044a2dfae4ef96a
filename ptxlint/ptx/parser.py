"""PTX text to IR: the fast way through, one statement after the other.

``parse`` cuts the text with the patterns of ``lexical``, looks each statement's shape up and fills
its operands in. What no pattern takes goes to ``recovery``.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable

from . import lexical
from .build import Builder, intern_opcode
from .finish import finish
from .forms import parameter
from .grammar import SyntaxFault
from .ir import Guard, Instruction, Module, Opcode, Operand, Section, SectionItem
from .makers import Shape
from .shapes import Shapes
from .source import Source


def parse(text: str, name: str = "<text>") -> Module:
    """The module of a PTX text. Never raises for bad input: see ``Module.syntax_problems``."""
    collecting = gc.isenabled()
    # Hundreds of thousands of objects that all stay: collections in between only cost.
    gc.disable()
    try:
        return Parser(text, name).run()
    finally:
        if collecting:
            gc.enable()


# Shapes depend on the grammar alone, so that files share them.
_SHAPES: list[Shapes] = []


def shapes() -> Shapes:
    """The store that all parses of this process share."""
    if not _SHAPES:
        _SHAPES.append(Shapes())
    return _SHAPES[0]


class Parser:
    """One run over one text."""

    def __init__(self, text: str, name: str, store: Shapes | None = None) -> None:
        self.module = Module(Source(text, name))
        self.text, self.unclosed = lexical.blank_comments(text)
        self.builder = Builder(self.module)
        self.shapes = store or shapes()
        self.opcodes: dict[str, tuple[Opcode, dict[str, Shape]]] = {}

    def run(self) -> Module:
        """Parse all of it."""
        at, end = 0, len(self.text)
        while at < end:
            match = lexical.ITEM.match(self.text, at)
            if match is None:
                at = self._recover_item(at)
                continue
            try:
                at = self._item(match)
            except (SyntaxFault, ValueError):
                at = self._recover_item(at)
        self.module.mnemonics = {opcode.mnemonic for opcode, _ in self.opcodes.values()}
        finish(self)
        return self.module

    def _recover_item(self, at: int) -> int:
        if not self.text[at:].strip():
            return len(self.text)
        from .recovery import recover_item

        return recover_item(self, at)

    # --- module scope ---------------------------------------------------------------------------

    def _item(self, match: re.Match[str]) -> int:
        kind = match.lastgroup
        if kind == "end":
            return self._function(match)
        if kind == "rows":
            self._section(match)
        else:
            assert kind is not None
            start, end = match.span(kind)
            self.item(start, end)
        return match.end()

    def item(self, start: int, end: int) -> None:
        """A directive or declaration of module scope, or one that may stand in a body too."""
        rule = "statement" if self.builder.blocks else "item"
        text = self.text[start:end]
        flat = lexical.FLAT_LIST.search(text) if "{" in text else None
        if flat is None:
            form, lexemes = self.shapes.directive(text, rule)
        else:
            # A long list of numbers: the shape of a list of one, that one being all the text.
            head = text[: flat.start(1)]
            form, lexemes = self.shapes.directive(head + "0" + text[flat.end(1) :], rule)
            index = len(lexical.split_directive(head)) // 2
            lexemes = [*lexemes[:index], flat.group(1), *lexemes[index + 1 :]]
        if rule == "item":
            self.builder.item(form, lexemes, start, end)
        else:
            self.builder.statement(form, lexemes, start, end)

    def _function(self, match: re.Match[str]) -> int:
        start, end = match.span("function")
        head = self.text[start:end].rstrip()
        opens = match.group("end") == "{"
        self.function_head(head, start, match.start("end") if opens else None)
        if not opens:
            return match.end()
        return self.body(match.end())

    def function_head(self, head: str, start: int, body_start: int | None) -> None:
        """A function's head, parameter by parameter; raises ``SyntaxFault``.

        ``head`` is its text, ``start`` where that begins, ``body_start`` where its ``{`` is.
        """
        builder = self.builder
        if ".attribute" in head:
            from .grammar import parse_form
            from .reference import header_parts

            form, lexemes, lists = header_parts(builder, parse_form(head, "header"), start)
        else:
            lists = []
            cut = []
            last = 0
            for group in lexical.PARAMETER_LIST.finditer(head):
                if not group.group(1).strip():
                    lists.append([])
                    continue
                variables = []
                at = group.start(1)
                for text in group.group(1).split(","):
                    form, lexemes = self.shapes.directive(text, "parameter")
                    begin = start + at + len(text) - len(text.lstrip())
                    stop = start + at + len(text.rstrip())
                    variables.append(parameter(form, lexemes, builder.scope, begin, stop))
                    at += len(text) + 1
                lists.append(variables)
                cut += [head[last : group.start(1)], ".param .b32 _p"]
                last = group.end(1)
            form, lexemes = self.shapes.directive("".join(cut) + head[last:], "header")
        builder.function_header(form, lexemes, lists, start, start + len(head), body_start)

    def _section(self, match: re.Match[str]) -> None:
        rows: list[SectionItem] = []
        text = self.text
        at, end = match.span("rows")
        known: dict[str, SectionItem] = {}
        row_match = lexical.ROW.match
        while row := row_match(text, at, end):
            line = row.group()
            item = known.get(line)
            if item is None:
                from .sections import row_item

                item = row_item(self.builder, row)
                if row.lastindex != 3:
                    known[line] = item
            rows.append(item)
            at = row.end()
        start = match.start("section")
        if text[at:end].strip():
            raise SyntaxFault(at, at, "not a row of a section", ())
        section = Section(match.group("name"), tuple(rows), start, match.end())
        self.builder.add(section)

    # --- bodies -----------------------------------------------------------------------------------

    def body(self, at: int) -> int:
        """Parse from after a ``{`` to after the ``}`` that ends the function."""
        while self.builder.blocks:
            try:
                at = self._statements(at)
            except _Stuck as stuck:  # noqa: PERF203 - once for each fault, not each statement
                from .recovery import recover_statement

                at = recover_statement(self, stuck.at)
        return at

    def _statements(self, at: int) -> int:
        """The hot loop. Returns after the function's last ``}``; raises ``_Stuck``."""
        builder, text, opcodes = self.builder, self.text, self.opcodes
        split, kind_of = lexical.split_operands, self.shapes.kinds.__getitem__
        assert builder.function is not None
        flat = builder.function.instructions.append
        match = lexical.BODY.scanner(text, at).match  # type: ignore[attr-defined]
        scope = builder.scope
        leaf_of: Callable[[str], Operand] = scope.__getitem__
        append = builder.blocks[-1].statements.append
        loc = builder.loc
        instruction_parts, operands_group = lexical.INSTRUCTION, lexical.OPERANDS
        opcode_group, guard_group = lexical.OPCODE, lexical.GUARD
        while found := match():
            which = found.lastindex
            if which != operands_group:
                at = found.end()
                if which == lexical.LABEL:
                    builder.label(found.group(which), found.start(which), at)
                elif which == lexical.LOC_END:
                    parts = found.group(*lexical.LOC_PARTS)
                    loc = builder.loc_directive(parts, found.start(lexical.LOC), at)
                elif which == lexical.DIRECTIVE:
                    try:
                        self.item(found.start(which), at)
                    except (SyntaxFault, ValueError):
                        raise _Stuck(found.start()) from None
                else:
                    if which == lexical.OPEN:
                        builder.open_block(found.start(which))
                    elif builder.close_block(at):
                        return at
                    scope = builder.scope
                    leaf_of = scope.__getitem__
                    append = builder.blocks[-1].statements.append
                continue
            guarded, guard_name, opcode_text, operand_text = found.group(*instruction_parts)
            pieces = split(operand_text)
            words = pieces[1::2]
            key = "\0".join(pieces[::2]) + "".join(map(kind_of, words))
            try:
                opcode, shapes = opcodes[opcode_text]
                shape = shapes[key]
                leaves = tuple(map(leaf_of, words))
                operands = leaves if shape.flat else shape.fill(leaves)
            except KeyError:
                opcode, operands = self._new(found, key, leaf_of)
            except ValueError:
                raise _Stuck(found.start()) from None
            guard: Guard | None = None
            if guarded:
                guard = builder.guard(guard_name, "!" in guarded)
                start = found.start(guard_group)
            else:
                start = found.start(opcode_group)
            at = found.end()
            instruction = Instruction(opcode, guard, operands, start, at, loc)
            append(instruction)
            flat(instruction)
        raise _Stuck(at)

    def _new(
        self, found: re.Match[str], key: str, leaf_of: Callable[[str], Operand]
    ) -> tuple[Opcode, tuple[Operand, ...]]:
        """Opcode and operands where the opcode or the shape is new to this run."""
        text = found.group(lexical.OPCODE)
        if text not in self.opcodes:
            opcode = intern_opcode(text)
            table = self.shapes.calls if opcode.mnemonic == "call" else self.shapes.operands
            self.opcodes[text] = (opcode, table)
        opcode, shapes = self.opcodes[text]
        words = lexical.split_operands(found.group(lexical.OPERANDS))[1::2]
        shape = shapes.get(key)
        try:
            if shape is None:
                shape, words = self._learn(found, key, opcode.mnemonic == "call")
            return opcode, shape.fill(tuple(map(leaf_of, words)))
        except (SyntaxFault, ValueError):
            raise _Stuck(found.start()) from None

    def _learn(self, found: re.Match[str], key: str, is_call: bool) -> tuple[Shape, list[str]]:
        guarded = bool(found.group(lexical.GUARD))
        start = found.start(lexical.GUARD if guarded else lexical.OPCODE)
        return self.shapes.learn_operands(
            self.text[start : found.end()],
            found.start(lexical.OPERANDS) - start,
            found.group(lexical.OPERANDS),
            key,
            is_call,
        )


class _Stuck(Exception):
    """No pattern takes the text at ``at``, or Lark refuses what one took."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at
