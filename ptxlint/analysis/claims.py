"""What a file says of itself: its version, its target, and where it says so."""

from __future__ import annotations

from typing import NamedTuple

from ..isa.targets import Target, Version
from ..isa.versions import releases, targets
from ..model import Span
from ..ptx.ir import Directive, Module
from .facts import Facts


class Claim(NamedTuple):
    """A version and a target, each None where it is not known, or not in the tables."""

    version: Version | None
    target: Target | None


def claim(module: Module) -> Claim:
    """What the module says, as far as the tables know it."""
    version = module.version if module.version in releases() else None
    return Claim(version, known_target(module.target))


def known_target(name: str | None) -> Target | None:
    """A target that is in the tables; None for any other text."""
    target = Target.parse(name or "")
    return target if target is not None and str(target) in targets() else None


def directive_span(name: str, module: Module, facts: Facts) -> Span:
    """Where the module's first directive of that name stands; the file's start without one."""
    for item in module.items:
        if isinstance(item, Directive) and item.name == name:
            return facts.span(item)
    return facts.text_span(0, 0)
