"""Where statements begin and end, and which pieces of them vary: the fast half of the front end.

These patterns decide nothing about syntax: what they don't take goes to Lark, and what they take
has a shape that Lark has parsed once. None of them can backtrack more than linearly: a lookahead
with a back reference (``(?=(…))\\1``) stands for the atomic group that Python 3.10 lacks, and
no two quantifiers that can take the same blanks stand side by side.
"""

from __future__ import annotations

import re

_NAME = r"(?:[A-Za-z][\w$]*|[_$%][\w$]+)"

# --- comments ------------------------------------------------------------------------------------

_COMMENT = re.compile(r'//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)|"[^"\n]*"', re.A)
_MARKER = re.compile(r'^[ \t]*#[ \t]*[0-9]+[ \t]+"[^"\n]*"[^\n]*', re.M | re.A)
_NOT_NEWLINE = re.compile(r"[^\n]")


def blank_comments(text: str) -> tuple[str, int | None]:
    """``text`` with comments and ``# 1 "file"`` markers as blanks; every offset stays.

    Also the offset of a ``/*`` that nothing ends, or None.
    """
    unclosed: int | None = None

    def blank(match: re.Match[str]) -> str:
        nonlocal unclosed
        found = match.group()
        if found[0] == '"':
            return found
        if found[1] == "*":
            if not found.endswith("*/") or len(found) < 4:
                unclosed = match.start()
            if "\n" in found:
                return _NOT_NEWLINE.sub(" ", found)
        return " " * len(found)

    if "//" in text or "/*" in text:
        text = _COMMENT.sub(blank, text)
    if "#" in text:
        text = _MARKER.sub(lambda match: " " * len(match.group()), text)
    return text, unclosed


# --- statements of a body ------------------------------------------------------------------------

# Groups: 1 guard, 2 its register, 3 the atomic opcode, 4 operands; 5 label; 6 the start of .loc,
# 7-14 its parts, 15 its end; 16 declaration or directive; 17 '{'; 18 '}'.
GUARD, OPCODE, OPERANDS, LABEL, LOC, LOC_END, DIRECTIVE, OPEN = 1, 3, 4, 5, 6, 15, 16, 17
INSTRUCTION = (GUARD, 2, OPCODE, OPERANDS)
LOC_PARTS = (7, 8, 9, 10, 11, 12, 13, 14)

# Three levels of braces, unrolled: no alternation for each character.
_FLAT = r"[^{};\"]*"
_NESTED = rf"{_FLAT}(?:\{{{_FLAT}(?:\{{{_FLAT}\}}{_FLAT})*\}}{_FLAT})*"
_INITIALISER = rf"\{{{_NESTED}\}}"
_N = r"0|[1-9][0-9]*"
_LOC = (
    rf"()\.loc\s+({_N})\s+({_N})\s+({_N})"
    rf"(?:\s*,\s*function_name\s+({_NAME})(?:\s*\+\s*({_N}))?"
    rf"\s*,\s*inlined_at\s+({_N})\s+({_N})\s+({_N}))?()"
)

BODY = re.compile(
    r"\s*(?:"
    r"(@\s*(?:!\s*)?(" + _NAME + r")\s+)?"
    r"(?=([a-z]\w*(?:\.\w+(?:::\w+)*)*))\3(?!\s*\.)([^;{}:]*(?:\{[^;{}]*\}[^;{}:]*)*);"
    r"|(?=(" + _NAME + r"))\5\s*:(?!:)"
    r"|" + _LOC + r"(?![\w$])"
    r"|(\.(?:reg|param|shared|local|global|const|pragma|branchtargets|calltargets|callprototype)"
    r"(?![\w$])[^;{}\"]*(?:(?:\"[^\"\n]*\"|" + _INITIALISER + r")[^;{}\"]*)*;)"
    r"|(\{)|(\})"
    r")",
    re.A,
)

# --- pieces that vary ----------------------------------------------------------------------------

# Of operands: names (with their element) and numbers.
split_operands = re.compile(r"([A-Za-z_$%][\w$]*(?:\.[a-z][a-z0-9]*)?|[0-9][\w.]*)", re.A).split
# Of directives: the same and strings, but not the words of `.b32` or `.align`.
split_directive = re.compile(
    r"((?<![\w$.%])[A-Za-z_$%][\w$]*|(?<![\w$.%])[0-9][\w.]*|\"[^\"\n]*\")", re.A
).split

_KIND = re.compile(
    r"(?P<s>_)|(?P<q>\"[^\"\n]*\")|(?P<w>WARP_SZ)|(?P<c>call|generic)"
    r"|(?P<i>" + _NAME + r")|(?P<e>" + _NAME + r"\.[a-z][a-z0-9]*)"
    r"|(?P<b>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})"
    r"|(?P<d>0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|0[0-7]*U?|[1-9][0-9]*U?)"
    r"|(?P<f>[0-9]+\.[0-9]*(?:[eE][0-9]+)?|[0-9]+[eE][0-9]+)",
    re.A,
)


class Kinds(dict[str, str]):
    """The kind of a lexeme, one letter: the terminal of the grammar that it is; ``x`` for none."""

    def __missing__(self, lexeme: str) -> str:
        match = _KIND.fullmatch(lexeme)
        kind = self[lexeme] = (match.lastgroup if match else None) or "x"
        return kind


_BLANKS = re.compile(r"\s+")
_DELICATE = re.compile(r"[<>=!|&.%?]")


def normalised(literals: list[str]) -> list[str]:
    """The text between lexemes with blanks left out where they can't join two tokens to one."""
    return [_BLANKS.sub(" " if _DELICATE.search(text) else "", text) for text in literals]


# --- module scope --------------------------------------------------------------------------------

# One alternative a kind of statement, the kind as the group's name.
ITEM = re.compile(
    r"\s*(?:"
    r"(?P<function>(?:\.(?:visible|extern|weak|common)\s+)?\.(?:entry|func)(?![\w$])"
    r"[^;{}\"]*(?:\"[^\"\n]*\"(?:\s*;)?[^;{}\"]*)*)(?P<end>[;{])"
    r"|(?P<section>\.section\s+(?P<name>\.[A-Za-z_][\w$]*)\s*\{)(?P<rows>[^{}\";]*)\}"
    r"|(?P<file>\.file\s+[0-9]\w*\s+\"[^\"\n]*\"(?:\s*,\s*[0-9]\w*){0,2})"
    r"|(?P<line>\.version\s+[0-9.]+|\.target\s+[\w$]+(?:\s*,\s*[\w$]+)*"
    r"|\.address_size\s+[0-9]\w*|@@DWARF[^\n;{}]*)"
    r"|(?P<other>(?:\.(?:visible|extern|weak|common)\s+)?"
    r"\.(?:global|const|shared|tex|local|reg|param|alias|pragma)(?![\w$])"
    r"[^;{}\"]*(?:(?:\"[^\"\n]*\"|" + _INITIALISER + r")[^;{}\"]*)*;)"
    r")",
    re.A,
)

PARAMETER_LIST = re.compile(r"\(([^()]*)\)", re.A)

_NUMBER = (
    r"(?:-\s*)?(?:0[xX][0-9a-fA-F]+U?|0[0-7]*U?(?![\w.])|[1-9][0-9]*U?(?![\w.])"
    r"|0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})"
)
# `-0f3F800000` is no number to ptxas, hence the second look at the minus.
FLAT_LIST = re.compile(
    r"=\s*\{(\s*(?!-\s*0[fFdD])" + _NUMBER + r"\s*(?:,\s*(?!-\s*0[fFdD])" + _NUMBER + r"\s*)*)\}",
    re.A,
)

# A row of a debug section: groups 1 type, 2 values; 3 label.
_SYMBOL = (
    r"(?:" + _NAME + r"(?:\s*[+]\s*[0-9]\w*|\s*-\s*" + _NAME + r")?"
    r"|\.[A-Za-z_][\w$]*(?:\s*\+\s*[0-9]\w*)?)"
)
ROW = re.compile(
    r"\s*(?:\.(b8|b16|b32|b64)\s+(-?[0-9]\w*(?:\s*,\s*-?[0-9]\w*)*|" + _SYMBOL + r")"
    r"|(" + _NAME + r")\s*:)",
    re.A,
)
VALUE = re.compile(
    r"(-?[0-9]\w*)|(" + _NAME + r"|\.[A-Za-z_][\w$]*)\s*(?:\+\s*([0-9]\w*)|-\s*(" + _NAME + r"))?",
    re.A,
)

# --- recovery ------------------------------------------------------------------------------------

# What can only stand at module scope: a body that meets it has lost its '}'.
MODULE_ONLY = re.compile(
    r"\s*\.(visible|extern|weak|common|entry|func|section|alias|version|address_size|file)(?![\w$])",
    re.A,
)
# What begins a statement of a body.
STATEMENT_START = re.compile(
    r"(?:@|[A-Za-z_$%][\w$]*(?:\s*:|\.\w|\s|;)|[{}]"
    r"|\.(?:reg|param|shared|local|global|const|pragma|loc|branchtargets|calltargets"
    r"|callprototype|visible|extern|weak|common|entry|func|section|alias|file)(?![\w$]))",
    re.A,
)
BOUNDARY = re.compile(r";|(?:^|(?<=\n))[ \t\r\f]*[{}]", re.A)
