"""Conditions on kernels that make a run fail, and a baseline of those that fail already."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

from ..engine.options import UsageError, did_you_mean
from ..inputs.text import InputError, read
from .resources_rows import FileRow, KernelRow

_FORM = re.compile(r"\s*(?:(\S+)\s*:\s+)?(\w+)\s*(>=|<=|==|!=|>|<)\s*(\d+(?:\.\d+)?)\s*%?\s*")
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
}
NAMES = {
    "registers": "registers of a thread",
    "spill_bytes": "bytes of spilling stores and loads (--ptxas)",
    "spill_instructions": "instructions that spill (--ptxas, cubins)",
    "frame": "bytes of a thread's stack frame (--ptxas, cubins)",
    "shared": "static shared bytes of a block",
    "local": "bytes of local objects of a thread",
    "parameters": "bytes of parameters",
    "blocks": "blocks that an SM holds at once, of the least of the targets",
    "occupancy": "per cent of an SM's warps, of the least of the targets",
}
BASELINE_VERSION = 1
Interval = tuple[float, float]


class Condition(NamedTuple):
    """``name`` against ``number``, of kernels whose name fits ``pattern``; ``text`` as given."""

    pattern: str
    name: str
    operator: str
    number: float
    text: str


class Violation(NamedTuple):
    """A kernel that meets a condition to fail on: by ``value``, or by the whole of an interval."""

    place: str
    kernel: str
    condition: Condition
    value: float


def condition(text: str) -> Condition:
    """``registers>128``, or ``gemm*: registers>128``; raises UsageError."""
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(
            f"not a condition: {text!r} (write 'registers>128', 'gemm*: occupancy<50')"
        )
    pattern, name, sign, number = match.groups()
    if name not in NAMES:
        raise UsageError(f"unknown quantity {name!r} in {text!r}{did_you_mean(name, set(NAMES))}")
    return Condition(pattern or "*", name, sign, float(number), text)


def violations(rows: Sequence[FileRow], conditions: Sequence[Condition]) -> list[Violation]:
    """Every kernel that surely meets a condition: an estimate where all of its interval does.

    Raises UsageError where a quantity is not known of a kernel that the condition is about.
    """
    return [
        Violation(row.name, kernel.name, each, value)
        for row in rows
        for kernel in row.kernels
        for each in conditions
        if _about(kernel, each) and (value := _met(kernel, each)) is not None
    ]


def _about(kernel: KernelRow, each: Condition) -> bool:
    return fnmatchcase(kernel.name, each.pattern) or fnmatchcase(kernel.demangled, each.pattern)


def _met(kernel: KernelRow, each: Condition) -> float | None:
    known = _value(kernel, each.name)
    if known is None:
        raise UsageError(
            f"{each.name} of {kernel.name} is not known: {NAMES[each.name]} ({each.text!r})"
        )
    compare = _OPERATORS[each.operator]
    if all(compare(value, each.number) for value in known):
        return known[0] if each.operator in (">", ">=", "==", "!=") else known[1]
    return None


def _value(kernel: KernelRow, name: str) -> Interval | None:
    """The least and the most that a quantity is."""
    if name in ("blocks", "occupancy"):
        return _of_gpus(kernel, name)
    registers, text, machine = kernel.registers, kernel.text, kernel.machine
    spills = None if registers is None else registers.spills
    value: float | None = None
    if name == "registers" and registers is not None:
        return registers.low, registers.high
    if name == "spill_bytes" and spills is not None:
        value = spills.stores + spills.loads
    elif name == "frame":
        value = machine.frame if machine is not None else None if spills is None else spills.frame
    elif name == "spill_instructions" and machine is not None:
        value = len(machine.spills)
    elif name == "spill_instructions" and registers is not None and registers.spilling is not None:
        value = registers.spilling
    elif name == "shared":
        value = text.shared if text is not None else None if machine is None else machine.shared
    elif name == "parameters":
        value = text.parameters if text is not None else machine and machine.parameters_size
    elif name == "local" and text is not None:
        value = text.local
    return None if value is None else (value, value)


def _of_gpus(kernel: KernelRow, name: str) -> Interval | None:
    ends = []
    for gpu in kernel.gpus:
        if gpu.least is None or gpu.most is None:
            return None
        pair = (gpu.least, gpu.most)
        ends.append([o.blocks if name == "blocks" else 100 * o.share for o in pair])
    return (min(e[0] for e in ends), min(e[1] for e in ends)) if ends else None


class Baseline:
    """What kernels had when the baseline was written: worse than that fails, as bad passes."""

    def __init__(self, known: dict[str, dict[str, float]]) -> None:
        self._known = known
        self._used: set[tuple[str, str]] = set()

    @classmethod
    def read(cls, path: str) -> Baseline:
        """From a file; raises InputError."""
        try:
            value = json.loads(read(path))
        except ValueError as error:
            raise InputError(path, f"is no baseline: {error}") from None
        kernels = value.get("kernels") if isinstance(value, dict) else None
        if not isinstance(kernels, dict) or value.get("schema_version") != BASELINE_VERSION:
            raise InputError(path, f"is no baseline of version {BASELINE_VERSION}")
        return cls(kernels)

    def covers(self, found: Violation) -> bool:
        """Whether the kernel was as bad already."""
        old = self._known.get(found.kernel, {}).get(found.condition.name)
        if old is None:
            return False
        self._used.add((found.kernel, found.condition.name))
        worse = found.value < old if found.condition.operator in ("<", "<=") else found.value > old
        return not worse

    def stale(self, conditions: Iterable[Condition]) -> int:
        """Entries that no kernel needs any more."""
        names = {each.name for each in conditions}
        every = {(k, name) for k, values in self._known.items() for name in values if name in names}
        return len(every - self._used)


def baseline_text(found: Sequence[Violation]) -> str:
    """The baseline that lets these pass: JSON, a kernel a line."""
    known: dict[str, dict[str, float]] = {}
    for each in found:
        worst = known.setdefault(each.kernel, {})
        keep = min if each.condition.operator in ("<", "<=") else max
        name = each.condition.name
        worst[name] = keep(worst.get(name, each.value), each.value)
    rows = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(known.items()))
    return f'{{\n "schema_version": {BASELINE_VERSION},\n "kernels": {{\n{rows}\n }}\n}}\n'


def line(found: Violation) -> str:
    """``a.ptx: spill: registers 168 > 128``."""
    each = found.condition
    value = f"{found.value:,.0f}" if found.value == int(found.value) else f"{found.value:.1f}"
    return f"{found.place}: {found.kernel}: {each.name} {value} {each.operator} {each.number:g}"
