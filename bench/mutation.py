"""Operators that break a PTX text at one line. The number of lines stays."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import NamedTuple

_TYPES = ("b16", "b32", "b64", "u16", "u32", "u64", "s32", "s64", "f16", "f32", "f64", "pred", "b8")
_TYPE = re.compile(r"\.(?:[busf](?:8|16|32|64)|pred)(?![\w])")
_VERSIONS = ("6.3", "6.5", "7.0", "7.4", "7.8", "8.0", "8.3", "8.6", "8.8")
_TARGETS = (75, 80, 86, 89, 90, 100)
_BROKEN = ("0f3F80", "0d3FF", "0xZZ", "0b12", "1e", "09")

_STATEMENT = re.compile(
    r"^(?P<before>\s*(?:@!?[\w$%.]+\s+)?)(?P<opcode>[a-z]\w*(?:(?:\.|::)\w+)*)"
    r"(?:(?P<gap>\s+)(?P<operands>[^;]*?))?(?P<after>\s*;\s*(?://.*)?)$"
)
_REG = re.compile(r"^\s*\.reg\s+(?:\.v\d\s+)?\.(\w+)\s+([^;]*);\s*(?://.*)?$")
_REGISTER = re.compile(r"%[A-Za-z_$]+\d+\b(?!\.)")
_NUMBER = re.compile(r"(?<![\w.$%])-?\d+(?![\w.])")
_VERSION = re.compile(r"^(\s*\.version\s+)(\d+)\.(\d+)")
_TARGET = re.compile(r"^(\s*\.target\s+)sm_(\d+)[af]?\b")


class Statement(NamedTuple):
    """An instruction that fills a line: what stands before the opcode, and so on."""

    before: str
    opcode: str
    gap: str
    operands: tuple[str, ...]
    after: str

    def text(self) -> str:
        """The line."""
        return f"{self.before}{self.opcode}{self.gap}{', '.join(self.operands)}{self.after}"


Change = Callable[[str, Random, "Text"], "str | None"]


class Text:
    """A PTX text by lines, and the registers that it declares as ranges, by type."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.registers: dict[str, str] = {}
        for line in self.lines:
            if match := _REG.match(line):
                for name, count in re.findall(r"([\w$%]+)<(\d+)>", match[2]):
                    if int(count) > 1:
                        self.registers[name] = match[1]


def mutated(text: Text, operator: str, random: Random) -> tuple[int, str] | None:
    """A line's number and the text with it changed; None where the operator finds no place."""
    change = OPERATORS[operator]
    places = list(range(len(text.lines)))
    random.shuffle(places)
    for place in places:
        line = text.lines[place]
        made = change(line, random, text)
        if made is not None and made != line:
            lines = [*text.lines[:place], made, *text.lines[place + 1 :]]
            return place + 1, "\n".join(lines)
    return None


def statement(line: str) -> Statement | None:
    """The instruction that a line holds, and nothing else."""
    match = _STATEMENT.match(line)
    if match is None or "/*" in line:
        return None
    operands = match["operands"] or ""
    if operands and not balanced(operands):
        return None
    return Statement(
        match["before"],
        match["opcode"],
        match["gap"] or "",
        tuple(split(operands)) if operands else (),
        match["after"],
    )


def balanced(text: str) -> bool:
    """Whether brackets close."""
    return all(text.count(a) == text.count(b) for a, b in ("[]", "{}", "()"))


def split(operands: str) -> list[str]:
    """Operands, cut at the commas outside brackets."""
    parts, depth, begin = [], 0, 0
    for at, char in enumerate(operands):
        if char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
        elif char == "," and not depth:
            parts.append(operands[begin:at].strip())
            begin = at + 1
    return [*parts, operands[begin:].strip()]


# --- operators -----------------------------------------------------------------------------------


def _of_statement(change: Callable[[Statement, Random, Text], Statement | None]) -> Change:
    def apply(line: str, random: Random, text: Text) -> str | None:
        found = statement(line)
        made = None if found is None else change(found, random, text)
        return None if made is None else made.text()

    return apply


def _op(found: Statement, random: Random, text: Text) -> Statement:
    mnemonic, dot, rest = found.opcode.partition(".")
    return found._replace(opcode=f"{mnemonic}q{dot}{rest}")


def _mod(found: Statement, random: Random, text: Text) -> Statement:
    return found._replace(opcode=found.opcode + ".foo")


def _dropmod(found: Statement, random: Random, text: Text) -> Statement | None:
    words = found.opcode.split(".")
    if len(words) < 2:
        return None
    del words[random.randrange(1, len(words))]
    return found._replace(opcode=".".join(words))


def _swapmod(found: Statement, random: Random, text: Text) -> Statement | None:
    words = found.opcode.split(".")
    pairs = [i for i in range(1, len(words) - 1) if words[i] != words[i + 1]]
    if not pairs:
        return None
    i = random.choice(pairs)
    words[i], words[i + 1] = words[i + 1], words[i]
    return found._replace(opcode=".".join(words))


def _type(found: Statement, random: Random, text: Text) -> Statement | None:
    matches = list(_TYPE.finditer(found.opcode))
    if not matches:
        return None
    match = random.choice(matches)
    other = random.choice([name for name in _TYPES if f".{name}" != match[0]])
    opcode = f"{found.opcode[: match.start()]}.{other}{found.opcode[match.end() :]}"
    return found._replace(opcode=opcode)


def _arity(found: Statement, random: Random, text: Text) -> Statement | None:
    if len(found.operands) < 2:
        return None
    at = random.randrange(len(found.operands))
    return found._replace(operands=found.operands[:at] + found.operands[at + 1 :])


def _extra(found: Statement, random: Random, text: Text) -> Statement | None:
    return found._replace(operands=(*found.operands, "1", "2")) if found.operands else None


def _imm(found: Statement, random: Random, text: Text) -> Statement | None:
    if len(found.operands) < 2 or not _REGISTER.fullmatch(found.operands[0]):
        return None
    return found._replace(operands=("5", *found.operands[1:]))


def _on_operands(found: Statement, places: list[re.Match[str]], new: str, random: Random) -> str:
    """The operands as text with one place replaced."""
    match = random.choice(places)
    return f"{match.string[: match.start()]}{new}{match.string[match.end() :]}"


def _registers(found: Statement, pattern: re.Pattern[str]) -> list[re.Match[str]]:
    return list(pattern.finditer(", ".join(found.operands)))


def _reg(found: Statement, random: Random, text: Text) -> Statement | None:
    places = [
        match
        for match in _registers(found, _REGISTER)
        if match[0].rstrip("0123456789") in text.registers
    ]
    if not places:
        return None
    place = random.choice(places)
    own = text.registers[place[0].rstrip("0123456789")]
    others = [name for name, type in text.registers.items() if type != own]
    if not others:
        return None
    changed = _on_operands(found, [place], f"{random.choice(others)}1", random)
    return found._replace(operands=(changed,))


def _undef(found: Statement, random: Random, text: Text) -> Statement | None:
    places = _registers(found, _REGISTER)
    if not places:
        return None
    return found._replace(operands=(_on_operands(found, places, "%zz99999", random),))


def _lit(found: Statement, random: Random, text: Text) -> Statement | None:
    places = _registers(found, _NUMBER)
    if not places:
        return None
    return found._replace(operands=(_on_operands(found, places, random.choice(_BROKEN), random),))


def _comma(found: Statement, random: Random, text: Text) -> Statement | None:
    if len(found.operands) < 2:
        return None
    at = random.randrange(1, len(found.operands))
    joined = f"{found.operands[at - 1]} {found.operands[at]}"
    operands = (*found.operands[: at - 1], joined, *found.operands[at + 1 :])
    return found._replace(operands=operands)


def _semi(found: Statement, random: Random, text: Text) -> Statement:
    return found._replace(after=found.after.replace(";", "", 1))


def _brk(found: Statement, random: Random, text: Text) -> Statement | None:
    places = [i for i, operand in enumerate(found.operands) if "]" in operand]
    if not places:
        return None
    at = random.choice(places)
    operand = found.operands[at].replace("]", "", 1)
    return found._replace(operands=(*found.operands[:at], operand, *found.operands[at + 1 :]))


def _dropreg(line: str, random: Random, text: Text) -> str | None:
    return "" if _REG.match(line) else None


def _dropbrace(line: str, random: Random, text: Text) -> str | None:
    return "" if line.split("//")[0].strip() == "}" else None


def _dropopen(line: str, random: Random, text: Text) -> str | None:
    return "" if line.split("//")[0].strip() == "{" else None


def _version(line: str, random: Random, text: Text) -> str | None:
    match = _VERSION.match(line)
    if match is None:
        return None
    now = (int(match[2]), int(match[3]))
    lower = [v for v in _VERSIONS if tuple(map(int, v.split("."))) < now]
    return f"{match[1]}{random.choice(lower)}{line[match.end() :]}" if lower else None


def _target(line: str, random: Random, text: Text) -> str | None:
    match = _TARGET.match(line)
    lower = [] if match is None else [t for t in _TARGETS if t < int(match[2])]
    if match is None or not lower:
        return None
    return f"{match[1]}sm_{random.choice(lower)}{line[match.end() :]}"


OPERATORS: dict[str, Change] = {
    "op": _of_statement(_op),
    "mod": _of_statement(_mod),
    "dropmod": _of_statement(_dropmod),
    "swapmod": _of_statement(_swapmod),
    "type": _of_statement(_type),
    "arity": _of_statement(_arity),
    "extra": _of_statement(_extra),
    "imm": _of_statement(_imm),
    "reg": _of_statement(_reg),
    "lit": _of_statement(_lit),
    "undef": _of_statement(_undef),
    "dropreg": _dropreg,
    "comma": _of_statement(_comma),
    "semi": _of_statement(_semi),
    "brk": _of_statement(_brk),
    "dropbrace": _dropbrace,
    "dropopen": _dropopen,
    "version": _version,
    "target": _target,
}
