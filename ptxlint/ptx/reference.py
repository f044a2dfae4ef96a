"""The reference: plain Lark over the whole text, into the same IR. Slow; what the tests compare."""

from __future__ import annotations

from typing import Any, cast

from .build import Builder
from .forms import parameter
from .grammar import Form, Parse, form_of, parse_tree
from .ir import Module, Variable
from .sections import bind_symbols
from .source import Source


def parse_reference(text: str, name: str = "<text>") -> Module:
    """The module of a PTX text, by the grammar alone.

    Raises ``SyntaxFault``, and ``ValueError`` for a constant expression that has no value.
    """
    module = Module(Source(text, name))
    builder = Builder(module)
    for child in parse_tree(text, "module").children:
        node: Any = child
        if node.data == "function":
            _function(builder, node)
        else:
            start, end = node.meta.start_pos, node.meta.end_pos
            parse = form_of(node, start)
            builder.item(parse.form, parse.lexemes, start, end, parse.places)
    bind_symbols(builder)
    module.mnemonics = {i.opcode.mnemonic for f in module.functions for i in f.instructions}
    return module


def _function(builder: Builder, node: Any) -> None:
    head: Any = node.children[0]
    body: Any = node.children[1] if len(node.children) > 1 else None
    start, end = head.meta.start_pos, head.meta.end_pos
    opens = body.meta.start_pos if body is not None else None
    form, lexemes, lists = header_parts(builder, form_of(head, start), start)
    builder.function_header(form, lexemes, lists, start, end, opens)
    if body is None:
        return
    stack = [iter(body.children)]
    ends = [body.meta.end_pos]
    while stack:
        for statement in stack[-1]:
            if statement.data == "block":
                builder.open_block(statement.meta.start_pos)
                stack.append(iter(statement.children))
                ends.append(statement.meta.end_pos)
                break
            parse = form_of(statement)
            meta = statement.meta
            builder.statement(parse.form, parse.lexemes, meta.start_pos, meta.end_pos)
        else:
            stack.pop()
            builder.close_block(ends.pop())


def header_parts(
    builder: Builder, parse: Parse, start: int
) -> tuple[list[Form], list[str], list[list[Variable]]]:
    """A whole head's form, its lexemes, and the variables of its parameter lists.

    ``start`` is where the head begins in the module's text.
    """
    lists = []
    for child in parse.form:
        if isinstance(child, list) and child[0] == "parameters":
            variables = []
            for form in cast("list[list[Form]]", child[1:]):
                first, last = parse.extents[id(form)]
                variables.append(
                    parameter(form, parse.lexemes, builder.scope, start + first, start + last)
                )
            lists.append(variables)
    return parse.form, parse.lexemes, lists
