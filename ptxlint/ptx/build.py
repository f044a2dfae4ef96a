"""Forms made into IR: declarations, functions and directives, with their names entered in scopes.

The fast parser and the reference parser (plain Lark over the whole file) both end here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from . import forms
from .grammar import Form
from .ir import (
    Block,
    Declaration,
    Directive,
    Function,
    Guard,
    Instruction,
    Label,
    Loc,
    Module,
    NameProblem,
    Opcode,
    Operand,
    Prototype,
    Section,
    Statement,
    Symbol,
    Targets,
    Variable,
)
from .makers import Shape
from .names import report_undeclared
from .scope import Scope

_LINKAGES = (".extern", ".visible", ".weak", ".common")


class Builder:
    """Fills a ``Module``; keeps the function, block and scope that statements go into."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.module_scope = Scope()
        self.scope = self.module_scope
        self.function: Function | None = None
        self.blocks: list[Block] = []
        self.loc: Loc | None = None
        self.section_symbols: list[Symbol] = []

    # --- adding -------------------------------------------------------------------------------

    def add(self, statement: Statement) -> None:
        """Append to the innermost block, or to the module."""
        (self.blocks[-1].statements if self.blocks else self.module.items).append(statement)

    def open_block(self, start: int) -> None:
        """``{`` at the beginning of a statement."""
        block = Block(start)
        self.blocks[-1].statements.append(block)
        self.blocks.append(block)
        self.scope = Scope(self.scope)

    def close_block(self, end: int) -> bool:
        """``}``; True if it was the function's own."""
        self.blocks.pop().end = end
        if not self.blocks:
            self._close_function(end)
            return True
        self.scope.close()
        assert self.scope.parent is not None
        self.scope = self.scope.parent
        return False

    def _close_function(self, end: int) -> None:
        function = self.function
        assert function is not None
        function.end = end
        # What is still open in the function's own scope is declared nowhere.
        pending = self.scope.pending
        self.scope = self.module_scope
        self.function = None
        self.loc = None
        if pending:
            report_undeclared(self.module, function, pending)

    # --- body statements ------------------------------------------------------------------------

    def instruction(self, instruction: Instruction) -> None:
        """An instruction made elsewhere (the parsers' loops inline this)."""
        assert self.function is not None
        self.blocks[-1].statements.append(instruction)
        self.function.instructions.append(instruction)

    def label(self, name: str, start: int, end: int) -> None:
        """``name:``"""
        label = Label(name, start, end)
        previous = self.scope.label(label)
        if previous is not None:
            self._problem("duplicate-label", label, name, previous)
        self.add(label)

    def loc_directive(self, parts: Sequence[str | None], start: int, end: int) -> Loc:
        """``.loc``: file, line, column, function's symbol, its offset, and where inlined at."""
        file, line, column, symbol, offset, *place = parts
        function: Operand | None = None
        if symbol is not None:
            function = self.section_symbol(symbol)
        at = tuple(int(cast(str, n), 0) for n in place) if symbol is not None else None
        self.loc = Loc(
            int(cast(str, file), 0),
            int(cast(str, line), 0),
            int(cast(str, column), 0),
            function,
            int(offset, 0) if offset else 0,
            cast("tuple[int, int, int] | None", at),
            start,
            end,
        )
        self.blocks[-1].statements.append(self.loc)
        return self.loc

    def statement(self, form: list[Form], lexemes: list[str], start: int, end: int) -> None:
        """Any statement of a body but ``{`` and ``}``, from its form."""
        rule, *children = form
        if rule in ("instruction", "call"):
            self._instruction_form(children, lexemes, start, end)
        elif rule == "label":
            name = lexemes[0] if lexemes else str(children[0])
            self.label(name, start, end)
        elif rule == "loc":
            self._loc_form(children, lexemes, start, end)
        elif rule == "targets":
            names = tuple(self.scope[lexemes[cast(int, i)]] for i in children[1:])
            self._attach(Targets(str(children[0])[1:], names, start, end))
        elif rule == "prototype":
            self._prototype(children, lexemes, start, end)
        elif rule == "declared_function":
            head = cast("list[Form]", children[0])
            lists = [
                [forms.parameter(p, lexemes, self.scope, start, end) for p in part[1:]]
                for part in head
                if isinstance(part, list) and part[0] == "parameters"
            ]
            self.function_header(head, lexemes, lists, start, end, None)
        else:
            self.item(form, lexemes, start, end)

    def item(
        self,
        form: list[Form],
        lexemes: list[str],
        start: int,
        end: int,
        places: Sequence[int | None] = (),
    ) -> None:
        """Any statement of module scope but functions; declarations and pragmas of bodies too.

        ``places`` are the lexemes' offsets from ``start``, for the labels of a section.
        """
        rule, *children = form
        values = [lexemes[c] if isinstance(c, int) else c for c in children]
        module = self.module
        if rule in ("module_variables", "body_variables"):
            self._variables(children, lexemes, start, end)
        elif rule == "version":
            major, minor = str(values[0]).split(".")
            module.version = (int(major), int(minor))
            self.add(Directive("version", (str(values[0]),), start, end))
        elif rule == "target":
            names = tuple(str(v) for v in values)
            if not self.blocks:  # ptxas takes and ignores one inside a function
                module.targets = names
            self.add(Directive("target", names, start, end))
        elif rule == "address_size":
            module.address_size = int(str(values[0]), 0)
            self.add(Directive("address_size", (module.address_size,), start, end))
        elif rule == "file":
            numbers = [int(str(v), 0) for v in (values[0], *values[2:])]
            name = str(values[1])[1:-1]
            module.files[numbers[0]] = name
            self.add(Directive("file", (numbers[0], name, *numbers[1:]), start, end))
        elif rule in ("pragma", "dwarf"):
            texts = tuple(str(v)[1:-1] if rule == "pragma" else str(v) for v in values)
            self.add(Directive(str(rule), texts, start, end))
        elif rule == "alias":
            self._alias([str(v) for v in values], start, end)
        elif rule == "section":
            at = [start + (place or 0) for place in places]
            rows = [forms.section_row(c, lexemes, at, self.section_symbol) for c in children[1:]]
            self.add(Section(str(children[0]), tuple(rows), start, end))
        else:
            raise AssertionError(rule)

    def _instruction_form(
        self, children: list[Form], lexemes: list[str], start: int, end: int
    ) -> None:
        guard = None
        if isinstance(children[0], list) and children[0][0] == "guard":
            negated = len(children[0]) > 2
            guard = self.guard(lexemes[cast(int, children[0][-1])], negated)
            children = children[1:]
        head = cast("list[Form]", children[0])
        words = [lexemes[w] if isinstance(w, int) else str(w) for w in head[1:]]
        opcode = intern_opcode("".join(words))
        parts = forms.children(children[1]) if len(children) > 1 else []
        operands = Shape(parts).fill([self.scope[lexeme] for lexeme in lexemes]) if parts else ()
        self.instruction(Instruction(opcode, guard, operands, start, end, self.loc))

    def guard(self, name: str, negated: bool) -> Guard:
        """The guard of that register in this scope: one object for each."""
        register = self.scope[name]
        guards = self.scope.guards
        key = "!" + name if negated else name
        known = guards.get(key)
        if known is None or known.register is not register:
            known = guards[key] = Guard(register, negated)
        return known

    def _loc_form(self, children: list[Form], lexemes: list[str], start: int, end: int) -> None:
        numbers: list[str | None] = [lexemes[cast(int, c)] for c in children[:3]]
        if len(children) > 3:
            inlined = [lexemes[cast(int, c)] for c in forms.children(children[3])]
            symbol, *rest = inlined
            offset = rest.pop(0) if len(rest) == 4 else None
            numbers += [symbol, offset, *rest]
        else:
            numbers += [None, None]
        self.loc_directive(numbers, start, end)

    def _attach(self, directive: Targets | Prototype) -> None:
        """A jump table or prototype belongs to the label right before it."""
        statements = self.blocks[-1].statements
        if not statements or not isinstance(statements[-1], Label):
            kind = directive.kind if isinstance(directive, Targets) else "callprototype"
            raise ValueError(f"a .{kind} with no label before it")
        statements[-1].directive = directive
        self.add(directive)

    # --- variables ------------------------------------------------------------------------------

    def _variables(self, parts: list[Form], lexemes: list[str], start: int, end: int) -> None:
        linkage, bank, space = "", None, ""
        *head, tail = parts
        for part in head:
            if isinstance(part, list):
                bank = forms.number(forms.text(part[1], lexemes))
            elif part in _LINKAGES:
                linkage = str(part)[1:]
            else:
                space = str(part)[1:]
        open_before = set(self.scope.pending)
        made = forms.variables(forms.children(tail), lexemes, space, self.scope, start, end)
        for variable in made:
            variable.linkage, variable.bank = linkage, bank
            self.declare(variable)
            if variable.name in self.scope.pending and variable.name not in open_before:
                for symbol in self.scope.pending.pop(variable.name):
                    symbol.target = variable  # named in its own initialiser
        if not self.blocks:
            self.module.variables.extend(made)
        self.add(Declaration(tuple(made), start, end))

    def declare(self, variable: Variable | Function) -> None:
        """Enter a declaration; a clash becomes a problem."""
        previous = self.scope.declare(variable)
        if previous is not None:
            kind = "function" if isinstance(variable, Function) else "variable"
            kind = "label" if isinstance(previous, Label) else kind
            self._problem(f"duplicate-{kind}", variable, variable.name, previous)

    def _problem(self, kind: str, at: Statement, name: str, other: Statement) -> None:
        text = self.module.source.text
        start = text.find(name, at.start, at.end)
        start = at.start if start < 0 else start
        self.module.name_problems.append(
            NameProblem(kind, name, start, start + len(name), at, other, self.function)
        )

    # --- functions --------------------------------------------------------------------------------

    def function_header(
        self,
        form: list[Form],
        lexemes: list[str],
        parameters: list[list[Variable]],
        start: int,
        end: int,
        body_start: int | None,
    ) -> None:
        """A function's head. ``parameters`` are the lists in parentheses, in order."""
        kind, *children = form
        function = Function("", kind == "entry", start, end)
        lists = list(parameters)
        directives: list[Directive] = []
        for child in children:
            if isinstance(child, int):
                function.name = lexemes[child]
            elif isinstance(child, str):
                function.linkage = child[1:]
            elif child[0] == "parameters":
                made = tuple(lists.pop(0))
                if function.name:
                    function.parameters = made
                else:
                    function.returns = made
            elif child[0] == "attribute":
                function.attributes += tuple(forms.attribute(child[1:], lexemes))
            else:
                directives.append(forms.directive(child, lexemes, start, end))
        function.directives = tuple(directives)
        if body_start is not None:
            function.body = Block(body_start)
        self.declare(function)
        self.module.functions.append(function)
        self.add(function)
        if function.body is None:
            return
        self.function = function
        self.scope = Scope(self.module_scope)
        for variable in (*function.returns, *function.parameters):
            if variable.name != "_":
                self.declare(variable)
        self.blocks.append(function.body)  # its names share the parameters' scope

    def _prototype(self, parts: list[Form], lexemes: list[str], start: int, end: int) -> None:
        prototype = Prototype("", (), (), (), start, end)
        for part in parts:
            if isinstance(part, int):
                prototype.name = lexemes[part]
            elif isinstance(part, list) and part[0] == "parameters":
                made = tuple(forms.parameter(p, lexemes, self.scope, start, end) for p in part[1:])
                if prototype.name:
                    prototype.parameters = made
                else:
                    prototype.returns = made
            else:
                prototype.directives += (forms.directive(part, lexemes, start, end),)
        self._attach(prototype)

    def _alias(self, names: list[str], start: int, end: int) -> None:
        module = self.module
        self.add(Directive("alias", tuple(names), start, end))
        for name in names:
            if not isinstance(self.module_scope.declared.get(name), Function):
                at = module.source.text.find(name, start, end)
                module.name_problems.append(
                    NameProblem("undeclared", name, at, at + len(name), None, None, None)
                )

    def section_symbol(self, name: str) -> Symbol:
        """A name in line information; bound when the whole module is known."""
        symbol = Symbol(name, None)
        self.section_symbols.append(symbol)
        return symbol


_OPCODES: dict[str, Opcode] = {}
_OPCODES_MAX = 20_000  # real PTX has some 2,200 spellings; noise must not fill the memory


def intern_opcode(text: str) -> Opcode:
    """The ``Opcode`` of a spelling such as ``ld.global.v4.f32``; one object for each."""
    opcode = _OPCODES.get(text)
    if opcode is None:
        if len(_OPCODES) >= _OPCODES_MAX:
            _OPCODES.clear()
        mnemonic, *modifiers = text.split(".")
        opcode = _OPCODES[text] = Opcode(mnemonic, tuple(modifiers))
    return opcode
