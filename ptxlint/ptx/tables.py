"""Make grammars/ptx.tables.json, the LALR tables of grammars/ptx.lark.

``python -m ptxlint.ptx.tables`` (the Makefile's ``make tables``), after each change of the grammar.
Building the tables takes longer than linting a small file, so they are made once, here. Lark
numbers states and symbols anew each time, so the file names the grammar that it was made from.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING

from ..resources import folder, grammar_text
from .grammar import STARTS

if TYPE_CHECKING:
    from lark import Lark


def grammar_hash() -> str:
    """SHA-256 of grammars/ptx.lark: what the tables must have been made from."""
    return hashlib.sha256(grammar_text("ptx.lark").encode()).hexdigest()


def build() -> Lark:
    """A parser made from the grammar itself, without the tables."""
    from lark import Lark as LarkParser

    return LarkParser(
        grammar_text("ptx.lark"),
        parser="lalr",
        start=list(STARTS),
        propagate_positions=True,
        maybe_placeholders=False,
    )


def make() -> str:
    """The tables as JSON."""
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    data, memo = build().memo_serialize([TerminalDef, Rule])
    tables = {"grammar": grammar_hash(), "data": data, "memo": memo}
    return json.dumps(tables, separators=(",", ":"), sort_keys=True) + "\n"


if __name__ == "__main__":
    with open(os.path.join(folder("grammars"), "ptx.tables.json"), "w", encoding="utf-8") as file:
        file.write(make())
