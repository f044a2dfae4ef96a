"""What an instruction makes of patterns: one handler for each mnemonic."""

from __future__ import annotations

from collections.abc import Callable

from ...isa.types import SIZES
from ...ptx.ir import Instruction, Opcode, Sink
from .bitwise import bitwise
from .handlers import Evaluator, Handler, all_of
from .operations import by_thread, divide, extract, extreme, insert, remainder, shift_by, uniform
from .pattern import Pattern
from .predicates import (
    COMPARISONS,
    compare,
    conjunction,
    disjunction,
    negate,
    select,
)
from .shifts import truncate, widen
from .types import Types, types_of


def _add(types: Types) -> Handler:
    width = types.width

    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        _, a, b = instruction.operands
        one, other = evaluator.read(a, width), evaluator.read(b, width)
        if one is None or other is None:
            return None
        if instruction.opcode.mnemonic == "add":
            return evaluator.algebra.add(one, other)
        return evaluator.algebra.subtract(one, other)

    return run


def product(
    evaluator: Evaluator, types: Types, a: Pattern, b: Pattern
) -> tuple[Pattern | None, int]:
    """mul.lo, mul.hi or mul.wide, and the width of the result."""
    algebra, width = evaluator.algebra, types.width
    if "wide" in types.modifiers:
        one, other = (widen(algebra, x, 2 * width, types.signed) for x in (a, b))
        if one is None or other is None:
            return None, 2 * width
        return algebra.multiply(one, other), 2 * width
    if "hi" in types.modifiers:
        high = by_thread(
            algebra, ("mul.hi", width), lambda x, y: x * y >> width, (a, b), types.signed, width
        )
        return high, width
    return algebra.multiply(a, b), width


def _mul(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        pair = all_of(evaluator, instruction.operands[1:3], types.width)
        return None if pair is None else product(evaluator, types, *pair)[0]

    return run


def _mad(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        pair = all_of(evaluator, instruction.operands[1:3], types.width)
        if pair is None:
            return None
        found, width = product(evaluator, types, *pair)
        addend = evaluator.read(instruction.operands[3], width)
        if found is None or addend is None:
            return None
        return evaluator.algebra.add(found, addend)

    return run


_BITWISE: dict[str, Callable[[int, int], int]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def _logic(types: Types) -> Handler:
    width = types.width

    def predicates(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        algebra, name = evaluator.algebra, instruction.opcode.mnemonic
        p, q = (evaluator.read(o, 1) for o in instruction.operands[1:3])
        if name == "and":
            return conjunction(algebra, p, q)
        if name == "or":
            return disjunction(algebra, p, q)
        return None if p is None or q is None else algebra.add(p, q)

    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        pair = all_of(evaluator, instruction.operands[1:3], width)
        if pair is None:
            return None
        name = instruction.opcode.mnemonic
        return bitwise(evaluator.algebra, name, _BITWISE[name], pair)

    return predicates if width == 1 else run


def _lop3(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        if types.width != 32 or "BoolOp" in types.modifiers or len(instruction.operands) != 5:
            return None
        given = all_of(evaluator, instruction.operands[1:4], 32)
        table = evaluator.read(instruction.operands[4], 32)
        if given is None or table is None or not table.is_constant:
            return None
        rows = table.const & 255
        name = _LOP3.get(rows, ("lop3", rows))
        if isinstance(name, str):
            first = bitwise(evaluator.algebra, name, _BITWISE[name], given[:2])
            pair = None if first is None else (first, given[2])
            return pair and bitwise(evaluator.algebra, name, _BITWISE[name], pair)
        return bitwise(evaluator.algebra, name, lambda a, b, c: _truth(rows, a, b, c), given)

    return run


_LOP3 = {0x80: "and", 0xFE: "or", 0x96: "xor"}


def _truth(rows: int, a: int, b: int, c: int) -> int:
    """PTX ISA, "lop3": bit i of the table answers for a, b, c as the bits of i."""
    result = 0
    for i in range(8):
        if rows >> i & 1:
            result |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
    return result


def _not(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        a = evaluator.read(instruction.operands[1], types.width)
        if a is None:
            return None
        algebra = evaluator.algebra
        if types.width == 1:
            return negate(algebra, a)
        return algebra.subtract(algebra.constant(-1, types.width), a)

    return run


def _neg(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        a = evaluator.read(instruction.operands[1], types.width)
        return None if a is None else evaluator.algebra.scale(a, -1)

    return run


def _shift(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        a = evaluator.read(instruction.operands[1], types.width)
        count = evaluator.read(instruction.operands[2], 32)
        if a is None or count is None:
            return None
        return shift_by(evaluator.algebra, instruction.opcode.mnemonic, a, count, types.signed)

    return run


def _quotient(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        pair = all_of(evaluator, instruction.operands[1:3], types.width)
        if pair is None:
            return None
        operation = divide if instruction.opcode.mnemonic == "div" else remainder
        return operation(evaluator.algebra, pair[0], pair[1], types.signed)

    return run


def _extreme(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        pair = all_of(evaluator, instruction.operands[1:3], types.width)
        if pair is None:
            return None
        largest = instruction.opcode.mnemonic == "max"
        return extreme(
            evaluator.algebra, pair[0], pair[1], types.signed, largest, evaluator.interior
        )

    return run


def _field(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        operands = instruction.operands
        wide = 2 if instruction.opcode.mnemonic == "bfe" else 3
        words = all_of(evaluator, operands[1:wide], types.width)
        places = all_of(evaluator, operands[wide:], 32)
        if words is None or places is None:
            return None
        if wide == 2:
            return extract(evaluator.algebra, words[0], places[0], places[1], types.signed)
        return insert(evaluator.algebra, words[0], words[1], places[0], places[1])

    return run


def _selp(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        pair = all_of(evaluator, instruction.operands[1:3], types.width)
        if pair is None:
            return None
        p = evaluator.read(instruction.operands[3], 1)
        if p is None and evaluator.interior and pair[0] is not pair[1]:
            return None
        return select(evaluator.algebra, p, pair[0], pair[1])

    return run


def _setp(types: Types) -> Handler:
    names = [m for m in types.modifiers if m in COMPARISONS]
    logic = next((m for m in types.modifiers if m in ("and", "or", "xor")), None)

    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        operands = instruction.operands
        pair = all_of(evaluator, operands[1:3], types.width)
        algebra = evaluator.algebra
        p = None
        if pair is not None:
            if types.integer and names:
                signed = types.signed and names[0] not in ("lo", "ls", "hi", "hs")
                p = compare(algebra, names[0], pair[0], pair[1], signed, evaluator.interior)
            else:
                p = uniform(algebra, str(instruction.opcode), pair, 1, 1)
        if index == 1 and p is not None:
            p = negate(algebra, p)
        if logic is None:
            return p
        q = evaluator.read(operands[3], 1)
        if logic == "and":
            return conjunction(algebra, p, q)
        if logic == "or":
            return disjunction(algebra, p, q)
        return None if p is None or q is None else algebra.add(p, q)

    return run


def _cvt(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        if len(types.names) != 2 or not types.integer:
            return anything(evaluator, instruction, index)
        to, source = types.names
        width, narrow = SIZES[to] * 8, SIZES[source] * 8
        a = evaluator.read(instruction.operands[1], narrow)
        if a is None:
            return None
        algebra = evaluator.algebra
        if narrow < width:
            return widen(algebra, a, width, source[0] == "s")
        return truncate(algebra, a, width)

    return run


def anything(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
    """An instruction without a handler of its own: uniform operands give a uniform result."""
    operands = []
    for operand in instruction.operands[1:]:
        if isinstance(operand, Sink):
            continue
        pattern = evaluator.read(operand, 0)
        if pattern is None:
            return None
        operands.append(pattern)
    name = (str(instruction.opcode), index)
    return uniform(evaluator.algebra, name, operands, 64)


_EXACT: dict[str, Callable[[int], Callable[..., int]]] = {
    "popc": lambda width: lambda a: bin(a).count("1"),
    "clz": lambda width: lambda a: width - a.bit_length(),
    "brev": lambda width: lambda a: int(bin(a)[2:].rjust(width, "0")[::-1], 2),
    "abs": lambda width: lambda a: abs(a - ((a >> (width - 1)) << width)),
}


def _thread_by_thread(types: Types) -> Handler:
    def run(evaluator: Evaluator, instruction: Instruction, index: int) -> Pattern | None:
        if not types.integer:
            return anything(evaluator, instruction, index)
        given = all_of(evaluator, instruction.operands[1:], types.width)
        if given is None:
            return None
        mnemonic = instruction.opcode.mnemonic
        width = 32 if mnemonic in ("popc", "clz") else types.width
        operation = _EXACT[mnemonic](types.width)
        name = (mnemonic, types.width)
        return by_thread(evaluator.algebra, name, operation, given, False, width)

    return run


HANDLERS: dict[str, Callable[[Types], Handler]] = {
    "add": _add,
    "sub": _add,
    "mul": _mul,
    "mad": _mad,
    "and": _logic,
    "or": _logic,
    "xor": _logic,
    "not": _not,
    "neg": _neg,
    "lop3": _lop3,
    "shl": _shift,
    "shr": _shift,
    "div": _quotient,
    "rem": _quotient,
    "min": _extreme,
    "max": _extreme,
    "bfe": _field,
    "bfi": _field,
    "selp": _selp,
    "setp": _setp,
    "cvt": _cvt,
    "popc": _thread_by_thread,
    "clz": _thread_by_thread,
    "brev": _thread_by_thread,
    "abs": _thread_by_thread,
}


_FEW = frozenset({"not", "neg", "cvt", "popc", "clz", "brev", "abs"})
_MANY = {"mad": 4, "selp": 4, "bfe": 4, "bfi": 5}


def least_operands(opcode: Opcode) -> int:
    """The operands without which a handler can't say anything (PTX102)."""
    mnemonic = opcode.mnemonic
    if mnemonic not in HANDLERS or mnemonic in _FEW:
        return 2
    if mnemonic == "setp" and not {"and", "or", "xor"}.isdisjoint(opcode.modifiers):
        return 4
    return _MANY.get(mnemonic, 3)


def handler(opcode: Opcode) -> Handler:
    """The handler of an opcode without memory or lanes."""
    types = types_of(opcode.modifiers)
    make = HANDLERS.get(opcode.mnemonic)
    plain = types.predicate or (types.integer and types.width <= 64)
    if make is None or types.clamped or not (plain or opcode.mnemonic in ("setp", "cvt")):
        return anything
    return make(types)
