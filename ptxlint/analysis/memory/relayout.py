"""The edits that give a shared object another layout, each held to the model before it is shown.

Padding: the constants by which the address computation multiplies the row change. Swizzle: the
address of each access is xored with bits of itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...isa.types import SIZES
from ...model import Edit, Fix
from ...ptx import parse
from ...ptx.ir import Address, Function, Instruction, Integer, Operand, Register
from ...ptx.printer import print_operand
from ..facts import Facts
from ..flow.ssa import PHI, Values, values
from ..objects import alignment_of, size_of
from ..values.pattern import Pattern
from .layouts import Layout, Padding, Swizzle
from .requests import Request, requests

_THROUGH = frozenset({"mov", "cvt", "cvta"})
_NAME = "%swizzled"
_SHOWN = 12  # lines of the difference
Place = tuple[int, int]
_BRACKET = re.compile(r"\[[^\]\n]*\]")


class _Impossible(Exception):
    """The pitch is not a constant factor that one instruction brings in."""


def relaid(function: Function, facts: Facts, objects: list[Request], layout: Layout) -> Fix | None:
    """Edits after which all of ``objects``, the requests to one object, lie as ``layout`` says.

    None where there are none. The edited text was parsed and analysed again: each request then has
    the address that the layout wants, and those to other memory have the ones that they had.
    """
    try:
        if isinstance(layout, Padding):
            wanted = _Padded(function, facts, layout).edits(objects)
        else:
            wanted = _swizzled(function, facts, objects, layout)
    except _Impossible:
        return None
    if not wanted:
        return None
    text = facts.module.source.text
    edits, shown, pieces, end = [], [], [], 0
    for (start, stop), new in sorted(wanted.items()):
        pieces += [text[end:start], new]
        end = stop
        edits.append(Edit(facts.text_span(start, stop), new))
        shown += [f"- {line.strip()}" for line in text[start:stop].splitlines()]
        shown += [f"+ {line.strip()}" for line in new.splitlines()]
    if not _holds("".join([*pieces, text[end:]]), function, facts, objects, layout):
        return None
    verb = "pad the rows of" if isinstance(layout, Padding) else "swizzle"
    if len(shown) > _SHOWN:
        shown[_SHOWN:] = [f"… and {len(shown) - _SHOWN} lines more"]
    lines = "\n".join(shown)
    return Fix(f"{verb} `{objects[0].access.base}`:\n{lines}", tuple(edits), safe=False)


def _swizzled(
    function: Function, facts: Facts, objects: list[Request], layout: Swizzle
) -> dict[Place, str]:
    """Each access through a register that holds its address, xored."""
    variable = None if objects[0].access.base is None else objects[0].access.base.variable
    if variable is None or alignment_of(variable) < layout.period:
        raise _Impossible
    text = facts.module.source.text
    found: dict[Place, str] = {}
    for request in objects:
        instruction, operand = request.access.instruction, request.access.operand
        body = text[instruction.start : instruction.end]
        if not isinstance(operand, Address) or not isinstance(operand.base, Register):
            raise _Impossible
        if len(_BRACKET.findall(body)) != 1 or SIZES[operand.base.variable.type] != 4:
            raise _Impossible
        base = print_operand(operand.base)
        lines = [
            f"add.u32 {_NAME}0, {base}, {operand.offset};",
            f"shr.u32 {_NAME}1, {_NAME}0, {layout.right};",
            f"and.b32 {_NAME}1, {_NAME}1, {layout.mask:#x};",
            f"xor.b32 {_NAME}0, {_NAME}0, {_NAME}1;",
            _BRACKET.sub(f"[{_NAME}0]", body),
        ]
        margin = instruction.start - text.rfind("\n", 0, instruction.start) - 1
        found[instruction.start, instruction.end] = ("\n" + " " * margin).join(lines)
    first = min(instruction.start for instruction in function.instructions)
    opening = text.rfind("{", 0, first)
    if _NAME in text or opening < 0:
        raise _Impossible
    found[opening, opening + 1] = f"{{\n    .reg .b32 {_NAME}<2>;"
    return found


class _Padded:
    """The statements to replace, by following the addresses back to where the pitch comes in."""

    def __init__(self, function: Function, facts: Facts, layout: Padding) -> None:
        self._function = function
        self._facts = facts
        self._layout = layout
        self._ssa: Values = facts.once(function, values)
        self._found: dict[Place, str] = {}
        self._seen: set[tuple[int, int]] = set()

    def edits(self, objects: list[Request]) -> dict[Place, str]:
        """The new text of each place."""
        for request in objects:
            operand = request.access.operand
            if isinstance(operand, Address) and isinstance(operand.base, Register):
                self._follow(request.access.index, operand.base, 1)
                self._displacement(request.access.instruction, operand)
        if self._found:
            self._declaration(objects[0])
        return self._found

    def _follow(self, reader: int, register: Register, factor: int) -> None:
        value = self._ssa.read(reader, self._ssa.use.numbers[register])
        if value is not None:
            self._value(value, factor)

    def _value(self, value: int, factor: int) -> None:
        if (value, factor) in self._seen:
            return
        self._seen.add((value, factor))
        made = self._ssa.all[value]
        if made.kind == PHI:
            for operand in made.operands:
                self._value(operand, factor)
        elif made.at >= 0:
            self._instruction(made.at, self._function.instructions[made.at], factor)

    def _instruction(self, index: int, made: Instruction, factor: int) -> None:
        mnemonic, operands = made.opcode.mnemonic, made.operands
        if mnemonic in _THROUGH or mnemonic == "add":
            for operand in operands[1:]:
                if isinstance(operand, Register):
                    self._follow(index, operand, factor)
                elif isinstance(operand, Integer) and mnemonic == "add":
                    self._constant(made, operand, factor)
        elif mnemonic in ("shl", "mul", "mad"):
            self._product(index, made, factor)
        elif mnemonic in ("or", "xor", "sub", "selp"):
            raise _Impossible

    def _product(self, index: int, made: Instruction, factor: int) -> None:
        by = next((o for o in made.operands[1:3] if isinstance(o, Integer)), None)
        if by is None:
            return
        shift = made.opcode.mnemonic == "shl"
        scale = 1 << by.value if shift else by.value
        if scale * factor == self._layout.pitch:
            pitch = self._layout.pitch + self._layout.pad
            if pitch % factor or made.guard is not None:
                raise _Impossible
            self._found[made.start, made.end] = _with(made, by, Integer(pitch // factor), shift)
        else:
            other = next((o for o in made.operands[1:3] if isinstance(o, Register)), None)
            if other is not None:
                self._follow(index, other, factor * scale)
        if made.opcode.mnemonic == "mad" and isinstance(made.operands[3], Register):
            self._follow(index, made.operands[3], factor)

    def _constant(self, made: Instruction, operand: Integer, factor: int) -> None:
        """A constant that is added: those of a row or more move."""
        moved = self._layout.moved(operand.value * factor)
        if moved != operand.value * factor:
            if moved % factor or made.guard is not None:
                raise _Impossible
            self._found[made.start, made.end] = _with(
                made, operand, Integer(moved // factor), shift=False
            )

    def _displacement(self, instruction: Instruction, operand: Address) -> None:
        moved = self._layout.moved(operand.offset)
        if moved == operand.offset or operand.base is None:
            return
        text = self._facts.module.source.text[instruction.start : instruction.end]
        if len(_BRACKET.findall(text)) != 1:
            raise _Impossible
        base = print_operand(operand.base)
        self._found[instruction.start, instruction.end] = _BRACKET.sub(f"[{base}+{moved}]", text)

    def _declaration(self, request: Request) -> None:
        variable = None if request.access.base is None else request.access.base.variable
        size = None if variable is None else size_of(variable)
        if variable is None or not size:
            return  # the launch says how large it is
        rows = -(-size // self._layout.pitch)
        text = self._facts.module.source.text[variable.start : variable.end]
        new = re.sub(r"\[\s*\w+\s*\]", f"[{size + rows * self._layout.pad}]", text)
        if ".b8" not in text or text.count("[") != 1:
            raise _Impossible
        self._found[variable.start, variable.end] = new


def _with(made: Instruction, old: Integer, new: Integer, shift: bool) -> str:
    """The instruction's text with a constant replaced; a shift becomes a multiplication."""
    operands: Iterator[Operand] = (new if o is old else o for o in made.operands)
    words = ", ".join(print_operand(o) for o in operands)
    opcode = str(made.opcode)
    if shift:
        opcode = f"mul.lo.u{made.opcode.modifiers[0][1:]}"
    return f"{opcode} {words};"


def _holds(
    text: str, function: Function, facts: Facts, objects: list[Request], layout: Layout
) -> bool:
    """Whether the edited text has the layout, and is otherwise as it was."""
    module = parse(text)
    edited = next((f for f in module.functions if f.name == function.name), None)
    if edited is None or module.parsed != "full":
        return False
    before = facts.once(function, requests)
    after = requests(edited, Facts(module, facts.options))
    if len(before) != len(after):
        return False
    ours = {id(r) for r in objects}
    return all(
        _moved(old, new, layout) if id(old) in ours else _same(old, new)
        for old, new in zip(before, after, strict=True)
    )


def _moved(old: Request, new: Request, layout: Layout) -> bool:
    if old.pattern is None or new.pattern is None or new.wavefronts is None:
        return False
    if new.wavefronts.total > new.wavefronts.minimum:
        return False
    if not _agree(old.pattern, new.pattern, layout):
        return False
    return len(old.every_warp) == len(new.every_warp) and all(
        layout.moved(old.pattern.const + a) == new.pattern.const + b
        for was, now in zip(old.every_warp, new.every_warp, strict=True)
        for (_, a), (_, b) in zip(was, now, strict=True)
    )


def _agree(old: Pattern, new: Pattern, layout: Layout) -> bool:
    """Whether what is symbolic is the same, or whole rows of it have the new pitch."""
    if len(old.terms) != len(new.terms):
        return False
    for (symbol, was), (other, now) in zip(old.terms, new.terms, strict=True):
        wanted = {was}
        if isinstance(layout, Padding) and was % layout.pitch == 0:
            wanted.add(layout.moved(was))
        if symbol.kind != other.kind or now not in wanted:
            return False
    return True


def _same(old: Request, new: Request) -> bool:
    if old.pattern is None or new.pattern is None:
        return old.pattern is new.pattern
    return old.every_warp == new.every_warp and old.pattern.const == new.pattern.const
