"""Which rules run: --select, --ignore and their like over codes, prefixes, names and ALL.

The most specific mention of a rule decides: its code or name before a longer prefix before a
shorter one before ALL and the default set; where both sides are equal, ignoring wins.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from .options import Options, UsageError, did_you_mean
from .registry import Entry, entries

_EXACT = 100
_NEVER = -1


@lru_cache(maxsize=32)
def selected(options: Options) -> tuple[Entry, ...]:
    """The rules that these options run, by code. Raises UsageError for an unknown name.

    Rules that are off by default join the default set and prefixes under ``preview``; a code, a
    name or ALL brings them in without it.
    """
    rules = entries()
    for name in (*options.select, *options.extend_select, *options.ignore, *options.extend_ignore):
        require(name, rules)
    for name, _ in options.severity:
        resolve(name, rules)
    wanted = (*options.select, *options.extend_select)
    unwanted = (*options.ignore, *options.extend_ignore)
    chosen = []
    for rule in rules:
        on = max((_specificity(name, rule, options) for name in wanted), default=_NEVER)
        if not options.select and (rule.default or options.preview):
            on = max(on, 0)
        off = max((_matches(name, rule) for name in unwanted), default=_NEVER)
        if on > off:
            chosen.append(rule)
    return tuple(chosen)


def resolve(name: str, rules: Iterable[Entry] | None = None) -> Entry:
    """The rule of that code or name; raises UsageError."""
    rules = tuple(entries() if rules is None else rules)
    rule = find(name, rules)
    if rule is None:
        known = [word for rule in rules for word in (rule.code, rule.name)]
        raise UsageError(f"unknown rule {name!r}{_suggest(name, known)}")
    return rule


def find(name: str, rules: Iterable[Entry]) -> Entry | None:
    """The rule of that code or name, or None."""
    return next((rule for rule in rules if _matches(name, rule) == _EXACT), None)


def require(name: str, rules: tuple[Entry, ...]) -> None:
    """Raise UsageError unless ``name`` stands for at least one rule."""
    if not any(_matches(name, rule) >= 0 for rule in rules):
        known = [word for rule in rules for word in (rule.code, rule.name)]
        raise UsageError(f"unknown rule or prefix {name!r}{_suggest(name, [*known, 'ALL'])}")


def _suggest(name: str, known: list[str]) -> str:
    return did_you_mean(name, known) or did_you_mean(name.upper(), known)


def _matches(name: str, rule: Entry) -> int:
    """How specifically ``name`` means ``rule``; _NEVER when it does not."""
    code = name.upper()
    if code == rule.code or name.lower() == rule.name:
        return _EXACT
    if code == "ALL":
        return 0
    is_prefix = code[:3] in ("PTX", "SAS") and rule.code.startswith(code)
    return len(code) if is_prefix else _NEVER


def _specificity(name: str, rule: Entry, options: Options) -> int:
    """As _matches, but a prefix does not reach the rules that are off by default."""
    value = _matches(name, rule)
    by_prefix = 0 < value < _EXACT
    return _NEVER if by_prefix and not (rule.default or options.preview) else value
