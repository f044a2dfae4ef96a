"""Data files that ship with the package, found in a wheel as in a checkout.

Read through the package's loader, which importlib.resources would do as well at five times the
cost: a small file's whole lint is to take less than 0.15 s.
"""

from __future__ import annotations

import json
import os
from functools import cache
from importlib import import_module
from typing import Any

_PACKAGE = __package__ or "ptxlint"


def folder(name: str) -> str:
    """The folder ``grammars`` or ``rules``: in a wheel inside the package, else beside it."""
    for parent in import_module(_PACKAGE).__path__:
        path = os.path.join(parent, name)
        if os.path.isdir(path):
            return path
    raise FileNotFoundError(f"{name}/ is missing: the installation of {_PACKAGE} is damaged")


def read_text(*parts: str) -> str:
    """The text of a file below the package, or below grammars/ or rules/."""
    package = import_module(_PACKAGE)
    base = os.path.dirname(package.__file__ or "")
    if parts[0] in ("grammars", "rules"):
        base, parts = folder(parts[0]), parts[1:]
    loader: Any = package.__loader__
    data: bytes = loader.get_data(os.path.join(base, *parts))
    return data.decode("utf-8")


def grammar_text(name: str) -> str:
    """The text of a file of grammars/."""
    return read_text("grammars", name)


def isa_data(name: str) -> Any:
    """A JSON file of ptxlint/isa/data/."""
    return json.loads(read_text("isa", "data", name))


@cache
def listing(*parts: str) -> tuple[str, ...]:
    """The names in a folder below the package."""
    package = import_module(_PACKAGE)
    return tuple(os.listdir(os.path.join(os.path.dirname(package.__file__ or ""), *parts)))
