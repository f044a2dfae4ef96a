"""Faults of masks in words and as data: what the rules on them share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model import Label
from ...ptx.ir import Function
from ..facts import Facts
from ..places import at_lines
from .faults import MaskFault, mask_faults

# What a lane gets from one that is absent or has left (tests/analysis/shuffles_sm90.json): not
# promised by anything. From one that executes the same operation it got the value, named or not.
ABSENT_GIVES = 0
_LISTED = 6


def faults_of(function: Function, facts: Facts, *kinds: str) -> Iterator[list[MaskFault]]:
    """The function's faults of these kinds, those together that have one cause: one opcode, with
    the same mask, executed by the same lanes.
    """
    found: dict[tuple[object, ...], list[MaskFault]] = {}
    for fault in facts.once(function, mask_faults):
        if fault.kind in kinds:
            cause = (fault.kind, fault.operation.opcode, fault.mask, fault.executing)
            found.setdefault(cause, []).append(fault)
    yield from found.values()


def lanes_text(bits: int) -> str:
    """``lane 3``, ``lanes 0-15``, ``lanes 0-3, 8 and 9``; of many runs, their number and bits."""
    runs: list[list[int]] = []
    for lane in range(32):
        if bits >> lane & 1:
            if runs and runs[-1][-1] == lane - 1:
                runs[-1].append(lane)
            else:
                runs.append([lane])
    parts: list[str] = []
    for run in runs:
        parts += [f"{run[0]}-{run[-1]}"] if len(run) > 2 else map(str, run)
    if len(parts) > _LISTED:
        return f"{bits.bit_count()} lanes ({mask_text(bits)})"
    if len(parts) == 1:
        return f"lane{'s' if '-' in parts[0] else ''} {parts[0]}"
    return f"lanes {', '.join(parts[:-1])} and {parts[-1]}"


def mask_text(mask: int) -> str:
    """``0x0000ffff``."""
    return f"{mask:#010x}"


def labels_of(fault: MaskFault, function: Function, facts: Facts) -> tuple[Label, ...]:
    """Where the lanes part and where the value is used."""
    found = []
    if fault.branch is not None and fault.branch != fault.operation.at:
        found.append(Label(facts.span(function.instructions[fault.branch]), "lanes part here"))
    if fault.use is not None:
        where = facts.span(function.instructions[fault.use])
        found.append(Label(where, "the value is used here"))
    return tuple(found)


def executing_note(fault: MaskFault) -> tuple[str, ...]:
    """Who executes the operation, where that is known."""
    if fault.executing is None:
        return ()
    return (f"executed by {lanes_text(fault.executing)} of warp {fault.warp}",)


def more(faults: list[MaskFault], facts: Facts) -> tuple[tuple[str, ...], list[int]]:
    """A note on the faults after the first (none: no note), and their lines."""
    return at_lines([fault.operation.instruction.start for fault in faults[1:]], facts)


def gives_note(fault: MaskFault) -> str:
    """What a GPU did in such a case."""
    silent = "neither ptxas nor compute-sanitizer says anything"
    if not _runs_it_too(fault):
        got = f"on an H200 lane {fault.lane} gets {ABSENT_GIVES}"
        return f"undefined in the PTX ISA; {got}; {silent}"
    return (
        f"undefined in the PTX ISA; on an H200 lane {fault.lane} gets the value of lane"
        f" {fault.source} if both happen to run it together, and nothing makes them; {silent}"
    )


def _runs_it_too(fault: MaskFault) -> bool:
    """Whether the lane that is read from executes the operation, in a group of its own."""
    if fault.executing is None or fault.source is None:
        return False
    return bool(fault.executing >> fault.source & 1)


def witness(fault: MaskFault, function: Function, facts: Facts) -> dict[str, Any]:
    """The fault as one warp shows it: numbers, masks in hexadecimal."""
    found: dict[str, Any] = {
        "warp": fault.warp,
        "lane": fault.lane,
        "mask": mask_text(fault.mask),
        "executing": None if fault.executing is None else mask_text(fault.executing),
    }
    if fault.source is not None and fault.source != fault.lane:
        found["source_lane"] = fault.source
        if fault.kind != "misses" and fault.executing is not None and not _runs_it_too(fault):
            found["gives"] = ABSENT_GIVES
    if fault.use is not None:
        start = function.instructions[fault.use].start
        found["used_at_line"] = facts.module.source.line_of(start)
    return found
