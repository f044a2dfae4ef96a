"""The lowest PTX version, target and driver that a module needs, and what sets each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from ..isa.gates import Gate, lack, opcode_gates
from ..isa.targets import Target, Version, version
from ..isa.versions import any_driver, branch, highest_for, releases, targets, text, ungated
from ..ptx.ir import Module, Opcode
from .claims import claim, known_target
from .facts import Facts, by_opcode
from .requirements import Need, needs

_SUFFIXES = ("", "f", "a")
_OLD_NAME = 101  # sm_101 is sm_110 since PTX 9.0


@dataclass(frozen=True, slots=True)
class Reason:
    """What sets a requirement: ``what`` in words, and the line of its first use (None: no line)."""

    what: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Compatibility:
    """What a PTX file needs and what it says.

    ``target`` is the lowest one that has all that the file uses, ``version`` the lowest PTX
    version with that target, ``version_as_is`` the lowest with the target that the file names.
    ``driver`` is the oldest Linux driver for ``version_as_is`` (``any``; None where it is not
    known). ``unknown`` are opcodes that the tables don't hold: nothing is known of what they need.
    ``complete`` is whether all of the file was read. Versions are None where nothing fits.
    """

    claimed_version: str | None
    claimed_target: str | None
    target: str | None
    target_reason: Reason | None
    version: str | None
    version_reason: Reason | None
    version_as_is: str | None
    version_as_is_reason: Reason | None
    driver: str | None
    driver_reason: Reason | None
    unknown: tuple[str, ...]
    complete: bool

    @property
    def lower_version(self) -> str | None:
        """The version that the file could say instead; None where it can't be lower."""
        if not self.claimed_version or not self.version_as_is or self.unknown or not self.complete:
            return None
        lower = version(self.version_as_is) < version(self.claimed_version)
        return self.version_as_is if lower else None

    @property
    def lower_target(self) -> str | None:
        """The target that the file could say instead; None where it can't be lower."""
        own = known_target(self.claimed_target)
        low = known_target(self.target)
        if own is None or low is None or self.unknown or not self.complete:
            return None
        return self.target if _order(low) < _order(own) else None


def verdict(found: Compatibility, driver: str) -> tuple[bool | None, str]:
    """Whether a Linux driver takes a file as it is (None: not known), and why."""
    number, says = branch(driver), found.claimed_version
    if number is None or says is None or version(says) not in releases():
        return None, "not known: the file names no version that there is"
    highest, is_limit = highest_for(number)
    if highest is not None and version(says) <= highest:
        late = found.driver if found.driver not in (None, "any") else None
        if late is not None and (branch(late) or 0) > number:
            why = found.driver_reason.what if found.driver_reason else ""
            return False, f"refuses it: {why}"
        return True, f"takes PTX up to {text(highest)}, so this too"
    if highest is None or not is_limit:
        return None, f"is not in the table: whether it takes PTX {says} is not known"
    refuses = f"refuses it: takes PTX up to {text(highest)}, the file says {says}"
    if found.lower_version is not None and version(found.lower_version) <= highest:
        return False, f"{refuses}; .version {found.lower_version} would do"
    return False, refuses


class _Fit(NamedTuple):
    version: Version
    need: Need | None  # None: the target itself sets the version


def compatibility(module: Module, facts: Facts) -> Compatibility:
    """What a module needs, in numbers, with the line that sets each of them."""
    own = claim(module)
    distinct = _distinct(list(needs(module, facts)))
    target, before = _lowest_target(distinct)
    low = _fit(distinct, target) if target else None
    here = _fit(distinct, own.target) if own.target else None
    driver, reason = _driver(module, facts, here)
    return Compatibility(
        text(module.version) if module.version else None,
        module.target,
        str(target) if target else None,
        _reason(before, module) if target else None,
        text(low.version) if low else None,
        _version_reason(low, target, module),
        text(here.version) if here else None,
        _version_reason(here, own.target, module),
        driver,
        reason,
        _unknown(module, facts),
        module.parsed == "full",
    )


def lowest_version(module: Module, facts: Facts) -> tuple[Version, Reason | None] | None:
    """The lowest version with the module's own target; None where nothing fits."""
    own = claim(module).target
    fit = _fit(_distinct(list(needs(module, facts))), own) if own else None
    return (fit.version, _version_reason(fit, own, module)) if fit else None


def lowest_target(module: Module, facts: Facts) -> tuple[Target, Reason | None] | None:
    """The lowest target that has all that the module uses; None where none has."""
    target, before = _lowest_target(_distinct(list(needs(module, facts))))
    return (target, _reason(before, module)) if target else None


def _distinct(found: list[Need]) -> list[Need]:
    """One need, the first in the text, of all that ask for the same."""
    first: dict[tuple[Gate, ...], Need] = {}
    for need in sorted(found, key=lambda need: need.places[0]):
        first.setdefault(need.gates, need)
    return list(first.values())


@cache
def _candidates() -> tuple[Target, ...]:
    """All targets, lowest first, plain before family before architecture-specific."""
    known = [target for name in targets() if (target := Target.parse(name)) is not None]
    kept = [target for target in known if target.number != _OLD_NAME]
    return tuple(sorted(kept, key=_order))


def _order(target: Target) -> tuple[int, int]:
    return target.number, _SUFFIXES.index(target.suffix)


def _lowest_target(found: list[Need]) -> tuple[Target | None, Need | None]:
    """The lowest target that has all, and the first need that the one before it lacks."""
    before: Need | None = None
    for target in _candidates():
        missing = _missing(found, target)
        if missing is None and _fit(found, target) is not None:
            return target, before
        before = missing or before
    return None, before


def _missing(found: list[Need], target: Target) -> Need | None:
    """The need that only the highest targets meet, of those that this one lacks."""
    lacked = [n for n in found if n.gates and lack(n.gates, None, target) is not None]
    return max(lacked, key=_first_target, default=None)


def _first_target(need: Need) -> int:
    """The place of a need's lowest target among all."""
    order = _candidates()
    return next((i for i, t in enumerate(order) if lack(need.gates, None, t) is None), len(order))


def _fit(found: list[Need], target: Target) -> _Fit | None:
    """The lowest version that has all on a target, and what sets it."""
    last: Need | None = None
    for release, row in releases().items():
        if release < targets()[str(target)] or row.unofficial:
            continue
        lacked = [n for n in found if lack(n.gates, release, target) is not None]
        if not lacked:
            return _Fit(release, last)
        last = lacked[0]
    return None


def _version_reason(fit: _Fit | None, target: Target | None, module: Module) -> Reason | None:
    if fit is None or target is None:
        return None
    if fit.need is None:
        return Reason(f"{target} begins with PTX ISA {text(fit.version)}", None)
    return _reason(fit.need, module)


def _reason(need: Need | None, module: Module) -> Reason | None:
    if need is None:
        return None
    return Reason(need.what, module.source.line_of(need.places[0][0]))


def _driver(module: Module, facts: Facts, fit: _Fit | None) -> tuple[str | None, Reason | None]:
    """The oldest driver for a version, later where an opcode came to assemblers later than that."""
    if fit is None:
        return None, None
    needed, why = fit.version, f"PTX ISA {text(fit.version)}"
    reason = Reason(f"{why} came with CUDA {releases()[needed].cuda}", None)
    for opcode, start in _opcodes(module, facts).items():
        late = ungated(opcode.mnemonic, opcode.modifiers)
        if late is not None and late > needed:
            needed = late
            cuda = releases()[late].cuda
            what = f"`{opcode}` is refused before CUDA {cuda}, whatever .version says"
            reason = Reason(what, module.source.line_of(start))
    if any_driver(needed):
        return "any", reason
    return releases()[needed].driver, reason


def _opcodes(module: Module, facts: Facts) -> dict[Opcode, int]:
    """Every opcode of the module and where it is used first."""
    first: dict[Opcode, int] = {}
    for function in module.functions:
        if function.body is not None:
            for opcode, found in facts.once(function, by_opcode).items():
                first.setdefault(opcode, found[0].start)
    return first


def _unknown(module: Module, facts: Facts) -> tuple[str, ...]:
    known = _opcodes(module, facts)
    return tuple(str(o) for o in known if not opcode_gates(o.mnemonic, o.modifiers))
