"""Which rules there are. Found by walking ``ptxlint.rules``; remembered in its manifest.json.

A rule is a module ``rules/<category>/<module>.py`` with ``RULE`` and one of
``check(function, facts)``, ``check_module(module, facts)`` and, for ``SAS`` codes,
``check_images(inventory, options)``; rules of the category ``linter`` have none: the engine makes
their findings. Names that begin with ``_`` are not rules.
"""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..model import Confidence, Rule, Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..analysis import Facts
    from ..ptx.ir import Function

_ROOT = __package__.rpartition(".")[0]
PACKAGE = f"{_ROOT}.rules"
ANALYSIS = f"{_ROOT}.analysis"
CATEGORIES = (
    "validity",
    "synchronisation",
    "memory",
    "resources",
    "ordering",
    "dataflow",
    "versions",
    "efficiency",
    "linter",
)


_CHECKS = ("check", "check_module", "check_images")


class RegistryError(Exception):
    """A rule's module breaks the form that the registry asks for: a defect of the rule."""


class Entry(NamedTuple):
    """What the manifest says of a rule: all of ``RULE``, and the module that holds it."""

    code: str
    name: str
    category: str
    severity: Severity
    confidence: Confidence
    default: bool
    mnemonics: frozenset[str]
    module: str
    summary: str
    screen: str = ""

    @property
    def about_images(self) -> bool:
        """Whether it looks at the images of a binary, not at PTX."""
        return self.code.startswith("SAS")

    def load(self) -> ModuleType:
        """The rule's module."""
        return import_module(f"{PACKAGE}.{self.module}")

    def screening(self) -> Callable[[Function, Facts], object] | None:
        """The rule's quick look at a function; None: each is worth a check."""
        if not self.screen:
            return None
        module, _, name = self.screen.partition(":")
        found: Callable[[Function, Facts], object] = getattr(
            import_module(f"{ANALYSIS}.{module}"), name
        )
        return found

    def page(self) -> str:
        """The rule's page, markdown."""
        return (self.load().__doc__ or "").strip()


def root() -> str:
    """The folder of the rules."""
    return os.path.dirname(import_module(PACKAGE).__file__ or "")


@lru_cache(maxsize=1)
def entries() -> tuple[Entry, ...]:
    """All rules by code: from the manifest, or from the rules themselves where there is none."""
    import json

    package = import_module(PACKAGE)
    loader: Any = package.__loader__
    try:
        text = loader.get_data(os.path.join(root(), "manifest.json"))
    except OSError:
        return discover()
    return tuple(_entry(row) for row in json.loads(text))


def _entry(row: dict[str, Any]) -> Entry:
    return Entry(
        row["code"],
        row["name"],
        row["category"],
        Severity(row["severity"]),
        Confidence(row["confidence"]),
        row["default"],
        frozenset(row["mnemonics"]),
        row["module"],
        row["summary"],
        row["screen"],
    )


def discover() -> tuple[Entry, ...]:
    """All rules by code, from their modules. Raises RegistryError for one of another form."""
    from importlib.resources import files

    found: dict[str, Entry] = {}
    names: dict[str, str] = {}
    for folder in sorted(files(PACKAGE).iterdir(), key=lambda f: f.name):
        if folder.name not in CATEGORIES or not folder.is_dir():
            continue
        for file in sorted(folder.iterdir(), key=lambda f: f.name):
            if not file.name.endswith(".py") or file.name.startswith("_"):
                continue
            entry = _inspect(f"{folder.name}.{file.name[:-3]}")
            other = found.get(entry.code)
            taken = other.module if other else names.get(entry.name)
            if taken:
                raise RegistryError(f"{entry.module} and {taken} share {entry.code} {entry.name}")
            found[entry.code] = entry
            names[entry.name] = entry.module
    return tuple(found[code] for code in sorted(found))


def _inspect(name: str) -> Entry:
    """The entry of one module of a rule, checked."""
    module = import_module(f"{PACKAGE}.{name}")
    rule = getattr(module, "RULE", None)
    if not isinstance(rule, Rule):
        raise RegistryError(f"rules/{name}: has no RULE")
    category = name.partition(".")[0]
    if rule.category != category:
        raise RegistryError(f"rules/{name}: {rule.code} says category {rule.category!r}")
    if rule.code[:3] not in ("PTX", "SAS") or not rule.code[3:].isdigit() or len(rule.code) != 6:
        raise RegistryError(f"rules/{name}: {rule.code!r} is not a code")
    checks = [check for check in _CHECKS if hasattr(module, check)]
    if len(checks) != (0 if category == "linter" else 1):
        raise RegistryError(f"rules/{name}: needs one of {', '.join(_CHECKS)}, and only one")
    if not (module.__doc__ or "").strip():
        raise RegistryError(f"rules/{name}: has no docstring, which is the rule's page")
    return Entry(
        rule.code,
        rule.name,
        rule.category,
        rule.severity,
        rule.confidence,
        rule.default,
        rule.mnemonics,
        name,
        rule.summary,
        rule.screen,
    )
