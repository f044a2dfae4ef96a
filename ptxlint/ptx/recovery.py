"""What to do where the text is not PTX: one problem, and on at the next statement.

ptxas stops at its first syntax error; a linter shows all of them. What is left out is recorded.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import lexical
from .build import intern_opcode
from .grammar import Parse, SyntaxFault, parse_form, shorten
from .ir import SyntaxProblem

if TYPE_CHECKING:
    from .parser import Parser

_MAX_PROBLEMS = 200  # noise would give one for each line
_ONE_LINE = re.compile(r"\.(version|target|address_size|file)\b")
_SECTION = re.compile(r"\.section(?![\w$])")
_SPACE = re.compile(r"\s*")
_WHOLE = re.compile(r"[^;{}]*(?:\{[^;{}]*\}[^;{}]*)*;")
_TOKEN = re.compile(r"\.?[\w$%]+", re.A)
_ITEM_WORD = re.compile(
    r"\.(?:visible|extern|weak|common|entry|func|section|alias|version|target|file"
    r"|address_size|global|const|shared|tex|pragma)(?![\w$])|@@DWARF",
    re.A,
)
_ITEM_START = re.compile(r"^[ \t]*(?:" + _ITEM_WORD.pattern + ")", re.M | re.A)
_BODY_RESUME = re.compile(r"^[ \t]*(?:\}|" + _ITEM_WORD.pattern + ")", re.M | re.A)


def recover_statement(parser: Parser, at: int) -> int:
    """A statement of a body that no pattern takes, at or after ``at``; returns where to go on."""
    text = parser.text
    at = _skip_space(text, at)
    if at >= len(text):
        return _lost_brace(parser, at, "the text ends inside a function", at)
    item = lexical.ITEM.match(text, at)
    if item is not None and item.lastgroup == "end" and ".func" in item.group("function"):
        if item.group("end") == ";":
            return _statement(parser, at, item.end())
        # ptxas takes the head for a declaration and stumbles over its '{'.
        return _lost_brace(parser, item.start("end"), "a '{' after the head of a function", at)
    if match := lexical.MODULE_ONLY.match(text, at):
        word = "." + match.group(1)
        return _lost_brace(parser, at, f"'{word}' inside a function", at)
    if len(parser.module.syntax_problems) >= _MAX_PROBLEMS:
        return _give_up(parser, at, _BODY_RESUME)
    if item is not None and item.lastgroup == "line" and text.startswith(".target", at):
        parser.item(at, item.end())
        return item.end()
    end = _chunk_end(text, at)
    whole = _WHOLE.match(text, at)
    if whole is not None and whole.end() != end:
        # Good PTX that the patterns leave to Lark: modifiers set apart, `?:`, odd spacing.
        try:
            _build(parser, parse_form(text[at : whole.end()], "statement"), at, whole.end())
            return whole.end()
        except (SyntaxFault, ValueError):
            pass
    return _statement(parser, at, end)


def _lost_brace(parser: Parser, place: int, message: str, at: int) -> int:
    """A function's ``}`` is missing: close it before ``at``, where module scope goes on."""
    opened = parser.module.source.line_of(parser.builder.blocks[-1].start)
    fault = SyntaxFault(place, place + 1, message, ("'}'",))
    report(parser, fault, note=f"the '{{' of line {opened} is not closed")
    _close_all(parser, at)
    return at


def _statement(parser: Parser, at: int, end: int) -> int:
    chunk = parser.text[at:end]
    try:
        parse = parse_form(chunk, "statement")
        _build(parser, parse, at, end)
        return end
    except (SyntaxFault, ValueError) as error:
        fault = _fault(error, parser.text, at, end)
    resume = end
    if at < fault.offset < end and _begins_statement(parser.text, fault.offset):
        # Most likely the ';' before it is missing: keep both statements.
        try:
            _build(
                parser,
                parse_form(parser.text[at : fault.offset] + ";", "statement"),
                at,
                fault.offset,
            )
            report(parser, fault, note="is a ';' missing before it?")
            return fault.offset
        except (SyntaxFault, ValueError):
            resume = fault.offset
    report(parser, fault, skipped=(at, resume))
    return max(resume, at + 1)


def recover_item(parser: Parser, at: int) -> int:
    """The same for module scope."""
    text = parser.text
    at = _skip_space(text, at)
    if at >= len(text):
        return at
    if len(parser.module.syntax_problems) >= _MAX_PROBLEMS:
        return _give_up(parser, at, _ITEM_START)
    header = lexical.ITEM.match(text, at)
    if header and header.lastgroup == "end":
        return _header(parser, header)
    if header and header.lastgroup == "rows":
        return _section(parser, at, header.start("rows"), header.end("rows"))
    if match := _SECTION.match(text, at):
        return _section(parser, at, match.end(), _item_end(text, match.end()))
    end = _item_end(text, at)
    try:
        parse = parse_form(text[at:end], "item")
        if parse.form[0] == "function":
            # A declaration without its ';', and nothing that a pattern knows after it.
            parser.function_head(text[at:end].rstrip(), at, None)
        else:
            parser.builder.item(parse.form, parse.lexemes, at, end, parse.places)
        return end
    except (SyntaxFault, ValueError) as error:
        fault = _fault(error, parser.text, at, end)
    if at < fault.offset < end and _ITEM_WORD.match(text, fault.offset):
        end = fault.offset
    report(parser, fault, skipped=(at, end))
    return max(end, at + 1)


def _header(parser: Parser, match: re.Match[str]) -> int:
    """A function's head that Lark refuses; its body is read all the same where there is one."""
    start, end = match.span("function")
    head = parser.text[start:end]
    try:
        parse_form(head, "header")
        fault = SyntaxFault(start, end, "a parameter is not PTX")
    except SyntaxFault as error:
        fault = _fault(error, parser.text, start, end)
    stop = fault.offset
    prefix = parser.text[start:stop].rstrip()
    if start < stop < end and ".func" in prefix and _is_module_scope(parser.text, stop):
        # Old compilers left the ';' of a declaration out: not an error.
        try:
            parser.function_head(prefix, start, None)
            return stop
        except (SyntaxFault, ValueError, IndexError):
            pass
    body = match.start("end") if match.group("end") == "{" else None
    if body is None and start < stop < end and _begins_statement(parser.text, stop):
        body, after = stop, stop  # its '{' is missing
        note: str | None = "is a '{' missing before it?"
    else:
        after, note = match.end(), None
    report(parser, fault, note=note, skipped=None if note else (start, end))
    for text in (prefix, prefix + ")", prefix.rsplit(",", 1)[0] + ")", prefix.split("(", 1)[0]):
        try:
            parser.function_head(text, start, body)
        except (SyntaxFault, ValueError, IndexError):
            continue
        return parser.body(after) if body is not None else after
    if body is None:
        return after
    # No name to be had: the body is read as an unnamed function's.
    parser.function_head(".func _unnamed", start, body)
    return parser.body(after)


_DECLARATION = re.compile(r"\s*\.(?:reg|local|param|shared|global|const)(?![\w$])[^;{}]*;", re.A)


def _is_module_scope(text: str, at: int) -> bool:
    """Whether what stands at ``at`` goes on at module scope: old PTX has variables there too."""
    if _ITEM_WORD.match(text, at):
        return True
    while declaration := _DECLARATION.match(text, at):
        at = declaration.end()
        if _ITEM_WORD.match(text, _skip_space(text, at)):
            return True
    return False


def _section(parser: Parser, start: int, at: int, end: int) -> int:
    """A section with a row that is not one."""
    brace = parser.text.find("}", at)
    limit = brace + 1 if brace >= 0 else end
    later = _ITEM_START.search(parser.text, at, limit)
    stop = later.start() if later else limit
    try:
        parse = parse_form(parser.text[start:stop], "item")
        parser.builder.item(parse.form, parse.lexemes, start, stop, parse.places)
        return stop
    except (SyntaxFault, ValueError) as error:
        report(parser, _fault(error, parser.text, start, stop), skipped=(start, stop))
    return max(stop, start + 1)


# --- pieces ---------------------------------------------------------------------------------------


def _build(parser: Parser, parse: Parse, start: int, end: int) -> None:
    form = parse.form
    if form[0] == "block":
        raise SyntaxFault(0, 1, "unexpected '{'")
    if form[0] in ("instruction", "call"):
        # Counted here, as the fast loop counts its own.
        head = next(p for p in form[1:] if isinstance(p, list) and "opcode" in str(p[0]))
        words = [parse.lexemes[w] if isinstance(w, int) else str(w) for w in head[1:]]
        opcode = intern_opcode("".join(words))
        parser.opcodes.setdefault(str(opcode), (opcode, {}))
    parser.builder.statement(form, parse.lexemes, start, end)


def _give_up(parser: Parser, at: int, resume: re.Pattern[str]) -> int:
    """Noise: skip to where something may begin."""
    match = resume.search(parser.text, at + 1)
    end = match.start() if match else len(parser.text)
    parser.module.unanalysed.append((at, end))
    last = parser.module.syntax_problems[-1]
    last.note = f"{_MAX_PROBLEMS} faults and more: what follows is not listed one by one"
    return end


def _fault(error: Exception, text: str, at: int, end: int) -> SyntaxFault:
    """The fault of ``text[at:end]`` in offsets of ``text``."""
    if not isinstance(error, SyntaxFault):
        return SyntaxFault(at, end, str(error))
    if not error.at_end:
        return SyntaxFault(
            min(at + error.offset, end), min(at + error.end, end), error.message, error.expected
        )
    # What was cut out is too short: the fault is at whatever comes next, as ptxas sees it.
    place = _skip_space(text, end)
    if place >= len(text):
        return SyntaxFault(len(text), len(text), "the text ends here", error.expected)
    match = _TOKEN.match(text, place)
    token = match.group() if match else text[place]
    message = f"unexpected '{shorten(token)}'"
    return SyntaxFault(place, place + len(token), message, error.expected)


def report(
    parser: Parser,
    fault: SyntaxFault,
    note: str | None = None,
    skipped: tuple[int, int] | None = None,
) -> None:
    """Record a fault as a problem of the module, in its kind and with its note."""
    problems = parser.module.syntax_problems
    start, end = fault.offset, max(fault.end, fault.offset + 1)
    text = parser.module.source.text
    kind = "syntax"
    if run := _identifier(text, start):
        start, end = run
        kind = "identifier"
    if start >= len(text):
        start = end = len(text)
    message, expected = fault.message, fault.expected
    if start < len(text) and text[start] == "\0":
        message, expected = "a NUL byte", ()
        note = "ptxas refuses it; whoever wrote the file kept a C string's end"
    elif start < len(text) and text[start] == "\ufeff":
        message, expected = "a byte order mark before the text", ()
    problems.append(SyntaxProblem(start, end, message, expected, kind, note, skipped))


_FORBIDDEN = re.compile(r"[.@?#~^`'\\]|[^\x00-\x7f]")
_IDENTIFIER_CHARACTER = re.compile(r"[\w$%.@?#~^`'\\]|[^\x00-\x7f]")


def _identifier(text: str, at: int) -> tuple[int, int] | None:
    """The run of a name that holds a character that PTX does not allow in one, if that is it."""
    if not 0 < at < len(text) or not _FORBIDDEN.match(text[at]):
        return None
    start = at
    while start > 0 and at - start < 4096 and _IDENTIFIER_CHARACTER.match(text[start - 1]):
        start -= 1
    end = at
    while end < len(text) and end - at < 4096 and _IDENTIFIER_CHARACTER.match(text[end]):
        end += 1
    run = text[start:end]
    begins = re.match(r"[A-Za-z_$%]", run) or (ord(run[0]) > 127 and run[0].isalpha())
    if not begins or (start == at and run[0].isascii()):
        return None
    return start, end


def _begins_statement(text: str, at: int) -> bool:
    """Whether a statement may begin at ``at``: the first thing on its line that looks like one."""
    before = text.rfind("\n", 0, at) + 1
    return not text[before:at].strip() and bool(lexical.STATEMENT_START.match(text, at))


def _chunk_end(text: str, at: int) -> int:
    """Where the statement at ``at`` seems to end: after its ``;``, or before a line's brace."""
    match = lexical.BOUNDARY.search(text, at + 1)
    if match is None:
        return len(text)
    return match.end() if match.group() == ";" else match.start()


def _item_end(text: str, at: int) -> int:
    semicolon = text.find(";", at)
    semicolon = len(text) if semicolon < 0 else semicolon + 1
    later = _ITEM_START.search(text, at + 1, semicolon)
    newline = text.find("\n", at)
    line = len(text) if newline < 0 else newline
    if text[at] not in ".@" or _ONE_LINE.match(text, at):
        return min(semicolon, line)
    return min(semicolon, later.start() if later else semicolon)


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _close_all(parser: Parser, at: int) -> None:
    while parser.builder.blocks:
        parser.builder.close_block(at)
